package clickhouse

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/record"
)

// before and after are how far from a trouble something may still be cited: no rule looks farther than for the rollout before it
// (correlator/rules/change.go).
const (
	before = 3 * time.Hour
	after  = time.Hour
)

// mostPeriods is how many periods are asked for one by one; more are one.
const mostPeriods = 8

// circumstances ask for what is nobody's and may be cited: complaints, lines with telling words, rollouts. They are read around the troubles
// of the allocation only: where nothing went wrong nothing is to be cited, and to look for words is to read every line.
func (l *Reader) circumstances(c *closure, s *query.RecordSet, asOf int64, reach period) (all parallel[[]*record.Record]) {
	for _, part := range troubled(l.caseOf(c.allocation, s, asOf)) {
		ask := func(query string, from int64, p params) {
			p["from"], p["to"], p["as_of"], p["most"] = moment(from), moment(min(part.to, reach.to)), moment(c.asOf), maxContext
			all = append(all, func(ctx context.Context) ([]*record.Record, error) { return l.records(ctx, query, p) })
		}
		ask("rollouts", max(part.from, reach.from-int64(before)), params{})
		ask("context", max(part.from, reach.from), params{"words": plain(l.pattern)})
	}
	return all
}

// caseOf is the case of an allocation by what has been read of it, nil where it has none.
func (l *Reader) caseOf(allocation string, s *query.RecordSet, asOf int64) *correlator.Case {
	read := correlator.NewDataset(s.Records, s.Links, l.profile, correlator.AsOf{Until: asOf, Now: s.Now, Durations: s.Durations})
	for _, c := range read.Cases() {
		if c.ID == allocation {
			return c
		}
	}
	return nil
}

// period is a stretch of time, both ends included.
type period struct{ from, to int64 }

// troubled are the stretches of time around the troubles of a case, in order, those that meet as one. A trouble that is not over lasts.
func troubled(c *correlator.Case) []period {
	if c == nil {
		return nil
	}
	var all []period
	for _, t := range c.Troubles() {
		over := max(t.At, t.Cleared)
		if t.Cleared == 0 {
			over = max(over, c.Now)
		}
		all = append(all, period{min(t.From, t.At) - int64(before), over + int64(after)})
	}
	slices.SortFunc(all, func(a, b period) int { return cmp.Compare(a.from, b.from) })
	var out []period
	for _, one := range all {
		if n := len(out); n > 0 && one.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, one.to)
			continue
		}
		out = append(out, one)
	}
	if len(out) > mostPeriods {
		out = []period{{out[0].from, out[len(out)-1].to}}
	}
	return out
}
