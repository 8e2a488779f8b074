package rules

import (
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// missedEnd finds platforms that go on waiting for a job of which its provider has told that it is done.
func missedEnd() []correlator.Rule {
	return []correlator.Rule{{
		ID: "workflow.missed_end", Layer: semconv.LayerWorkflow, Mechanism: "stuck",
		Looks:      "a job that its provider told is done, a platform that goes on waiting for it, and that is alive",
		NextCheck:  "how the platform learns of a job's end: its polls, a web hook, a signal to the workflow",
		SafeAction: "let the workflow ask again, or send it the signal; the provider and the machine need nothing",
		Find:       waitsForDone,
	}}
}

// doneWords are those of a provider for a job that came to its proper end.
var doneWords = []string{"status=done", "status: done", "\"status\":\"done\"", "status=completed", "status=successful", "status: successful", "status=succeeded", "state=succeeded", "job completed successfully"}

// tellsWithin is how long a platform may take to learn of a job's end, in nanoseconds.
const tellsWithin = int64(5 * time.Minute)

// waitsForDone needs the provider's own word of the very job, well before the step's time was over, and a later word of the platform about that job or
// its run, by which it is still under way.
func waitsForDone(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind == correlator.WorkflowTrouble {
		if ev := waitedForDone(c, t); len(ev) > 0 {
			return ev
		}
		return signalledToClosedRun(c, t)
	}
	if t.Kind != correlator.OverdueTrouble || t.Owes != semconv.LayerProvider || t.Cleared != 0 {
		return nil
	}
	for _, j := range c.Lifecycle.Jobs {
		if !atWork(j, c.Now) {
			continue
		}
		var done *correlator.Event
		for _, e := range c.Events {
			if done == nil && !e.IsEvent() && e.Party() == semconv.LayerProvider && e.Own(identity.ProviderJob) == j.ID && !e.Failed() && holds(e.Text, doneWords) {
				done = e
			}
		}
		if done == nil || done.At > t.At-moment {
			continue
		}
		alive := c.AliveBetween(semconv.LayerWorkflow, done.At+tellsWithin, c.Now)
		if alive == nil {
			continue
		}
		return []correlator.Evidence{{
			Weight: correlator.Telling, Directness: correlator.Caller, Onset: done.At, Records: append([]*correlator.Event{done, alive}, t.Cites...),
			Summary: "the provider told that job " + j.ID + " is done, and the platform goes on waiting for it" + quote(done),
		}}
	}
	return nil
}

// waitedForDone needs a workflow that failed while it waited for a provider, by its own word, of whom each job had come to its proper end long before.
func waitedForDone(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var waits *correlator.Event
	c.EachEvent(semconv.EventWorkflowState, t.From, t.At-1, func(e *correlator.Event) {
		if e.Allocation != c.ID {
			return
		}
		waits = nil
		if e.To() == semconv.Waiting && strings.HasPrefix(e.Attr(semconv.WaitingOn), semconv.LayerProvider) {
			waits = e
		}
	})
	if waits == nil {
		return nil
	}
	var done *correlator.Event
	for _, j := range c.Lifecycle.Jobs {
		last := j.Last()
		if last.At > t.At || !strings.EqualFold(last.To, semconv.Succeeded) {
			return nil // one goes on, or did not succeed
		}
		if last.At > waits.At && (done == nil || last.At > done.At) {
			done = last.Event
		}
	}
	if done == nil || t.At-done.At < tellsWithin {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Caller, Onset: done.At, Records: append([]*correlator.Event{waits, done}, t.Cites...),
		Summary: "the provider told that its job is done, and the workflow waited for it until it failed",
	}}
}

// closedRun are an engine's words to who signals a run that is over (Temporal's NotFound, Durable Task's and Step Functions' alike).
var closedRun = []string{"workflow execution already completed", "execution already completed", "instance already completed", "workflow run is closed", "execution is not running"}

// signalledToClosedRun needs a workflow that waited for a signal, by its own word, and a signal in its name that was refused meanwhile because the run that
// it was sent to is over: the workflow's id goes on in another run, and who signals keeps the one before.
func signalledToClosedRun(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var waits *correlator.Event
	c.EachEvent(semconv.EventWorkflowState, t.From, t.At-1, func(e *correlator.Event) {
		if e.Allocation == c.ID && e.To() == semconv.Waiting {
			waits = e
		}
	})
	if waits == nil {
		return nil
	}
	var refused []*correlator.Event
	c.EachIn(semconv.LayerWorkflow, waits.At, t.At-1, func(e *correlator.Event) {
		if !e.IsEvent() && e.Failed() && c.Own(e, t) && holds(e.Text, closedRun) {
			refused = append(refused, e)
		}
	})
	if len(refused) == 0 {
		return nil
	}
	return []correlator.Evidence{{
		Rule: "workflow.signal_to_closed_run", Weight: correlator.Telling, Directness: correlator.Itself, Certain: true, Onset: refused[0].At,
		Records: append([]*correlator.Event{waits}, refused...),
		Summary: "what the workflow waits for was signalled to a run that is over" + quote(refused[0]),
	}}
}
