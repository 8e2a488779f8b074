package lab

import (
	"time"

	"github.com/faultline-io/faultline/provisioner/workflow"
)

// act is one thing that happens during a task: after some time, somebody says a line.
type act struct {
	after time.Duration
	who   string // agent, kernel or journald
	text  string
}

// works is what tasks look like from a node: about ten seconds of life for a healthy allocation.
func works() map[string][]act {
	return map[string][]act{
		workflow.TaskPrepare: {
			{100 * time.Millisecond, "agent", "checking firmware and disks"},
			{400 * time.Millisecond, "kernel", "nvme nvme0: 16/0/0 default/read/poll queues"},
			{200 * time.Millisecond, "agent", "node is ready for an image"},
		},
		workflow.TaskProvision: {
			{100 * time.Millisecond, "agent", "writing image to /dev/nvme0n1"},
			{900 * time.Millisecond, "kernel", " nvme0n1: p1 p2 p3"},
			{500 * time.Millisecond, "kernel", "EXT4-fs (nvme0n1p2): mounted filesystem with ordered data mode. Quota mode: none."},
			{300 * time.Millisecond, "journald", "systemd[1]: Started tenant.service - tenant workload."},
			{200 * time.Millisecond, "agent", "tenant system is up"},
		},
		workflow.TaskDeprovision: {
			{100 * time.Millisecond, "agent", "stopping tenant system"},
			{400 * time.Millisecond, "journald", "systemd[1]: tenant.service: Deactivated successfully."},
			{100 * time.Millisecond, "kernel", "EXT4-fs (nvme0n1p2): unmounting filesystem."},
		},
		workflow.TaskWipe: {
			{100 * time.Millisecond, "agent", "wiping /dev/nvme0n1"},
			{900 * time.Millisecond, "kernel", " nvme0n1:"},
			{200 * time.Millisecond, "agent", "wiped, nothing of the tenant is left"},
		},
	}
}

// observed is what the agent sees at the end of a task.
func observed(task string) string {
	switch task {
	case workflow.TaskProvision:
		return workflow.ObservedRunning
	case workflow.TaskWipe:
		return workflow.ObservedAbsent
	}
	return ""
}
