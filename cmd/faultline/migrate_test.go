package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/schema"
)

// askStore runs one command and gives what it printed.
func askStore(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	c := command()
	c.SetArgs(args)
	c.SetOut(&out)
	c.SetErr(&bytes.Buffer{})
	err := c.ExecuteContext(t.Context())
	return out.String(), err
}

// A store from nothing: what is missing is shown, applied, and no longer missing; retention differs, is set, and stays.
func TestStoreIsLookedAfter(t *testing.T) {
	t.Setenv(schema.Variable, embeddedtest.DSN(t))
	if _, err := askStore(t, "store", "stats"); err == nil || !strings.Contains(err.Error(), "run faultline migrate") {
		t.Errorf("stats of nothing: %v", err)
	}
	if out, err := askStore(t, "migrate", "--dry-run"); !errors.Is(err, errPending) || !strings.Contains(out, "-- 0001_events.sql") || !strings.Contains(out, "CREATE TABLE IF NOT EXISTS events") {
		t.Errorf("%v: %.200s", err, out)
	}
	if out, err := askStore(t, "migrate", "--dry-run", "--cluster", "main"); !errors.Is(err, errPending) || !strings.Contains(out, "events_local ON CLUSTER main") {
		t.Errorf("%v: %.200s", err, out)
	}
	if _, err := askStore(t, "migrate"); err != nil {
		t.Fatal(err)
	}
	if out, err := askStore(t, "migrate", "--dry-run"); err != nil || !strings.Contains(out, "nothing is missing") {
		t.Errorf("%v: %s", err, out)
	}
	config := filepath.Join(t.TempDir(), "store.yaml")
	if err := os.WriteFile(config, []byte("retention: {raw_days: 3, node_days: 5}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := askStore(t, "store", "retention", "--config", config, "--dry-run"); !errors.Is(err, errPending) || !strings.Contains(out, "toIntervalDay(10)") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := askStore(t, "migrate", "--config", config, "--dry-run"); !errors.Is(err, errPending) || !strings.Contains(out, "-- retention") {
		t.Errorf("%v: %s", err, out)
	}
	if _, err := askStore(t, "migrate", "--config", config); err != nil {
		t.Fatal(err)
	}
	if out, err := askStore(t, "store", "retention", "--config", config); err != nil || !strings.Contains(out, "nothing to change") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := askStore(t, "store", "stats"); err != nil || !strings.Contains(out, "schema_migrations") {
		t.Errorf("%v: %s", err, out)
	}
	out, err := askStore(t, "store", "stats", "--json")
	var s schema.Stats
	if err != nil || json.Unmarshal([]byte(out), &s) != nil || len(s.Tables) == 0 {
		t.Errorf("%v: %s", err, out)
	}
	if err := os.WriteFile(config, []byte("retention: {raw_days: 0}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := askStore(t, "store", "retention", "--config", config); err == nil || !strings.Contains(err.Error(), "retention: raw_days: 0") {
		t.Errorf("%v", err)
	}
}

func TestStoreIsNamedOrFound(t *testing.T) {
	t.Setenv(schema.Variable, "")
	t.Chdir(t.TempDir())
	if _, err := askStore(t, "store", "stats"); err == nil || !strings.Contains(err.Error(), schema.Variable+" is not set") {
		t.Errorf("%v", err)
	}
	if err := os.MkdirAll("data/store", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("data/store/password", []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, _, err := (&storeFlags{data: "data"}).load(); err != nil || c.DSN != "http://faultline:secret@127.0.0.1:9123/faultline" {
		t.Errorf("%s, %v", c.DSN, err)
	}
}

// A store that is away is named by its address, and by where that was found; no password is shown.
func TestADeadStoreIsNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("data/store", 0o700); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{"data/store/password": "secret\n", "store.yaml": "dsn: http://faultline:secret@127.0.0.1:2/faultline\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		flags storeFlags
		env   string
		want  []string
	}{
		{storeFlags{data: "data"}, "", []string{"`faultline up` in data", "127.0.0.1:9123"}},
		{storeFlags{data: "data"}, "http://faultline:secret@127.0.0.1:3/faultline", []string{schema.Variable, "127.0.0.1:3 does not answer"}},
		{storeFlags{data: "data", config: "store.yaml"}, "", []string{"store.yaml: dsn", "127.0.0.1:2 does not answer"}},
	} {
		t.Setenv(schema.Variable, c.env)
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		err := c.flags.withStore(ctx, func(context.Context, *schema.Store, migrateConfig) error { return nil })
		cancel()
		if err == nil || strings.Contains(err.Error(), "secret") || (c.env == "") == strings.Contains(err.Error(), schema.Variable) {
			t.Errorf("%+v: %v", c.flags, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, without %q", c.flags, err, want)
			}
		}
	}
}

// The help of the store's own configuration says under which keys it stands.
func TestStoreHelpNamesItsKeys(t *testing.T) {
	if out, err := askStore(t, "store", "--help"); err != nil || !strings.Contains(out, "store: {data_dir:") {
		t.Errorf("%v: %s", err, out)
	}
}
