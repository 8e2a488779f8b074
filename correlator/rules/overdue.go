package rules

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// overdue blames the party that owes the next move, by absence: the obligation, its deadline, and a sign
// of life of that party or its layer after it. Without the sign it is a gap, and nobody's fault yet.
func overdue() []correlator.Rule {
	return []correlator.Rule{{
		ID: "overdue.party", Looks: "a step whose time is over, owed by a party whose telemetry is alive after the deadline",
		NextCheck:  "what that party last did, and what it waits for",
		SafeAction: "look before anything is restarted: the step may have been done and its record be late",
		Find: func(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
			if t.Kind != correlator.OverdueTrouble || t.Owes == "" || !c.Profile.Knows(t.Owes) || t.Owes == semconv.LayerProvider && done(c, t) || handedOn(c, t) || cutShort(c, t) || unrecorded(c, t) || notReceived(c, t) {
				return nil
			}
			var sign, complaint *correlator.Event
			var signs, others []*correlator.Event
			until := c.Now
			if t.Cleared != 0 { // what is heard long after it was done tells nothing of it
				until = min(until, t.Cleared+int64(time.Hour))
			}
			c.EachIn(t.Owes, t.From-int64(10*time.Minute), until, func(e *correlator.Event) {
				switch {
				case t.Elsewhere(e):
				case e.At > t.At:
					if t.Node == "" || correlator.Names(e, t.Node) || e.Is(semconv.EventHeartbeat) {
						if correlator.EveryReaderHas(e) {
							sign = e
							signs = append(signs, e)
						} else {
							others = append(others, e)
						}
					}
				case e.Severity >= 17 && !e.IsEvent() && e.Node == "":
					complaint = e
				}
			})
			if sign == nil && len(others) > 0 {
				sign, signs = others[len(others)-1], others
			}
			if sign == nil && t.Node == "" { // what it did for others tells, too
				if e := c.AliveBetween(t.Owes, t.At+1, c.Now); e != nil && !t.Elsewhere(e) {
					sign, signs = e, append(signs, e)
				}
			}
			if sign == nil {
				return nil
			}
			ev := correlator.Evidence{
				Rule: t.Owes + ".overdue", Layer: t.Owes, Mechanism: "overdue", Weight: correlator.Generic, Directness: correlator.Caller, Certain: true,
				Records: append(append([]*correlator.Event(nil), t.Cites...), signs...), Onset: t.At,
				Summary: t.What + " since " + correlator.Time(t.From).Milli() + ", and " + t.Owes + " is alive",
			}
			if complaint != nil {
				ev.Records = append([]*correlator.Event{complaint}, ev.Records...)
				ev.Onset, ev.Summary = min(ev.Onset, complaint.At), ev.Summary+quote(complaint)
			}
			return []correlator.Evidence{ev}
		},
	}}
}

// unrecorded says whether whoever told of a step's beginning, and would tell of its end, is not heard of since its time was over, has gone quiet
// by now, or was for a while: then it may have been done, and it is that telemetry which is missing.
func unrecorded(c *correlator.Case, t *correlator.Trouble) bool {
	told := func(layer string) bool { return layer != "" && layer != t.Owes }
	if t.Attempt != nil && t.Attempt.Taken != nil && told(t.Attempt.Taken.Layer) && c.AliveBetween(t.Attempt.Taken.Layer, t.At+1, c.Now) == nil {
		return true
	}
	return slices.ContainsFunc(t.Cites, func(e *correlator.Event) bool {
		return e.IsEvent() && told(e.Layer) && (c.WentQuiet(e.Layer) || c.DueAfter(e.Layer, t.At) || c.PausedSince(e.Layer, t.From))
	})
}

// notReceived says whether nobody but the one who asked tells of what was asked for, and he tells that he had no answer: then it is not known that it
// arrived, and whoever would have owed the step may know nothing of it.
func notReceived(c *correlator.Case, t *correlator.Trouble) bool {
	if slices.ContainsFunc(t.Cites, func(e *correlator.Event) bool { return e.Layer != semconv.LayerClient }) {
		return false
	}
	unanswered := false
	for _, e := range c.Events {
		switch {
		case e.At < t.From:
		case e.Layer != semconv.LayerClient:
			return false
		default:
			unanswered = unanswered || e.Failed() && !e.IsEvent() && e.HTTP.Status == 0
		}
	}
	return unanswered
}

// handedOn says whether a workflow that stands still is seen to have handed its work on: somebody behind it speaks of this very
// allocation, or tells of a failure, or the workflow itself says whom it waits for. Who of them owes the answer is not known by that.
func handedOn(c *correlator.Case, t *correlator.Trouble) bool {
	if t.Owes == semconv.LayerProvider { // the machine did not get to where it would do its part
		return slices.ContainsFunc(c.Events, func(e *correlator.Event) bool { return e.At >= t.From && holds(e.Text, noBoot) })
	}
	if t.Owes != semconv.LayerWorkflow || t.Attempt != nil {
		return false
	}
	since := max(t.From, lastDone(c)+moment) // what was heard from behind before the last part was done there is over
	for _, e := range c.Events {
		behind := correlator.Onward(semconv.LayerWorkflow, e.Party()) || e.Party() == semconv.LayerProjection
		if e.At >= since && !e.IsEvent() && behind && e.Text != "" && !asksForWork(e) && !holds(e.Text, hasNothing) {
			return true
		}
		waits := strings.Contains(e.Text, "waiting for ") && !holds(e.Text, []string{"lock", "mutex", "leader", "lease", "semaphore"})
		if e.At >= t.From && !e.IsEvent() && e.Party() == semconv.LayerWorkflow && (waits || e.Severity >= 13 && strings.Contains(e.Text, "no confirm")) {
			return true
		}
	}
	return slices.ContainsFunc(statements(c, t), func(s statement) bool {
		if t.Cleared != 0 && s.event.At < t.From && correlator.Onward(semconv.LayerWorkflow, s.party) {
			return false // it did its part all the same
		}
		if s.event.At < t.From && reconnected(c, t, s.event) {
			return false
		}
		switch s.party {
		case semconv.LayerAPI, semconv.LayerIngress:
			if waitsForOwner(s.event, t) {
				return false // it waits for who owes the step, and says so
			}
		case semconv.LayerWorkflow, semconv.LayerClient:
			return s.about != "" && s.about != semconv.LayerWorkflow
		}
		return !s.echo || c.Own(s.event, t)
	})
}

// waitsForOwner says whether somebody tells that he waits for the program that began a step, by its name.
func waitsForOwner(e *correlator.Event, t *correlator.Trouble) bool {
	return strings.Contains(e.Text, "waiting for ") && slices.ContainsFunc(t.Cites, func(o *correlator.Event) bool {
		return o.Layer == t.Owes && len(o.Service) >= shortestName && strings.Contains(e.Text, strings.ToLower(o.Service))
	})
}

// reconnected says whether a program that could not use another one told, before the step began, that it is connected again.
func reconnected(c *correlator.Case, t *correlator.Trouble, lost *correlator.Event) bool {
	again := false
	c.Each(lost.At+1, t.From, func(e *correlator.Event) {
		again = again || e.Service == lost.Service && !e.IsEvent() && !e.Failed() && connectedWords.MatchString(e.Text) && (closeTo(t, e) || correlator.EveryReaderHas(e))
	})
	return again
}

// connectedWords find that a program is connected, or is so again.
var connectedWords = regexp.MustCompile(`\b(?:re-?)?connected to\b|\breconnected\b|\bconnection (?:re-?established|restored)\b`)

// lastDone is when the last job or task was done, 0 where one is not, or none was.
func lastDone(c *correlator.Case) (at int64) {
	for _, j := range c.Lifecycle.Jobs {
		last := j.Last()
		if !strings.EqualFold(last.To, semconv.Succeeded) {
			return 0
		}
		at = max(at, last.At)
	}
	for _, a := range c.Lifecycle.Tasks {
		if a.Over == nil {
			return 0
		}
		at = max(at, a.Over.At)
	}
	return at
}

// hasNothing are the words of an agent that waits to be given something to do.
var hasNothing = []string{"no task", "no work", "no tasks", "polling for", "poll ok", "poll: ok", "waiting for task", "waiting for work", "nothing to do", "idle", "enrolled", "listening for jobs", "ready for work"}

// noBoot are the words of a machine's firmware that found nothing to boot from over the network (PXE specification, UEFI).
var noBoot = []string{"pxe-e16", "pxe-e18", "pxe-e51", "pxe-e52", "pxe-e53", "no offer received", "no valid offer", "no dhcp offers"}
