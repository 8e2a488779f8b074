package correlator_test

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// A store that no catalogue knows refuses every write in a language that nobody reads here. Its own errors are its own where who asks it repeats its words
// behind its name; where nobody does, they may be about anything.
func TestWhoseRefusalIsRepeatedBehindItsName(t *testing.T) {
	const told = `
09:00:00 api allocation.state allocation_id=a-1 to=requested
09:00:30 provisioner allocation.state allocation_id=a-1 from=requested to=active
10:05:40 cofre error layer=db | segmento 88213: soma lida 7f21, soma esperada 91c0; recuso continuar
10:10:00 api span 31ms error allocation_id=a-1 name="POST /v1/allocations/{id}/release" http.response.status_code=503 trace_id=r1 span_id=r1a status_message="cofre: gravação recusada"
10:10:00 cli span 40ms error kind=client allocation_id=a-1 name="POST /v1/allocations/{id}/release" http.response.status_code=503 trace_id=r1 span_id=c1a
10:20:00 api span 29ms error allocation_id=a-1 name="POST /v1/allocations/{id}/release" http.response.status_code=503 trace_id=r2 span_id=r2a status_message="cofre: gravação recusada"
10:20:00 cli span 40ms error kind=client allocation_id=a-1 name="POST /v1/allocations/{id}/release" http.response.status_code=503 trace_id=r2 span_id=c2a
10:25:00 api heartbeat component=api
10:25:01 cofre heartbeat layer=db component=cofre
`
	if v := verdictOn(t, told); v.Outcome != correlator.Attributed || v.Faults[0].Layer != semconv.LayerDB {
		t.Errorf("%s: %s", v.Outcome, v.Explanation)
	}
	if v := verdictOn(t, strings.ReplaceAll(told, "cofre: grava", "grava")); v.Outcome == correlator.Attributed && v.Faults[0].Layer == semconv.LayerDB {
		t.Errorf("though nobody repeats it: %s: %s", v.Outcome, v.Explanation)
	}
}

// The agent of this company is a program of its own, "hauswart", which its own lines begin with and which its service's name does not say. It dies each time
// it is handed one task; the machine is well.
func TestAProgramDiesUnderTheNameOfItsOwnLines(t *testing.T) {
	const told = `
09:10:00 node-agent info node_id=n-1 node_instance_id=n-1-i1 | hauswart 5.1: task t-0 create_user name=berg finished, 4 s
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:01.1 provisioner node.assigned node_id=n-1 allocation_id=a-1
10:00:01.2 provisioner allocation.state allocation_id=a-1 from=requested to=reserved
10:00:01.3 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
10:00:02 api task.state allocation_id=a-1 task_id=t-1 workflow_id=w-1 node_id=n-1 type=allocation.provision_user to=queued
10:00:05 api task.state task_id=t-1 node_id=n-1 node_instance_id=n-1-i1 to=dispatched claim_id=c1 fence=1 lease_until=2026-03-02T10:10:05Z
10:00:05.2 node-agent info node_id=n-1 node_instance_id=n-1-i1 task_id=t-1 | hauswart 5.1: task t-1 create_user begun
10:00:05.4 kernel error node_id=n-1 node_instance_id=n-1-i1 | hauswart[2210]: segfault at 7ffd1c2b0000 ip 000055d0c41a2f10 sp 00007ffd1c2affb0 error 6 in hauswart[55d0c4100000+1c0000]
10:00:05.5 journald warn node_id=n-1 node_instance_id=n-1-i1 | systemd[1]: hauswart.service: Main process exited, code=dumped, status=11/SEGV
10:00:05.6 journald warn node_id=n-1 node_instance_id=n-1-i1 | systemd[1]: hauswart.service: Failed with result 'core-dump'.
10:00:20 journald error node_id=n-1 node_instance_id=n-1-i1 | systemd[1]: hauswart.service: Start request repeated too quickly.
10:05:00 node heartbeat component=node node_id=n-1
10:10:06 api task.state task_id=t-1 node_id=n-1 to=lost claim_id=c1 fence=1 reason=lease_expired
10:10:07 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=failed
10:10:07.1 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed reason=task_lost
10:15:00 node heartbeat component=node node_id=n-1
10:15:00.1 api heartbeat component=api
10:15:00.2 provisioner heartbeat component=provisioner
`
	if v := verdictOn(t, told); v.Outcome != correlator.Attributed || v.Faults[0].Rule != "node_agent.crash" {
		t.Errorf("%s: %s", v.Outcome, v.Explanation)
	}
	if v := verdictOn(t, strings.ReplaceAll(told, "| hauswart 5.1: task", "| task")); v.Outcome == correlator.Attributed && v.Faults[0].Layer == semconv.LayerNodeAgent {
		t.Errorf("though nothing says whose program that is: %s", v.Explanation)
	}
}
