package grafana

import (
	"fmt"
	"strings"
	"time"
)

// stories are scenarios of which each says something that some panel shows: who is stuck, by whose fault, what drifts, what is left over.
var stories = []string{
	"aap-pending-capacity", "aap-cancel-ignored", "cert-expired-client", "drift-message-stale", "eda-no-rule", "orphan-after-cancel",
	"provider-deprovision-failed", "readmodel-stuck", "release-disk-then-cert",
}

// lateStory happens while Prometheus scrapes, so that a verdict changes meanwhile.
const lateStory = "undetermined-bare-500"

// Allocations that are asked about, of the tale and of the stories.
var allocations = []string{"a-run-1", "a-ends-1", "a-1", "b-1", "a-29"}

const node, reimaged = "n-run-1", "i-run-1-old"

// life is an allocation from its request to being active, with a job of a provider that waits and runs for some seconds.
func life(n int, provider, job string, waits, runs int) string {
	id := fmt.Sprintf("run-%d", n)
	at := func(seconds float64) string {
		return time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC).Add(time.Duration((seconds + float64(20*n)) * float64(time.Second))).Format("15:04:05.000")
	}
	began, ended := float64(2+waits), float64(2+waits+runs)
	var b strings.Builder
	line := func(seconds float64, text string, args ...any) {
		fmt.Fprintf(&b, "%s  %s\n", at(seconds), fmt.Sprintf(text, args...))
	}
	line(0, "api allocation.state allocation_id=a-%[1]s request_id=r-%[1]s correlation_id=c-%[1]s tenant=blue to=requested", id)
	line(0.2, "provisioner allocation.state allocation_id=a-%s correlation_id=c-%[1]s from=requested to=reserved", id)
	line(0.3, "provisioner workflow.state allocation_id=a-%[1]s workflow_id=w-%[1]s operation=provision to=running", id)
	line(0.4, "provisioner outbox.record allocation_id=a-%[1]s workflow_id=w-%[1]s outbox_id=o-%[1]s to=pending", id)
	line(0.5, "provisioner allocation.state allocation_id=a-%s from=reserved to=provisioning", id)
	line(0.6, "outbox-relay outbox.record outbox_id=o-%s to=published", id)
	line(0.7, "provisioner node.assigned allocation_id=a-%[1]s node_id=n-%[1]s", id)
	line(0.8, "provisioner node.instance node_id=n-%[1]s node_instance_id=i-%[1]s to=live", id)
	line(0.9, "provisioner node.occupancy node_id=n-%[1]s from=reserved to=occupied allocation_id=a-%[1]s", id)
	job = fmt.Sprintf("provider=%s provider_job=%s operation=provision allocation_id=a-%s", provider, job, id)
	line(2, "operator provider_job.state %s to=Pending", job)
	line(began, "operator provider_job.state %s to=Running", job)
	line(ended, "operator provider_job.state %s to=Succeeded", job)
	task := fmt.Sprintf("task_id=k-%[1]s workflow_id=w-%[1]s node_id=n-%[1]s type=prepare", id)
	line(ended+0.1, "provisioner task.state %s to=queued", task)
	line(ended+0.4, "provisioner task.state %s claim_id=q-%s to=dispatched", task, id)
	line(ended+0.5, "node-agent info node_id=n-%[1]s node_instance_id=i-%[1]s | prepared the disks", id)
	line(ended+0.6, "kernel error node_id=n-%[1]s node_instance_id=i-%[1]s | EDAC MC0: 1 CE memory read error", id)
	line(ended+1.4, "provisioner task.state %s claim_id=q-%s to=succeeded", task, id)
	line(ended+1.5, "provisioner workflow.state allocation_id=a-%[1]s workflow_id=w-%[1]s operation=provision to=completed", id)
	line(ended+1.6, "provisioner allocation.state allocation_id=a-%s from=provisioning to=active", id)
	return b.String()
}

// past is what happened before anybody looks: lives with AAP and with EDA, and a node that was reimaged before it had the first.
func past() string {
	var b strings.Builder
	b.WriteString("09:59:00 provisioner node.instance node_id=" + node + " node_instance_id=" + reimaged + " to=live\n")
	b.WriteString("09:59:01 provisioner node.occupancy node_id=" + node + " to=cleanup\n")
	b.WriteString("09:59:02 node-agent warn node_id=" + node + " node_instance_id=" + reimaged + " | wiping what the last one left\n")
	b.WriteString("09:59:20 provisioner node.occupancy node_id=" + node + " from=cleanup to=free\n")
	for n := range 4 {
		b.WriteString(life(2*n+1, "aap", fmt.Sprintf("aap/prod/job/%d", 100+n), 3+n, 8+2*n))
		b.WriteString(life(2*n+2, "eda", fmt.Sprintf("eda/prod/activation/%d", 200+n), 1+n, 12+3*n))
	}
	return b.String()
}

// moves are what happens while Prometheus scrapes, so that counters and histograms of changes have something to count: each is written some
// time after the one before.
var moves = []string{
	`
10:00:00.0 api         allocation.state allocation_id=a-ends-1 tenant=red to=requested
10:00:00.1 provisioner allocation.state allocation_id=a-ends-1 from=requested to=reserved
`, `
10:00:00.0 provisioner workflow.state allocation_id=a-ends-1 workflow_id=w-ends-1 operation=provision to=running
10:00:00.1 provisioner allocation.state allocation_id=a-ends-1 from=reserved to=provisioning
`, `
10:00:00.0 provisioner workflow.state allocation_id=a-ends-1 workflow_id=w-ends-1 operation=provision to=completed
10:00:00.1 provisioner allocation.state allocation_id=a-ends-1 from=provisioning to=active
`, `
10:00:00.0 provisioner allocation.state allocation_id=a-ends-1 from=active to=releasing
10:00:00.1 api         error allocation_id=a-ends-1 | upstream request timeout
`, `
10:00:00.1 provisioner allocation.state allocation_id=a-ends-1 from=releasing to=released
`,
}
