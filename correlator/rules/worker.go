package rules

import (
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// worker finds steps that were lost with the process that did them.
func worker() []correlator.Rule {
	return []correlator.Rule{{
		ID: "workflow.crash", Layer: semconv.LayerWorkflow, Mechanism: "crash",
		Looks:      "a step whose heartbeats stopped, and the end of a worker on record at that time",
		NextCheck:  "the worker's last words, and its memory limit",
		SafeAction: "raise the limit or roll the worker back; the node and its agent need nothing",
		Find:       diedWorker,
	}}
}

// heartbeatLost is how a workflow engine says that whoever did a step went silent in the middle of it (Temporal).
var heartbeatLost = []string{"timeout_type_heartbeat", "heartbeat timeout", "heartbeattimeout"}

// processEnd are the words for a process that ended against its will.
var processEnd = []string{"oomkilled", "out of memory: killed process", "oom-kill", "panic: ", "fatal error: ", "segmentation fault", "exit status 137", "exit code 137", "crashloopbackoff", "status=9/kill"}

// diedWorker needs both: a heartbeat that stops is as well a worker that lost its way to the engine.
func diedWorker(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var lost []*correlator.Event
	for _, e := range c.Failures(t) {
		if e.Layer == semconv.LayerWorkflow && holds(e.Text, heartbeatLost) {
			lost = append(lost, e)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	var ends []*correlator.Event
	for _, e := range c.UnattributedBetween(lost[0].At-recently, t.At+1) {
		if e.Layer == semconv.LayerWorkflow && e.Failed() && holds(e.Text, processEnd) {
			ends = append(ends, e)
		}
	}
	if len(ends) == 0 {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: min(ends[0].At, lost[0].At),
		Records: slices.Concat(ends, lost), Summary: "the worker that did the step ended" + quote(ends[0]),
	}}
}
