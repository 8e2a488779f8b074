package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// stoppedByItself says whether a worker that had polled tells why it polls no more: it was deployed, and is stuck.
func stoppedByItself(e *correlator.Event) bool {
	s := hinted(e)
	return e.Party() == semconv.LayerWorkflow && s != nil && (s.ID == "workflow.blocked" || s.ID == "process.crash" || s.ID == "deploy.no_worker" && strings.Contains(e.Text, "stopped polling"))
}

// stoppedInPlace hands a queue that nobody asks over to the worker that says that it stopped, where its process is heard of afterwards and nothing of
// it was rolled out.
func stoppedInPlace(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	var stopped *correlator.Event
	lives, rolledOut := false, false
	c.EachIn(semconv.LayerWorkflow, t.From-int64(changed), c.Now, func(e *correlator.Event) {
		switch {
		case stopped == nil || e.At > stopped.At && holds(e.Text, workerStarted):
			if stopped, lives = nil, false; e.At <= t.At && !e.IsEvent() && holds(e.Text, workerStopped) {
				stopped = e
			}
		case e.Service == stopped.Service && e.At > stopped.At+moment:
			lives = true
		}
	})
	c.EachEvent(semconv.EventDeploy, t.From-int64(changed), t.At, func(e *correlator.Event) {
		rolledOut = rolledOut || layerOfName(c, e.Attr(semconv.Component)) == semconv.LayerWorkflow
	})
	if stopped == nil || !lives || rolledOut {
		return ev
	}
	ev.Rule, ev.Layer, ev.Mechanism, ev.Onset = "workflow.no_worker", semconv.LayerWorkflow, "no_worker", stopped.At
	ev.Records = append([]*correlator.Event{stopped}, ev.Records...)
	ev.Summary = "the worker stopped and its process went on" + quote(stopped)
	ev.NextCheck, ev.SafeAction = "why the worker ended within its process", "restart that process; the queue keeps what waits"
	return ev
}

// crashed is the evidence that nobody polls as of workers that end, from the first word of it on: itself where none does.
func crashed(told *words, ev correlator.Evidence) correlator.Evidence {
	var ends []*correlator.Event
	for _, e := range told.all() {
		if s := hinted(e); e.Party() == semconv.LayerWorkflow && s != nil && (s.ID == "process.crash" || s.ID == "process.exit") {
			ends = append(ends, e)
		}
	}
	if len(ends) == 0 {
		return ev
	}
	slices.SortStableFunc(ends, correlator.CompareEvents)
	ev.Layer, ev.Onset, ev.Records = semconv.LayerWorkflow, ends[0].At, append(ends[:min(len(ends), ownWords)], ev.Records...)
	return ev
}

// keptFromQueue says whether a worker tells that it does not get to its queue.
func keptFromQueue(e *correlator.Event) bool {
	return e.Party() == semconv.LayerWorkflow && strings.Contains(e.Text, "failed to poll")
}

// noSlots finds that a worker tells that none of its slots is free (Temporal's SDK metrics, Celery, Sidekiq).
var noSlots = regexp.MustCompile(`slots_available\S*[ =:]+0\b|\bno (?:free|available) (?:task |worker |activity )?slots?\b|\b0 (?:free|available) (?:task |worker |activity )?slots?\b`)

// slotsGone is a worker's word, around a trouble's time, that none of its slots is free, nil where none tells so.
func slotsGone(c *correlator.Case, t *correlator.Trouble) (full *correlator.Event) {
	c.EachIn(semconv.LayerWorkflow, t.From-recently, t.At, func(e *correlator.Event) {
		if full == nil && !e.IsEvent() && e.Failed() && strings.Contains(e.Text, "slot") && noSlots.MatchString(e.Text) {
			full = e
		}
	})
	return full
}
