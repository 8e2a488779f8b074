package rules

import (
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// takenForAnother finds orders that a workflow's part takes for one that runs already.
func takenForAnother() []correlator.Rule {
	return []correlator.Rule{{
		ID: "workflow.taken_for_another", Layer: semconv.LayerWorkflow, Mechanism: "identity",
		Looks:      "an order that was published, a worker's own word on it that such a run is there already, and no run of the allocation's since it was ordered",
		NextCheck:  "whose run it is that bears that name, and how names of runs are made",
		SafeAction: "start the run under a name of its own; the queue and the API need nothing",
		Find:       saidToRun,
	}}
}

// runsAlready are the words of a worker or an engine that begins nothing since one of that name is there (Temporal's WorkflowExecutionAlreadyStarted, Argo, Kubernetes' AlreadyExists).
var runsAlready = []string{"already running", "already started", "alreadystarted", "already in progress", "already exists", "alreadyexists"}

// saidToRun needs the worker's word under the allocation's own identifiers, after the order, and that nothing of the workflow was heard of since.
func saidToRun(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind != correlator.OverdueTrouble || t.Cleared != 0 {
		return nil
	}
	var said *correlator.Event
	for _, e := range c.Events {
		switch {
		case e.At < t.From-moment || e.At > t.At:
		case e.Is(semconv.EventWorkflowState):
			return nil
		case said == nil && !e.IsEvent() && e.Party() == semconv.LayerWorkflow && holds(e.Text, runsAlready):
			said = e
		}
	}
	if said == nil {
		return nil
	}
	records := append([]*correlator.Event{said}, t.Cites...)
	c.EachIn(semconv.LayerWorkflow, said.At-moment, said.At+moment, func(e *correlator.Event) {
		if e.Service != said.Service && !e.IsEvent() && holds(e.Text, runsAlready) {
			records = append(records, e)
		}
	})
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: said.At, Records: inOrder(records...),
		Summary: "the order was taken for one that runs already, and nothing of the allocation's runs" + quote(said),
	}}
}
