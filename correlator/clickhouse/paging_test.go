package clickhouse_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/collector/clickhouseexporter"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/identity"
)

// inserter writes log records of allocation a-1 at some milliseconds after began, with now as the time of ingestion.
func inserter(t testing.TB, dsn string, now func() time.Time) (lines func(what string, millis ...int)) {
	t.Helper()
	w, err := clickhouseexporter.OpenWriter(context.Background(), dsn, now)
	must(t, err)
	t.Cleanup(func() { must(t, w.Close()) })
	return func(what string, millis ...int) {
		ld := plog.NewLogs()
		to := service(ld, "api")
		for _, ms := range millis {
			log(to, began+int64(ms)*1_000_000, "", fmt.Sprintf("%s at %d", what, ms), "allocation_id", "a-1")
		}
		must(t, w.WriteLogs(context.Background(), ld))
	}
}

// every gives n moments, step milliseconds apart.
func every(step, n int) (out []int) {
	for i := range n {
		out = append(out, i*step)
	}
	return out
}

var ofA1 = query.Selection{Key: identity.Key{Kind: identity.Allocation, ID: "a-1"}}

// While pages are read somebody goes on inserting, before and after the place that was reached: what could be read with the
// first page is in exactly one page, in order, and nothing that the store took later is in any.
func TestPagesWhileRecordsAreInserted(t *testing.T) {
	p, dsn, conn := emptyStore(t)
	store := clickhouse.New(conn, p)
	const records, perPage = 200, 9
	lines := inserter(t, dsn, time.Now)
	lines("before", every(10, records)...)
	_, before := drain(t, store, ofA1, 1000)
	if len(before) != records {
		t.Fatalf("%d of %d records", len(before), records)
	}
	var written atomic.Int64
	done := make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			default:
			}
			lines(fmt.Sprint("meanwhile ", n), n%7+1, 701+n%5, 1003+n%11, 1999)
			written.Add(1)
		}
	})
	end := sync.OnceFunc(func() { close(done); all.Wait() })
	defer end()
	wait := func(n int64) {
		for deadline := time.Now().Add(time.Minute); written.Load() < n; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d of %d batches were inserted", written.Load(), n)
			}
		}
	}
	wait(1)
	var refs []string
	last, mark, cursor := query.Beginning(), int64(0), ""
	for pages := 0; ; pages++ {
		page, err := (&query.Service{Store: store}).Events(t.Context(), ofA1, cursor, perPage)
		must(t, err)
		if mark == 0 {
			mark = page.AsOf
		}
		for _, e := range page.Events {
			if query.PositionOf(e).Compare(last) <= 0 {
				t.Fatalf("%+v after %+v", query.PositionOf(e), last)
			}
			if last = query.PositionOf(e); e.Ingested > mark {
				t.Errorf("%s was ingested %s after the mark", e.Body, time.Duration(e.Ingested-mark))
			}
			refs = append(refs, e.Ref)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
		if pages < 8 {
			wait(written.Load() + 1)
		}
	}
	end()
	for _, ref := range before {
		if !slices.Contains(refs, ref) {
			t.Errorf("%s was there with the first page and is in none", ref)
		}
	}
	again := ofA1
	again.AsOf = mark
	_, whole := drain(t, store, again, 1000)
	for _, ref := range refs {
		if !slices.Contains(whole, ref) {
			t.Errorf("%s is in a page, and not in a reading as of its mark", ref)
		}
	}
	t.Logf("%d batches meanwhile; %d records in pages, %d as of the same mark, %d before", written.Load(), len(refs), len(whole), len(before))
}

// A record that was on its way when the first page was read, ingested before its mark and seen after it, is in a page if it
// lies after the place that was reached, and in none if it lies before: what ReadEvents says. An AsOf that lies further
// back than inserts take leaves no such records.
func TestARecordOnItsWayWhenPagesBegin(t *testing.T) {
	p, dsn, conn := emptyStore(t)
	store := clickhouse.New(conn, p)
	earlier := time.Now().Add(-time.Hour)
	now := earlier
	lines := inserter(t, dsn, func() time.Time { return now })
	lines("before", every(100, 6)...)
	bodies := func(s query.Selection, limit int, between func(query.Page)) (out []string) {
		t.Helper()
		cursor := ""
		for {
			page, err := (&query.Service{Store: store}).Events(t.Context(), s, cursor, limit)
			must(t, err)
			for _, e := range page.Events {
				out = append(out, e.Body)
			}
			if between != nil {
				between(page)
				between = nil
			}
			if cursor = page.Next; cursor == "" {
				return out
			}
		}
	}
	settled := ofA1
	settled.AsOf = earlier.Add(time.Minute).UnixNano()
	was := []string{"before at 0", "before at 100", "before at 200", "before at 300", "before at 400", "before at 500"}
	var mark int64
	pages := bodies(ofA1, 3, func(first query.Page) {
		mark = first.AsOf
		now = time.Unix(0, mark-1_000_000)
		lines("on its way", 50, 350)
		now = time.Unix(0, mark+1)
		lines("later", 60, 360)
	})
	if d := cmp.Diff([]string{was[0], was[1], was[2], was[3], "on its way at 350", was[4], was[5]}, pages); d != "" {
		t.Errorf("pages: %s", d)
	}
	again := ofA1
	again.AsOf = mark
	if d := cmp.Diff([]string{was[0], "on its way at 50", was[1], was[2], was[3], "on its way at 350", was[4], was[5]}, bodies(again, 1000, nil)); d != "" {
		t.Errorf("a new reading as of the same mark: %s", d)
	}
	if d := cmp.Diff(was, bodies(settled, 3, func(query.Page) {
		now = time.Unix(0, mark-1_000_000)
		lines("on its way again", 70, 370)
	})); d != "" {
		t.Errorf("as of a moment that inserts have left behind: %s", d)
	}
}
