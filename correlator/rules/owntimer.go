package rules

import (
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// ownTimer finds workflows that wait for a time of their own until it is too late.
func ownTimer() []correlator.Rule {
	return []correlator.Rule{{
		ID: "workflow.own_timer", Layer: semconv.LayerWorkflow, Mechanism: "timer",
		Looks:      "a step that is late, a workflow whose last word of it is that it waits for a timer, and nobody who told of a failure before",
		NextCheck:  "when that timer fires, and by what it was set",
		SafeAction: "wake the workflow; who it would order next needs nothing",
		Find:       waitsForTimer,
	}}
}

// waitsForTimer needs the workflow's own state (docs/contract.md: waiting_on), and that no failure of another's came before it: who retries waits for a timer, too.
func waitsForTimer(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Cleared != 0 || t.Kind == correlator.TaskTrouble || t.Kind == correlator.JobTrouble {
		return nil
	}
	var waits, said *correlator.Event
	for _, e := range c.Events {
		switch {
		case e.At > t.At:
		case e.Is(semconv.EventWorkflowState) && waits != nil && slices.Contains([]string{semconv.TimedOut, semconv.Failed, semconv.Canceled}, e.To()): // it came too late
		case e.Is(semconv.EventWorkflowState):
			waits = nil
			if e.Attr(semconv.WaitingOn) == "timer" {
				waits = e
			}
		case waits != nil && (e.Is(semconv.EventTaskState) || e.Is(semconv.EventProviderState)):
			return nil // something is under way
		case waits == nil && e.TellsOfFailure() && e.Node == "" && e.Layer != semconv.LayerClient && e.Layer != semconv.LayerNode && e.Layer != semconv.LayerNodeAgent:
			return nil
		case !e.IsEvent() && e.Party() == semconv.LayerWorkflow && e.Allocation == c.ID:
			said = e
		}
	}
	if waits == nil {
		return nil
	}
	records := append([]*correlator.Event{waits}, t.Cites...)
	summary := "the workflow waits for a time of its own"
	if said != nil {
		records, summary = append(records, said), summary+quote(said)
	}
	return []correlator.Evidence{{Weight: correlator.Generic, Directness: correlator.Itself, Onset: waits.At, Records: inOrder(records...), Summary: summary}}
}
