package lokibench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/lokitest"
)

// Questions is what Loki reads for the lines of one allocation.
type Questions struct {
	Lines   int
	Each    int // lines of an allocation
	Batch   int
	Samples int // allocations to ask about
	Said    func(format string, args ...any)
}

// span is within what Loki takes, a week.
const span = 6 * 24 * time.Hour

// Ask fills a Loki for each layout, asks about some allocations in each way, and tells.
func (q Questions) Ask(ctx context.Context, out io.Writer) error {
	start := time.Now().Add(-span - time.Minute)
	lines := Shape{Seed: 2, Lines: q.Lines, Each: q.Each, Start: start, Span: span}.lines()
	sample := known(lines, q.Samples)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(w, "%d allocations of %d lines each asked for, among %d\tbytes read, median\tof the search without\tmean\tof the search without\tmost\tqueries, mean\tmost\tlines read, mean\tms, mean\n", len(sample), q.Each, len(lines))
	for _, y := range layouts() {
		if err := q.layout(ctx, w, y, lines, sample, start); err != nil {
			return fmt.Errorf("%s: %w", y.name, err)
		}
	}
	return w.Flush()
}

func (q Questions) layout(ctx context.Context, out io.Writer, y layout, lines []line, sample []asked, start time.Time) (err error) {
	dir, err := os.MkdirTemp("", "faultline-bench-loki-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	set := lokitest.Settings{Tenants: true, Limits: lokitest.NoRates()}
	if y.block != "" {
		set.Ingester = []string{"chunk_block_size: " + y.block}
	}
	loki, err := lokitest.Open(ctx, dir, set)
	if err != nil {
		return err
	}
	defer loki.Kill()
	if err := y.fill(ctx, loki, lines, q.Batch); err != nil {
		return err
	}
	streams, err := loki.For(y.tenant).Streams(ctx, start, time.Now())
	if err != nil {
		return err
	}
	q.Said("%s: %d lines of %s written, %d streams", y.name, len(lines), span, len(streams))
	_, _ = fmt.Fprintf(out, "%s: %d streams\t\t\t\t\t\t\t\t\t\n", y.name, len(streams))
	whole := cost{}
	for _, way := range ways(start) {
		c, err := way.ask(ctx, loki.For(y.tenant), y, sample)
		if err != nil {
			return fmt.Errorf("%s: %w", way.name, err)
		}
		if whole.bytes == nil {
			whole = c
		}
		n := float64(len(sample))
		_, _ = fmt.Fprintf(out, "  %s\t%.2f MB\t1/%.1f\t%.2f MB\t1/%.1f\t%.1f MB\t%.1f\t%d\t%.0f\t%.0f\n", way.name, c.median()/1e6, whole.median()/c.median(), c.mean()/1e6, whole.mean()/c.mean(),
			float64(slices.Max(c.bytes))/1e6, float64(c.queries)/n, c.most, float64(c.lines)/n, float64(c.took.Milliseconds())/n)
	}
	return nil
}

// asked is what is known of an allocation without Loki.
type asked struct {
	number   int32
	id       string
	from, to int64
	moments  []query.Moment
}

// known is what our own index knows of some allocations, evenly spread.
func known(lines []line, samples int) (out []asked) {
	last := int32(0)
	for _, l := range lines {
		last = max(last, l.allocation)
	}
	step := max(1, int(last)/samples)
	at := map[int32]*asked{}
	for _, l := range lines {
		if int(l.allocation)%step != 0 || int(l.allocation)/step >= samples {
			continue
		}
		a := at[l.allocation]
		if a == nil {
			a = &asked{number: l.allocation, id: fmt.Sprintf("a-%08x", l.allocation), from: l.at}
			at[l.allocation] = a
		}
		a.to = l.at + 1
		a.moments = append(a.moments, query.Moment{Time: l.at, Source: emitters[l.emitter]})
	}
	for n := range int32(samples) {
		if a := at[n*int32(step)]; a != nil { //nolint:gosec // small
			out = append(out, *a)
		}
	}
	return out
}
