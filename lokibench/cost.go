package lokibench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/internal/lokitest"
	"github.com/faultline-io/faultline/storebench"
)

// Cost is the comparison of exporters.
type Cost struct {
	Loki    *lokitest.Server
	Records int // a round
	Batch   int // records that an exporter is given at once
	Rounds  int
	Said    func(format string, args ...any)
}

// figure is what one round took.
type figure struct {
	perSecond  float64       // records a CPU-second of the exporter
	loki       time.Duration // CPU of Loki
	bytes, req int64
}

// Compare sends the same batches by each contender in turn, each round to a tenant of its own, and tells.
func (c Cost) Compare(ctx context.Context, out io.Writer) error {
	if c.Records < 2*c.Batch {
		return fmt.Errorf("%d records are no two batches of %d", c.Records, c.Batch)
	}
	batches := c.records()
	// What waits to be sent is the benchmark's and most of the heap: looking through it again and again is no cost of an exporter.
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	all := contenders()
	rounds := make([][]figure, len(all))
	for round := range c.Rounds {
		for i, one := range all {
			f, err := c.round(ctx, one, fmt.Sprintf("t-%d-%d", i, round), batches)
			if err != nil {
				return fmt.Errorf("%s: %w", one.name, err)
			}
			rounds[i] = append(rounds[i], f)
		}
		c.Said("round %d of %d", round+1, c.Rounds)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(w, "exporter, %d records in batches of %d\trecords a CPU-second, median\tleast\tmost\tof otlp_http, gzip\trequests a batch\tbytes a record\tLoki, µs a record\n", c.Records, c.Batch)
	base := median(rounds[2], func(f figure) float64 { return f.perSecond })
	for i, one := range all {
		speed := median(rounds[i], func(f figure) float64 { return f.perSecond })
		least := slices.MinFunc(rounds[i], bySpeed)
		most := slices.MaxFunc(rounds[i], bySpeed)
		sent, err := c.sent(ctx, one, batches)
		if err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
		_, _ = fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.0f\t%.2f\t%.1f\t%.0f\t%.1f\n", one.name, speed, least.perSecond, most.perSecond, speed/base,
			float64(sent.req)/float64(len(batches)), float64(sent.bytes)/float64(c.Records), median(rounds[i], func(f figure) float64 { return float64(f.loki.Microseconds()) / float64(c.Records-c.Batch) }))
	}
	return w.Flush()
}

// records are the log records of storebench's platform, in batches as large as asked for. Each gets a moment of its own within the last
// two hours: Loki does not look into its memory for what is older than three (query_ingesters_within), and knows two that
// are alike for one.
func (c Cost) records() (out []plog.Logs) {
	at, apart := time.Now().Add(-2*time.Hour), time.Hour/time.Duration(c.Records+1)
	left := c.Records
	for b := range (storebench.Shape{Seed: 1, Rows: 2 * c.Records, Start: at}).Batches(c.Batch * 3 / 2) {
		ld := b.Logs
		keep := min(c.Batch, left)
		ld.ResourceLogs().RemoveIf(func(rl plog.ResourceLogs) bool {
			rl.ScopeLogs().RemoveIf(func(sl plog.ScopeLogs) bool {
				sl.LogRecords().RemoveIf(func(lr plog.LogRecord) bool {
					at = at.Add(apart)
					lr.SetTimestamp(pcommon.NewTimestampFromTime(at))
					keep--
					return keep < 0
				})
				return sl.LogRecords().Len() == 0
			})
			return rl.ScopeLogs().Len() == 0
		})
		out = append(out, ld)
		if left -= ld.LogRecordCount(); left == 0 {
			break
		}
	}
	return out
}

func bySpeed(a, b figure) int { return int(a.perSecond - b.perSecond) }

func median(all []figure, of func(figure) float64) float64 {
	var values []float64
	for _, f := range all {
		values = append(values, of(f))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// round sends all batches to one tenant, and sees that Loki has every record.
func (c Cost) round(ctx context.Context, one contender, tenant string, batches []plog.Logs) (f figure, err error) {
	e, err := one.start(ctx, c.Loki.URL, tenant)
	if err != nil {
		return f, err
	}
	defer func() { _ = e.Shutdown(ctx) }()
	// The first batch is not measured: connections and buffers are made with it.
	if err := e.ConsumeLogs(ctx, batches[0]); err != nil {
		return f, err
	}
	runtime.GC()
	before, err := c.Loki.CPU(ctx)
	if err != nil {
		return f, err
	}
	begun := cpu()
	for _, b := range batches[1:] {
		if err := e.ConsumeLogs(ctx, b); err != nil {
			return f, err
		}
	}
	f.perSecond = float64(c.Records-c.Batch) / (cpu() - begun).Seconds()
	after, err := c.Loki.CPU(ctx)
	if err != nil {
		return f, err
	}
	f.loki = after - before
	there, err := c.Loki.For(tenant).Count(ctx, `{service_name=~".+"}`, time.Now().Add(time.Minute), 6*time.Hour)
	if err != nil {
		return f, err
	}
	if there != c.Records {
		return f, fmt.Errorf("Loki has %d of %d records", there, c.Records) //nolint:staticcheck // a name
	}
	return f, nil
}

// sent counts the requests and bytes of all batches, to nobody.
func (c Cost) sent(ctx context.Context, one contender, batches []plog.Logs) (f figure, err error) {
	var bytes, requests atomic.Int64
	nobody := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		bytes.Add(n)
		requests.Add(1)
	}))
	defer nobody.Close()
	e, err := one.start(ctx, nobody.URL, "t")
	if err != nil {
		return f, err
	}
	defer func() { _ = e.Shutdown(ctx) }()
	for _, b := range batches {
		if err := e.ConsumeLogs(ctx, b); err != nil {
			return f, err
		}
	}
	return figure{bytes: bytes.Load(), req: requests.Load()}, nil
}
