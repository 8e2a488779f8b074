package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// nobodyHeard says whether for most of a time, and for long, nothing was heard of anybody: it is the telemetry that was away.
func nobodyHeard(c *correlator.Case, from, to int64) bool {
	const long = int64(15 * time.Minute)
	last, most := from, int64(0)
	c.Each(from, to, func(e *correlator.Event) {
		most, last = max(most, e.At-last), e.At
	})
	most = max(most, to-last)
	if most < long || 2*most < to-from {
		return false
	}
	beats := 0 // who beats is heard whenever telemetry is
	c.EachEvent(semconv.EventHeartbeat, from, to, func(*correlator.Event) { beats++ })
	return beats > 2
}

// callsBack says whether a workflow waits for somebody to call it back.
func callsBack(c *correlator.Case, t *correlator.Trouble) bool {
	return slices.ContainsFunc(c.Events, func(e *correlator.Event) bool {
		return e.Is(semconv.EventWorkflowState) && e.At <= t.At && e.At >= t.From && (e.Attr(semconv.WaitingOn) == "signal" || e.Attr(semconv.WaitingOn) == "callback")
	})
}

// seenItself says whether a party told of itself since a time.
func seenItself(c *correlator.Case, layer string, since int64) (seen bool) {
	c.EachIn(layer, since, c.Now, func(e *correlator.Event) { seen = seen || e.Layer == layer && e.Party() == layer })
	return seen
}

// unobservable says whether a job is open whose provider took the call and cannot be asked (docs/domain.md §1.5: 200 means queued, and Unknown is all that is ever
// told of it), and of which nothing is heard, whoever else of its kind is.
func unobservable(c *correlator.Case, t *correlator.Trouble) bool {
	i := slices.IndexFunc(c.Lifecycle.Jobs, func(j *correlator.Run) bool { return j.Silent() && j.Changes[0].At <= t.At })
	if i < 0 {
		return false
	}
	job, heard := c.Lifecycle.Jobs[i].Changes[0], false
	name := job.Event.Attr(semconv.Provider)
	c.EachIn(semconv.LayerProvider, job.At, c.Now, func(e *correlator.Event) { heard = heard || strings.Contains(e.Service, name) })
	return !heard
}
