package workflow

import (
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/provider"
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
				{"place", either(setAside, place)},
				{"start", either(startProvided, start)},
				{"prepare", either(skip, task(TaskPrepare))},
				{"provision", either(provide(provider.Provision), task(TaskProvision))},
				{"activate", either(activateProvided, activate)},
			},
			giveUp: failProvision,
		},
		lifecycle.OperationRelease: {
			wanted: states(semconv.Releasing),
			steps: []step{
				{"deprovision", either(provide(provider.Deprovision), task(TaskDeprovision))},
				{"wipe", either(skip, task(TaskWipe))},
				{"give back", either(giveBackProvided(semconv.Released), giveBack(semconv.Released))},
			},
			giveUp: failRelease,
		},
		lifecycle.OperationCancel: {
			wanted: states(semconv.Canceling, semconv.Releasing),
			steps: []step{
				{"stop work", either(stopProvided, stopWork)},
				{"wipe", either(provide(provider.Deprovision), task(TaskWipe))},
				{"give back", either(giveBackProvided(semconv.Canceled), giveBack(semconv.Canceled))},
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
