package lokibench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/faultline-io/faultline/internal/lokitest"
)

// Questions is what Loki reads for the lines of one allocation.
type Questions struct {
	Loki    *lokitest.Server
	Lines   int
	Batch   int
	Samples int // allocations to ask about
	Said    func(format string, args ...any)
}

// span is within what Loki takes, a week.
const span = 6 * 24 * time.Hour

// asked is what is known of an allocation without Loki.
type asked struct {
	id       string
	from, to time.Time
	services []string
	lines    int
}

// Ask fills Loki and asks about some allocations, in each way.
func (q Questions) Ask(ctx context.Context, out io.Writer) error {
	const tenant = "questions"
	start := time.Now().Add(-span - time.Minute)
	lines := Shape{Seed: 2, Lines: q.Lines, Start: start, Span: span}.lines()
	ours := contenders()[0]
	e, err := ours.start(ctx, q.Loki.URL, tenant)
	if err != nil {
		return err
	}
	defer func() { _ = e.Shutdown(ctx) }()
	for part := range slices.Chunk(lines, q.Batch) {
		if err := e.ConsumeLogs(ctx, logs(part)); err != nil {
			return err
		}
	}
	q.Said("%d lines of %s written", len(lines), span)
	if err := q.Loki.Flush(ctx); err != nil {
		return err
	}
	loki := q.Loki.For(tenant)
	ways := []struct {
		name  string
		query func(asked) (selector string, from, to time.Time)
	}{
		{"all of Loki's time, every stream", func(asked) (string, time.Time, time.Time) { return `{service_name=~".+"}`, start, time.Now() }},
		{"the allocation's time by our index", func(a asked) (string, time.Time, time.Time) { return `{service_name=~".+"}`, a.from, a.to }},
		{"its time and its services", func(a asked) (string, time.Time, time.Time) { return a.selector(), a.from, a.to }},
		{"five minutes around one event, its services", func(a asked) (string, time.Time, time.Time) {
			return a.selector(), a.from.Add(-5 * time.Minute), a.from.Add(5 * time.Minute)
		}},
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(w, "lines of one allocation among %d, %d allocations asked\tbytes read, median\tmean\tof the search without\tlines read\tof which its own\n", len(lines), q.Samples)
	var whole float64
	for _, way := range ways {
		var bytes []int
		sum, read, own := 0, 0, 0
		for _, a := range known(lines, q.Samples) {
			selector, from, to := way.query(a)
			found, stats, err := loki.Query(ctx, fmt.Sprintf("%s | allocation_id=%q", selector, a.id), from, to, 5000)
			if err != nil {
				return err
			}
			if to.Sub(from) != 10*time.Minute && len(found) != a.lines {
				return fmt.Errorf("%s: %s has %d lines of %d", way.name, a.id, len(found), a.lines)
			}
			bytes = append(bytes, stats.Bytes)
			sum, read, own = sum+stats.Bytes, read+stats.Lines, own+len(found)
		}
		slices.Sort(bytes)
		mean := float64(sum) / float64(len(bytes))
		if whole == 0 {
			whole = mean
		}
		_, _ = fmt.Fprintf(w, "%s\t%d\t%.0f\t1/%.1f\t%d\t%d\n", way.name, bytes[len(bytes)/2], mean, whole/mean, read/q.Samples, own/q.Samples)
	}
	return w.Flush()
}

func (a asked) selector() string {
	return fmt.Sprintf("{service_name=~%q}", strings.Join(a.services, "|"))
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
			a = &asked{id: fmt.Sprintf("a-%08x", l.allocation), from: time.Unix(0, l.at)}
			at[l.allocation] = a
		}
		a.to = time.Unix(0, l.at+1)
		a.lines++
		if service := emitters[l.emitter]; !slices.Contains(a.services, service) {
			a.services = append(a.services, service)
		}
	}
	for n := range int32(samples) {
		if a := at[n*int32(step)]; a != nil { //nolint:gosec // small
			out = append(out, *a)
		}
	}
	return out
}
