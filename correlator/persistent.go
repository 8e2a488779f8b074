package correlator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// How often, and for how long, the same must fail before it is trouble whatever the allocation's state is. Whoever waits
// for the machine is patient by design: a platform that is still at work retries.
const (
	persistsTimes, persistsFor       = 3, int64(time.Minute)
	persistsAtWork, persistsAtWorkMs = 5, int64(2 * time.Minute)
)

// persistentTroubles finds what keeps failing for an allocation, with nothing that succeeded since: a user's request
// that is refused again and again costs him what he asked for, though no state moves.
func persistentTroubles(c *Case) []*Trouble {
	type same struct{ failed []*Event }
	groups := map[string]*same{}
	var keys []string
	for _, e := range c.lookup(indexKey{what: failing}).own {
		if e.IsEvent() && isLifecycle(e.Name) || e.Own(identity.Task) != "" || !complains(e) || c.expected(e) || hungUp(e) {
			continue
		}
		key := e.Service + " " + callKey(e) + " " + pattern(e.Text)
		if groups[key] == nil {
			groups[key] = &same{}
			keys = append(keys, key)
		}
		groups[key].failed = append(groups[key].failed, e)
	}
	var out []*Trouble
	for _, key := range keys {
		failed := groups[key].failed
		first, last := failed[0], failed[len(failed)-1]
		state, _ := c.Lifecycle.StateAt(last.At)
		times, lasts := persistsTimes, persistsFor
		if !terminal(state) {
			times, lasts = persistsAtWork, persistsAtWorkMs
		}
		if len(failed) < times || last.At-first.At < lasts || c.servedAfter(last) {
			continue
		}
		if state == semconv.Released || state == semconv.Canceled {
			continue // nobody is owed anything any more
		}
		t := &Trouble{
			Kind: RequestTrouble, From: first.At, At: last.EndAt(), Call: strings.TrimSpace(callKey(last)), Cites: someOf(failed, times+1), Node: first.Node, Instance: first.NodeInstance,
			What: fmt.Sprintf("%s failed %d times in %s", cmp.Or(strings.TrimSpace(callKey(last)), "the same call"), len(failed), time.Duration(last.At-first.At).Round(time.Second)),
		}
		if !slices.ContainsFunc(out, func(o *Trouble) bool { return o.From <= t.At && t.From <= o.At }) {
			out = append(out, t)
		}
	}
	return out
}

// servedAfter says whether the same call was answered well by the same service after a failure.
func (c *Case) servedAfter(failed *Event) bool {
	key := callKey(failed)
	for _, e := range c.Events {
		if e.At > failed.At && e.Service == failed.Service && e.HTTP.Status > 0 && e.HTTP.Status < 400 && callKey(e) == key {
			return true
		}
	}
	return false
}

// someOf gives the first and the last of a list, and so many in all, evenly from between.
func someOf(events []*Event, n int) []*Event {
	if len(events) <= n {
		return events
	}
	out := make([]*Event, n)
	for i := range out {
		out[i] = events[i*(len(events)-1)/(n-1)]
	}
	return out
}

// complains says whether a record tells that something which was asked for was not given: an error, or a refusal.
func complains(e *Event) bool {
	return e.Severity >= severityError || e.Status == "error" || e.HTTP.Status >= 400 || e.GRPCFailed()
}

// pattern is a text without what differs from one time to the next: its numbers and identifiers.
func pattern(text string) string {
	const enough = 96
	b := make([]byte, 0, enough)
	for i := 0; i < len(text) && len(b) < enough; i++ {
		ch := text[i]
		if ch >= '0' && ch <= '9' {
			ch = '#'
		}
		if ch == '#' && len(b) > 0 && b[len(b)-1] == '#' {
			continue
		}
		b = append(b, ch)
	}
	return string(b)
}
