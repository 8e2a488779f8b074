package rules

import (
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// placedSince says whether the provider told, after all of it and before the trouble, that the allocation's own machine runs: there was room.
func placedSince(c *correlator.Case, t *correlator.Trouble, records []*correlator.Event) bool {
	runs := false
	c.EachIn(semconv.LayerProvider, records[len(records)-1].At+1, t.At-1, func(e *correlator.Event) {
		runs = runs || !e.IsEvent() && !e.Failed() && c.Own(e, t) && holds(e.Text, machineRuns)
	})
	return runs
}

// machineRuns are a hypervisor cluster's words on a machine that has its place (KubeVirt, Kubernetes, Nomad).
var machineRuns = []string{"phase running", "phase: running", "phase=running", "agentconnected=true", "successfully assigned", "status=running", "state=running"}
