package correlator

import (
	"github.com/faultline-io/faultline/internal/semconv"
)

// impossibleView compares with what the allocation can ever have been, not with when: that is drift.
func impossibleView(c *Case) []Finding {
	if len(c.Lifecycle.States) == 0 {
		return nil
	}
	var out []Finding
	seen := map[string]bool{}
	for _, e := range c.lookup(indexKey{namedEvent, "", semconv.EventProjection}).own {
		k := projectionKeyOf(e)
		shown, mapped := c.Profile.Shown(k.projection, k.field, e.Attr(semconv.Value))
		if k.field != fieldState || !mapped || seen[k.projection+shown] || c.canHaveBeen(shown, e.At) {
			continue
		}
		seen[k.projection+shown] = true
		out = append(out, found("impossible_view", "the "+k.projection+" view shows "+shown+", which the allocation cannot have been", e)...)
	}
	return out
}

// canHaveBeen says whether the allocation was in a state before a time, or could have passed through it since
// the last state that was seen by then.
func (c *Case) canHaveBeen(state string, at int64) bool {
	from := ""
	for _, s := range c.Lifecycle.States {
		if s.To == state || s.From == state {
			return true
		}
		if s.At <= at {
			from = s.To
		}
	}
	if from == "" {
		return true // what went before is not known
	}
	reached, next := map[string]bool{from: true}, []string{from}
	for len(next) > 0 {
		for _, to := range semconv.AllocationMoves[next[0]] {
			if !reached[to] {
				reached[to], next = true, append(next, to)
			}
		}
		next = next[1:]
	}
	// What lay before the first state that was seen may have been as well.
	first := c.Lifecycle.States[0].To
	return reached[state] || leadsTo(state, first)
}

func leadsTo(from, to string) bool {
	reached, next := map[string]bool{from: true}, []string{from}
	for len(next) > 0 {
		for _, s := range semconv.AllocationMoves[next[0]] {
			if !reached[s] {
				reached[s], next = true, append(next, s)
			}
		}
		next = next[1:]
	}
	return reached[to]
}
