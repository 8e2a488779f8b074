package correlator_test

import (
	"fmt"
	"strings"
	"testing"
)

// Where nobody tells what became of an order, the two parties between whom it was lost are what is missing, and no other.
func TestLostBetween(t *testing.T) {
	const (
		released = `
10:00:00 cli span 210ms error allocation_id=a-1 name="POST /v1/allocations/a-1/release" http.request.method=POST http.response.status_code=503
10:02:00 cli span 210ms error allocation_id=a-1 name="POST /v1/allocations/a-1/release" http.request.method=POST http.response.status_code=503
10:04:00 cli span 210ms error allocation_id=a-1 name="POST /v1/allocations/a-1/release" http.request.method=POST http.response.status_code=503
`
		run = `
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:01 operator workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:02 operator allocation.state allocation_id=a-1 from=requested to=provisioning
`
		over = `
10:20:00 operator workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=timed_out
10:20:01 operator allocation.state allocation_id=a-1 from=provisioning to=failed reason=deadline
10:21:00 operator heartbeat component=operator
10:21:00 api heartbeat component=api
`
		task = `
10:00:02 operator node.assigned allocation_id=a-1 node_id=n-1
10:00:03 operator task.state allocation_id=a-1 task_id=tk-1 node_id=n-1 type=node.provision to=queued
10:18:03 operator task.state allocation_id=a-1 task_id=tk-1 node_id=n-1 type=node.provision to=expired
`
	)
	for _, c := range []struct{ name, told, missing string }{
		{"a client that was answered, and nobody else", inUse + released + "10:06:00 provisioner heartbeat component=provisioner\n", "ingress no telemetry, api no telemetry"},
		{"a proxy that had no answer", inUse + `
10:00:00 envoy warn allocation_id=a-1 http.request.method=DELETE url.path=/v1/allocations/a-1 http.response.status_code=504 upstream.address=10.9.0.4:8080 proxy.flags=UT | DELETE /v1/allocations/a-1 504 UT
10:00:00.1 cli span 15002ms error allocation_id=a-1 name="DELETE /v1/allocations/a-1" http.response.status_code=504
10:05:00 envoy warn allocation_id=a-1 http.request.method=DELETE url.path=/v1/allocations/a-1 http.response.status_code=504 upstream.address=10.9.0.4:8080 proxy.flags=UT | DELETE /v1/allocations/a-1 504 UT
10:05:00.1 cli span 15002ms error allocation_id=a-1 name="DELETE /v1/allocations/a-1" http.response.status_code=504
10:06:00 envoy heartbeat component=envoy
`, "ingress its own word, api no telemetry"},
		{"a run whose last word names whom it asked", run + "10:00:03 operator info allocation_id=a-1 | launching job template 40 at aap\n" + over, "workflow its own word, provider no telemetry"},
		{"a run of which nothing is heard, on a platform without an outbox", `
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:01 api info allocation_id=a-1 | instance created
10:01:00 operator heartbeat component=operator
10:20:00 operator workflow.state allocation_id=a-2 workflow_id=w-2 operation=provision to=running
10:30:00 operator heartbeat component=operator
10:30:00 aap heartbeat component=aap
10:30:00 api heartbeat component=api
`, "api its own word, workflow its own word"},
		{"a task, where neither agent nor machine is heard of", run + task + over, "node_agent no telemetry, node no telemetry"},
		{"a task, where the agent is", run + task + "10:10:00 node-agent heartbeat component=node-agent node_id=n-1\n10:11:00 api heartbeat component=api\n" + over, "api its own word, node_agent its own word"},
	} {
		v := verdictOn(t, c.told)
		var got []string
		for _, m := range v.Missing {
			what, _, _ := strings.Cut(m.Why, " on ")
			got = append(got, m.Layer+" "+strings.TrimRight(what, "0123456789:– "))
		}
		if v.Outcome != "undetermined" || strings.Join(got, ", ") != c.missing {
			t.Errorf("%s: %s, missing %q, want %q", c.name, v.Outcome, got, c.missing)
		}
		if pair := strings.Split(c.missing, ", "); len(v.Candidates) < 2 || v.Candidates[0].Why == v.Candidates[1].Why && strings.Contains(pair[0], "own word") != strings.Contains(pair[1], "own word") {
			t.Errorf("%s: candidates %v", c.name, v.Candidates)
		}
		if pair := fmt.Sprintf("between %s and %s is not told", v.Missing[0].Layer, v.Missing[1].Layer); !strings.Contains(v.Explanation, pair) {
			t.Errorf("%s: %q does not say %q", c.name, v.Explanation, pair)
		}
	}
}
