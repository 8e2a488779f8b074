package lokibench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/lokitest"
)

// apart is how long a pause has to be to be left out.
const apart = 5 * time.Minute

// way is how lines of an allocation are asked for: by these stretches of time, a query each.
type way struct {
	name    string
	part    bool // not all of its lines are asked for
	stretch func(asked) []query.Stretch
}

func ways(start time.Time) []way {
	end := time.Now().UnixNano()
	return []way{
		// The first is what the others are compared with.
		{"all the time, every stream", false, func(asked) []query.Stretch {
			return []query.Stretch{{From: correlator.Time(start.UnixNano()), To: correlator.Time(end)}}
		}},
		{"the allocation's time", false, func(a asked) []query.Stretch { return query.Stretches(a.moments, 0, 1) }},
		{"each source in its own time", false, func(a asked) []query.Stretch { return a.bySource(1) }},
		{"its time without pauses, 8 stretches", false, func(a asked) []query.Stretch { return query.Stretches(a.moments, apart, 8) }},
		{"its time without pauses, 16 stretches", false, func(a asked) []query.Stretch { return query.Stretches(a.moments, apart, 16) }},
		{"its time without pauses, 32 stretches", false, func(a asked) []query.Stretch { return query.Stretches(a.moments, apart, 32) }},
		{"its time without pauses, 64 stretches", false, func(a asked) []query.Stretch { return query.Stretches(a.moments, apart, 64) }},
		{"each source without pauses, 4 stretches of each", false, func(a asked) []query.Stretch { return a.bySource(4) }},
		{"five minutes around one event", true, func(a asked) []query.Stretch {
			return []query.Stretch{{From: correlator.Time(a.from - int64(apart)), To: correlator.Time(a.from + int64(apart)), Sources: []string{a.moments[0].Source}}}
		}},
	}
}

// bySource cuts the time of each source by itself, into so many stretches.
func (a asked) bySource(most int) (out []query.Stretch) {
	by := map[string][]query.Moment{}
	for _, m := range a.moments {
		by[m.Source] = append(by[m.Source], m)
	}
	for _, moments := range by {
		out = append(out, query.Stretches(moments, apart, most)...)
	}
	return out
}

// cost of a way.
type cost struct {
	bytes         []int // of each allocation
	queries, most int
	lines         int
	took          time.Duration
}

func (c cost) median() float64 {
	sorted := slices.Sorted(slices.Values(c.bytes))
	return float64(sorted[len(sorted)/2])
}

func (c cost) mean() float64 {
	sum := 0
	for _, n := range c.bytes {
		sum += n
	}
	return float64(sum) / float64(len(c.bytes))
}

func (w way) ask(ctx context.Context, loki *lokitest.Server, y layout, sample []asked) (c cost, err error) {
	begun := time.Now()
	for _, a := range sample {
		stretches, found, bytes := w.stretch(a), 0, 0
		for _, s := range stretches {
			expression := fmt.Sprintf("%s | allocation_id=%q", y.selector(a, s.Sources), a.id)
			lines, stats, err := loki.Query(ctx, expression, time.Unix(0, int64(s.From)), time.Unix(0, int64(s.To)), 5000)
			if err != nil {
				return c, err
			}
			found, bytes, c.lines = found+len(lines), bytes+stats.Bytes, c.lines+stats.Lines
		}
		if !w.part && found != len(a.moments) {
			return c, fmt.Errorf("%s has %d lines of %d", a.id, found, len(a.moments))
		}
		c.bytes = append(c.bytes, bytes)
		c.queries, c.most = c.queries+len(stretches), max(c.most, len(stretches))
	}
	c.took = time.Since(begun)
	return c, nil
}

// selector of the streams that an allocation's lines of these sources are in; none: of all.
func (y layout) selector(a asked, sources []string) string {
	label := `service_name=~".+"`
	if len(sources) > 0 {
		label = fmt.Sprintf("service_name=~%q", strings.Join(sources, "|"))
	}
	if y.buckets > 0 {
		label += fmt.Sprintf(", bucket=%q", y.bucket(a.number))
	}
	return "{" + label + "}"
}
