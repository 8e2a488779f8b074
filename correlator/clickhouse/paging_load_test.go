package clickhouse_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/collector/clickhouseexporter"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/record"
)

// pagingLoad is how long TestPagesUnderLoad inserts, as Go writes a duration.
const pagingLoad = "FAULTLINE_PAGING"

// Of the inserts of TestPagesUnderLoad: so many a second, of so many records each, every other one of them of a-1, with times all
// over ten minutes: before and behind every place that a reader reaches.
const (
	insertsEach   = 5
	recordsInsert = 400
	stretchMillis = 600_000
)

// feeding inserts at a rate and knows which records of a-1 the store has taken: whoever reads from then on has to be given them.
type feeding struct {
	mu      sync.Mutex
	taken   []string // bodies, each of one record
	records int
	slowest time.Duration
}

func (f *feeding) upTo() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.taken[:len(f.taken):len(f.taken)]
}

func (f *feeding) run(ctx context.Context, w *clickhouseexporter.Writer) error {
	rng := rand.New(rand.NewPCG(1, 1))
	begun := time.Now()
	for n := 0; ; n++ {
		ld := plog.NewLogs()
		to := service(ld, fmt.Sprintf("service-%d", n%5))
		var bodies []string
		for i := range recordsInsert {
			body, allocation := fmt.Sprintf("line %d of insert %d", i, n), fmt.Sprintf("b-%d", rng.IntN(1000))
			if i%2 == 0 {
				bodies, allocation = append(bodies, body), "a-1"
			}
			log(to, began+rng.Int64N(stretchMillis)*1_000_000, "", body, "allocation_id", allocation)
		}
		written := time.Now()
		if err := w.WriteLogs(context.WithoutCancel(ctx), ld); err != nil {
			return err
		}
		f.mu.Lock()
		f.taken, f.records, f.slowest = append(f.taken, bodies...), f.records+recordsInsert, max(f.slowest, time.Since(written))
		f.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(begun.Add(time.Duration(n+1) * time.Second / insertsEach))): // at once where the store was slow
		}
	}
}

// walk reads all pages, and gives how often each record of a-1 stood in one.
func walk(t *testing.T, page func(cursor string) (query.Page, error)) (seen map[string]int, pages int) {
	t.Helper()
	seen = map[string]int{}
	mark, cursor := int64(0), ""
	for {
		p, err := page(cursor)
		must(t, err)
		if pages++; mark == 0 {
			mark = p.AsOf
		}
		for _, e := range p.Events {
			if seen[e.Body]++; e.Ingested > mark {
				t.Errorf("%s was ingested %s after the mark", e.Body, time.Duration(e.Ingested-mark))
			}
		}
		if cursor = p.Next; cursor == "" {
			return seen, pages
		}
	}
}

// Under 2,000 records a second, half of them of the allocation that is read: what the store had taken when the first page was
// asked for stands in exactly one page, of a reading as of a search, and nothing stands in two.
func TestPagesUnderLoad(t *testing.T) {
	lasts, long := 3*time.Second, os.Getenv(pagingLoad)
	if long != "" {
		var err error
		lasts, err = time.ParseDuration(long)
		must(t, err)
	}
	p, dsn, conn := emptyStore(t)
	w, err := clickhouseexporter.OpenWriter(t.Context(), dsn, nil)
	must(t, err)
	defer func() { must(t, w.Close()) }()
	ctx, stop := context.WithCancel(t.Context())
	f, fed := &feeding{}, make(chan error, 1)
	begun := time.Now()
	go func() { fed <- f.run(ctx, w) }()
	var ended error
	end := sync.OnceFunc(func() { stop(); ended = <-fed })
	defer end()
	for len(f.upTo()) == 0 && time.Since(begun) < time.Minute {
		time.Sleep(time.Millisecond)
	}
	answers := &query.Service{Store: clickhouse.New(conn, p)}
	reads := []func(cursor string) (query.Page, error){
		func(cursor string) (query.Page, error) { return answers.Events(t.Context(), ofA1, cursor, 200) },
		func(cursor string) (query.Page, error) {
			return answers.Search(t.Context(), query.Query{Attrs: []record.Attr{{Key: "allocation_id", Value: "a-1"}}}, cursor, 200)
		},
	}
	walks, pages, read, skipped, doubled, most := 0, 0, 0, 0, 0, 0
	for ; walks < len(reads) || time.Since(begun) < lasts; walks++ {
		before := f.upTo()
		seen, n := walk(t, reads[walks%len(reads)])
		pages, most = pages+n, max(most, len(seen))
		for _, body := range before {
			if seen[body] == 0 {
				skipped++
			}
		}
		for _, times := range seen {
			if read++; times > 1 {
				doubled++
			}
		}
	}
	end()
	must(t, ended)
	rate := float64(f.records) / time.Since(begun).Seconds()
	t.Logf("%d records in %s, %.0f a second, slowest insert %s; %d walks of %d pages, %d records read, %d in the longest: %d skipped, %d doubled",
		f.records, time.Since(begun).Round(100*time.Millisecond), rate, f.slowest.Round(time.Millisecond), walks, pages, read, most, skipped, doubled)
	if skipped > 0 || doubled > 0 {
		t.Errorf("%d skipped, %d doubled", skipped, doubled)
	}
	if full := float64(insertsEach * recordsInsert); long != "" && rate < 0.95*full {
		t.Errorf("%.0f records a second were inserted: the store did not take %.0f beside the readers", rate, full)
	}
}
