package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
)

// before and after are how far from a trouble something may still be cited: no rule looks farther than for the rollout before it
// (correlator/rules/change.go).
const (
	before = 3 * time.Hour
	after  = time.Hour
)

// complained is how long before an allocation's own records complaints are read: one that is repeated while a step lasts counts from its
// beginning on (correlator/failures.go).
const complained = correlator.Throughout

// mostPeriods is how many periods are asked for one by one; more are one.
const mostPeriods = 8

// nearBy is how far from where a trouble begins and ends, and from now where it is not over, ordinary lines are close.
const nearBy = 10 * time.Minute

// digits are words that hold a digit: lines that are alike without them are of one kind (sql/context.sql).
const digits = `[^\s/"?&=,;:()\[\]{}|]*[0-9][^\s/"?&=,;:()\[\]{}|]*`

// circumstances ask for what is nobody's and may be cited, and who was alive on the nodes before. They are read around the troubles of the
// allocation only: where nothing went wrong nothing is to be cited, and to look for words is to read every line.
func (l *Reader) circumstances(c *closure, s *query.RecordSet, asOf int64, nodes []string, reach period) (all parallel[[]*record.Record]) {
	ask := func(query string, p params) {
		p["as_of"], p["nodes"] = moment(c.asOf), list(nodes)
		all = append(all, func(ctx context.Context) ([]*record.Record, error) { return l.records(ctx, query, p) })
	}
	answers := func(p params) { // whose a record is that does not say so by itself, only the links of that allocation tell
		p["as_of"] = moment(c.asOf)
		all = append(all, func(ctx context.Context) ([]*record.Record, error) {
			found, err := l.records(ctx, "answers", p)
			return slices.DeleteFunc(found, func(r *record.Record) bool { return l.profile.Keys(r).First(identity.Allocation) == "" }), err
		})
	}
	stretches := troubled(l.caseOf(c.allocation, s, asOf), reach.to)
	for _, part := range stretches {
		ask("context", params{
			"from": moment(part.from), "to": moment(part.to), "since": moment(reach.from - (complained - int64(around))),
			"near": pairsOf(part.near), "during": pairsOf(slices.Concat(part.during, part.near)), "words": plain(l.pattern), "digits": plain(digits), "most": maxContext,
		})
	}
	for _, at := range momentsOf(stretches) {
		answers(params{
			"allocation": plain(c.allocation), "from": moment(at.from - int64(nearBy)), "to": moment(at.to + int64(nearBy)), "at": at.to, "others": maxOthers,
			"digits": plain(digits), "most": maxAnswers,
		})
	}
	if len(stretches) > 0 && len(nodes) > 0 {
		ask("last_of_nodes", params{"from": moment(reach.from)})
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

// troubledStretch is a stretch of time around troubles, what of it they lasted, an hour at most of each, and what is close to where they begin
// and end.
type troubledStretch struct {
	period
	during, near []period
}

// troubled are the stretches of time around the troubles of a case, in order, those that meet as one; none goes beyond the end of what is
// read of the allocation. A trouble that is not over lasts, and what is said now is close to it.
func troubled(c *correlator.Case, end int64) (out []troubledStretch) {
	if c == nil {
		return nil
	}
	near := func(t int64) period { return period{t - int64(nearBy), t + int64(nearBy)} }
	for _, t := range c.Unsettled() {
		from, over := min(t.From, t.At), max(t.At, t.Cleared)
		end := end
		if t.Cleared == 0 {
			over = max(over, c.Now)
			end = max(end, min(c.Now, t.At+int64(before))) // nothing was said of the allocation since: what others go on saying may be why
		}
		out = append(out, troubledStretch{
			period: period{from - int64(before), min(over+int64(after), end)},
			during: []period{{from, min(over, t.At+int64(after))}},
			near:   []period{near(from), near(t.At)},
		})
		if t.Cleared == 0 {
			out = append(out, troubledStretch{period: near(c.Now), near: []period{near(c.Now)}})
		}
	}
	slices.SortFunc(out, func(a, b troubledStretch) int { return cmp.Compare(a.from, b.from) })
	return meet(out)
}

// meet makes one of stretches that meet, and of all where they are too many to be asked for one by one.
func meet(in []troubledStretch) (out []troubledStretch) {
	for _, one := range in {
		if n := len(out); n > 0 && (one.from <= out[n-1].to || n == mostPeriods) {
			out[n-1].to = max(out[n-1].to, one.to)
			out[n-1].near, out[n-1].during = append(out[n-1].near, one.near...), append(out[n-1].during, one.during...)
			continue
		}
		out = append(out, one)
	}
	return out
}

// maxOthers bounds of how many other allocations it is read what they were answered, maxAnswers how much of it.
const (
	maxOthers  = 16
	maxAnswers = 2_000
)

// momentsOf are the first and the last of what troubles lasted: what others were answered is read around them.
func momentsOf(stretches []troubledStretch) (out []period) {
	for _, part := range stretches {
		for _, p := range part.during {
			out = append(out, p)
			break
		}
	}
	return out[:min(len(out), 2)]
}

// pairsOf writes periods as an array parameter.
func pairsOf(list []period) string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = fmt.Sprintf("(%d,%d)", p.from, p.to)
	}
	return "[" + strings.Join(out, ",") + "]"
}
