package workflow

import (
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
)

// Types of tasks that node agents know.
const (
	TaskPrepare     = "node.prepare"
	TaskProvision   = "node.provision"
	TaskDeprovision = "node.deprovision"
	TaskWipe        = "node.wipe"
)

type step struct {
	name string
	do   func(*run) (outcome, error)
}

type operation struct {
	wanted map[string]bool // allocation states in which the operation goes on
	steps  []step
	giveUp func(r *run, failure string) error
}

// operations are all there is: what is done for an allocation, in order.
func operations() map[string]operation {
	return map[string]operation{
		lifecycle.OperationProvision: {
			wanted: states(semconv.Requested, semconv.Reserved, semconv.Provisioning),
			steps: []step{
				{"place", place},
				{"start", start},
				{"prepare", task(TaskPrepare)},
				{"provision", task(TaskProvision)},
				{"activate", activate},
			},
			giveUp: failProvision,
		},
		lifecycle.OperationRelease: {
			wanted: states(semconv.Releasing),
			steps: []step{
				{"deprovision", task(TaskDeprovision)},
				{"wipe", task(TaskWipe)},
				{"give back", giveBack(semconv.Released)},
			},
			giveUp: failRelease,
		},
		lifecycle.OperationCancel: {
			wanted: states(semconv.Canceling, semconv.Releasing),
			steps: []step{
				{"stop work", stopWork},
				{"wipe", task(TaskWipe)},
				{"give back", giveBack(semconv.Canceled)},
			},
			giveUp: failRelease,
		},
	}
}

func states(all ...string) map[string]bool {
	out := map[string]bool{}
	for _, s := range all {
		out[s] = true
	}
	return out
}
