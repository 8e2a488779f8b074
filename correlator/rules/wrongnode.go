package rules

import (
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// wrongNode finds tasks that were sent to a machine which was no longer the allocation's.
func wrongNode() []correlator.Rule {
	return []correlator.Rule{{
		ID: "workflow.wrong_node", Layer: semconv.LayerWorkflow, Mechanism: "stale",
		Looks:      "a task for a machine that had been taken from the allocation, which has another one",
		NextCheck:  "from where the workflow has the machine's name, and whether it reads it anew",
		SafeAction: "run the step again with the machine of today; neither machine needs anything",
		Find:       sentToFormer,
	}}
}

// sentToFormer needs the assignments of the allocation on record: the task's machine given up before the task was queued, and another one given.
func sentToFormer(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind != correlator.TaskTrouble || t.Attempt == nil || t.Attempt.Queued == nil || t.Attempt.Node == "" {
		return nil
	}
	var given, taken *correlator.Event
	queued := t.Attempt.Queued.At
	c.EachEvent(semconv.EventNodeAssigned, 0, queued, func(e *correlator.Event) {
		if e.Allocation == c.ID && e.Node != t.Attempt.Node {
			given = e
		}
	})
	if given == nil {
		return nil
	}
	gone := map[string]*correlator.Event{} // by machine, when it was taken away last
	c.EachEvent(semconv.EventNodeUnassigned, 0, queued, func(e *correlator.Event) {
		if e.Allocation == c.ID {
			gone[e.Node] = e
		}
	})
	c.EachEvent(semconv.EventNodeAssigned, 0, queued, func(e *correlator.Event) {
		if e.Allocation == c.ID && gone[e.Node] != nil && correlator.CompareEvents(gone[e.Node], e) < 0 {
			delete(gone, e.Node)
		}
	})
	taken = gone[t.Attempt.Node]
	if gone[given.Node] != nil {
		return nil
	}
	if taken == nil {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: t.Attempt.Queued.At, Records: []*correlator.Event{taken, given, t.Attempt.Queued},
		Summary: "the task was sent to " + t.Attempt.Node + ", which was no longer the allocation's: that is " + given.Node,
	}}
}
