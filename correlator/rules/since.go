package rules

import (
	"time"

	"github.com/faultline-io/faultline/correlator"
)

// calmFor is how long before a step the last complaint must lie for what was served since to prove that it is over: a party that fails now and
// then also serves now and then.
const calmFor = int64(time.Minute)

// servedSince says whether who complained beside a step had stopped before the step began, and has served calls since, this allocation's
// own among them: what was wrong with it is over, and no reason any more.
func servedSince(c *correlator.Case, t *correlator.Trouble, complaints []*correlator.Event) bool {
	last := map[string]int64{}
	for _, e := range complaints {
		if e.EndAt() >= t.From-calmFor {
			return false
		}
		last[e.Service] = max(last[e.Service], e.EndAt())
	}
	for _, e := range c.Events {
		if at, spoke := last[e.Service]; spoke && e.At > at+calmFor && e.At <= t.At && e.HTTP.Status >= 200 && e.HTTP.Status < 400 && !e.Failed() {
			delete(last, e.Service)
		}
	}
	return len(last) == 0
}
