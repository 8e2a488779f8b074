package rules

import (
	"net/http"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// unfinished finds providers that took an order and did not carry it out.
func unfinished() []correlator.Rule {
	return []correlator.Rule{{
		ID: "provider.cancel_ignored", Layer: semconv.LayerProvider, Mechanism: "overdue",
		Looks:      "a cancel that the provider acknowledged, and a job that still ran when the platform gave up waiting for its end",
		NextCheck:  "what the job does on its execution node, and whether the signal got there",
		SafeAction: "end the job at the provider before anything is deprovisioned; do not strip finalizers",
		Find:       cancelIgnored,
	}, {
		ID: "provider.shutdown", Layer: semconv.LayerProvider, Mechanism: "shutdown",
		Looks:      "a provider that says, under the order's own identifiers, that it shuts down and drops what it was to do",
		NextCheck:  "whether it runs again, and what else it dropped",
		SafeAction: "start it again, then order anew: what was dropped does not come back",
		Find:       dropped,
	}}
}

// gaveUp says whether a trouble is that the platform's own patience with somebody was over.
func gaveUp(t *correlator.Trouble) bool {
	return t.Kind == correlator.WorkflowTrouble || t.Kind == correlator.StateTrouble
}

// cancelIgnored needs all of it: the wish, the provider's yes, and the job seen at work after that, until the end of
// the platform's patience (docs/domain.md §4.6). A 202 is a promise, not a fact.
func cancelIgnored(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	end := c.Lifecycle.Cancel
	late := t.Kind == correlator.OverdueTrouble && t.Cleared != 0 && t.Owes == semconv.LayerProvider // it ended in the end
	if !gaveUp(t) && !late || end == nil || end.At > t.At {
		return nil
	}
	for _, j := range c.Lifecycle.Jobs {
		if j.Changes[0].At > end.At || !atWork(j, t.At) {
			continue
		}
		var acks []*correlator.Event
		var seen *correlator.Event
		for _, e := range c.Events {
			switch {
			case e.At < end.At || e.At > t.At:
			case acknowledges(e, j.ID):
				acks = append(acks, e)
			case len(acks) > 0 && e.Is(semconv.EventProviderPoll) && e.Own(identity.ProviderJob) == j.ID && e.Attr(semconv.PollOK) == "true":
				seen = e
			}
		}
		if len(acks) == 0 || seen == nil {
			continue
		}
		return []correlator.Evidence{{
			Weight: correlator.Telling, Directness: correlator.Caller, Certain: true, Onset: acks[0].At,
			Records: slices.Concat(acks, []*correlator.Event{seen}, t.Cites),
			Summary: "the provider acknowledged that " + j.ID + " was to end, and it was still at work when " + t.What,
		}}
	}
	return nil
}

// atWork says whether a job was known and not at its end at a time.
func atWork(j *correlator.Run, at int64) bool {
	state := ""
	for _, change := range j.Changes {
		if change.At <= at {
			state = strings.ToLower(change.To)
		}
	}
	return state == "running" || state == "waiting" || state == "pending"
}

// acknowledges says whether a record tells of a provider's yes to the end of a job: the answer to the platform's own
// request, or either side's line about the job.
func acknowledges(e *correlator.Event, job string) bool {
	if e.IsEvent() || e.Layer != semconv.LayerWorkflow && e.Layer != semconv.LayerProvider {
		return false
	}
	if e.SpanKind == "client" {
		return e.HTTP.Method == http.MethodPost && e.HTTP.Status == http.StatusAccepted && strings.Contains(e.HTTP.Path, "cancel")
	}
	return e.Own(identity.ProviderJob) == job && strings.Contains(e.Text, "cancel") && holds(e.Text, []string{"accepted", "cancel_flag", "202"})
}

// dropped reads the provider's own lines about the order: an activation that shuts down says at info level, and
// nowhere else, that it drops what waits (docs/domain.md §1.5).
func dropped(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if !gaveUp(t) && t.Kind != correlator.OverdueTrouble {
		return nil
	}
	var told, after *correlator.Event
	c.EachIn(semconv.LayerProvider, t.From-moment, c.Now, func(e *correlator.Event) {
		switch {
		case e.Allocation != c.ID || e.Layer != semconv.LayerProvider || e.IsEvent():
		case e.At <= t.At && holds(e.Text, shutsDown) && holds(e.Text, dropsWork):
			told, after = e, nil
		case told != nil && e.Body != "":
			after = e
		}
	})
	if told == nil || after != nil {
		return nil
	}
	proof := []*correlator.Event{told}
	for _, e := range c.Events { // whose order it was may stand in the caller's record of the same trace alone
		if told.TraceID != "" && e.TraceID == told.TraceID && e.Layer != told.Layer && !e.IsEvent() {
			proof = []*correlator.Event{e, told}
			break
		}
	}
	return []correlator.Evidence{{
		Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Records: proof, Onset: told.At,
		Summary: "the provider took the order and dropped it" + quote(told),
	}}
}

var (
	shutsDown = []string{"shutting down", "shut down", "is stopping", "terminating"}
	dropsWork = []string{"cancel", "drop", "discard", "abandon"}
)

// done says whether the provider itself tells of the order that it was carried out: what is still missing then is
// not the provider's move.
func done(c *correlator.Case, t *correlator.Trouble) bool { return ended(c, t) != nil }

// ended is the provider's own record that it carried the order out, nil where there is none.
func ended(c *correlator.Case, t *correlator.Trouble) (told *correlator.Event) {
	c.EachIn(semconv.LayerProvider, t.From, c.Now, func(e *correlator.Event) {
		if e.Allocation != c.ID || e.Layer != semconv.LayerProvider || e.IsEvent() || e.Body == "" {
			return
		}
		told = nil // it was a part of the order, if there is more to tell
		if holds(e.Text, []string{"successful", "succeeded", "to deployed", "finished ok"}) {
			told = e
		}
	})
	return told
}
