package schema

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

func TestOptions(t *testing.T) {
	for _, dsn := range []string{"", "127.0.0.1:8123", "ftp://host/db", "http://user:sec%ret@host:8123/db"} {
		_, err := Options(dsn)
		if err == nil || !strings.Contains(err.Error(), Variable) {
			t.Errorf("%q: error %v does not name %s", dsn, err, Variable)
		}
		if err != nil && strings.Contains(err.Error(), "sec%ret") {
			t.Errorf("password in %q", err)
		}
	}
	o, err := Options("clickhouse://u:p@host:9000?read_timeout=3s")
	if err != nil {
		t.Fatal(err)
	}
	if o.Auth.Database != defaultDatabase || o.ReadTimeout != 3*time.Second || o.DialTimeout == 0 {
		t.Fatalf("%+v", o)
	}
}

func TestOpenGivesUpWithTheReason(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := Open(ctx, "http://127.0.0.1:1/faultline")
	if err == nil || !strings.Contains(err.Error(), "127.0.0.1:1") || !strings.Contains(err.Error(), "refused") {
		t.Fatal(err)
	}
}

func TestOpenCreatesTheDatabase(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	at := strings.LastIndex(dsn, "/")
	conn := open(t, dsn[:at]+"/made_by_`open`")
	if err := conn.Exec(t.Context(), "DROP DATABASE "+quote("made_by_`open`")); err != nil {
		t.Fatal(err)
	}
}
