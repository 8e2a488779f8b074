package clickhouse_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/internal/story"
)

// An allocation began with the earliest of its records, whichever was stored first.
func TestBegan(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	dsn := embeddedtest.DSN(t)
	fill(t, dsn, parsed(t, "10:00:07 api info allocation_id=a-1 | later\n10:00:09 api info allocation_id=it's | quoted\n"), false)
	fill(t, dsn, parsed(t, "10:00:05 api info allocation_id=a-1 | earlier\n"), false)
	conn, err := schema.Open(t.Context(), dsn)
	must(t, err)
	defer func() { _ = conn.Close() }()
	began, err := clickhouse.New(conn, p).Began(t.Context(), []string{"a-1", "it's", "a-2"})
	must(t, err)
	at := func(second int) int64 {
		return story.Day.Add(10*time.Hour + time.Duration(second)*time.Second).UnixNano()
	}
	if d := cmp.Diff(map[string]int64{"a-1": at(5), "it's": at(9)}, began); d != "" {
		t.Error(d)
	}
}
