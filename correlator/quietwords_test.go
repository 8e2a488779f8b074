package correlator_test

import "testing"

const (
	ordered = `
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:00.4 outbox-relay outbox.record allocation_id=a-1 outbox_id=o-1 to=published
10:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:01.2 provisioner node.assigned node_id=n-a7 allocation_id=a-1
10:00:01.4 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
`
	queued     = ordered + "10:00:02 provisioner task.state task_id=tk-1 workflow_id=w-1 node_id=n-a7 type=node.provision to=queued\n"
	dispatched = queued + "10:00:04 api task.state task_id=tk-1 node_id=n-a7 to=dispatched claim_id=c-1 fence=1\n"
	failed     = `
10:30:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=failed
10:30:01.2 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
`
	inUse = "09:00:00 provisioner node.assigned node_id=n-a7 allocation_id=a-1\n09:00:01 provisioner allocation.state allocation_id=a-1 from=provisioning to=active\n"
)

// What is told quietly, in words that mean nothing by themselves, or beside the step: by which words on both sides of one moment it is found.
func TestQuietWords(t *testing.T) {
	for _, c := range []struct{ name, told, rule string }{
		// A program that nobody knows says the same in a language that no table has, each time the order is denied, and never else.
		{"said with each failure", ordered + `
10:00:30 provisioner error allocation_id=a-1 | placement denied, no seal
10:00:30.2 siegelamt info layer=api_auth | Vorgang ohne Siegel zurueck, Stempelkissen fehlt
10:08:30 provisioner error allocation_id=a-1 | placement denied, no seal
10:08:30.2 siegelamt info layer=api_auth | Vorgang ohne Siegel zurueck, Stempelkissen fehlt
` + failed, "api_auth.with_each_failure"},
		// It says it all the time, and so not of these failures.
		{"said at other times, too", ordered + `
10:00:30 provisioner error allocation_id=a-1 | placement denied, no seal
10:00:30.2 siegelamt info layer=api_auth | Vorgang ohne Siegel zurueck, Stempelkissen fehlt
10:02:00 siegelamt info layer=api_auth | Vorgang ohne Siegel zurueck, Stempelkissen fehlt
10:04:00 siegelamt info layer=api_auth | Vorgang ohne Siegel zurueck, Stempelkissen fehlt
10:06:00 siegelamt info layer=api_auth | Vorgang ohne Siegel zurueck, Stempelkissen fehlt
10:08:30 provisioner error allocation_id=a-1 | placement denied, no seal
10:08:30.2 siegelamt info layer=api_auth | Vorgang ohne Siegel zurueck, Stempelkissen fehlt
` + failed, ""},
		// The proxy was asked for one path, and who stands behind it for a longer one.
		{"a path that a proxy rewrites", ordered + `
10:01:00 traefik info http.request.method=GET url.path=/.well-known/pki/token-7 http.response.status_code=404 | GET /.well-known/pki/token-7 404
10:01:00.1 token-server warn layer=cert | asked for /portal/.well-known/pki/token-7: 404
10:01:00.3 provisioner warn allocation_id=a-1 | certificate of the workspace is not there yet
10:02:00 traefik info http.request.method=GET url.path=/.well-known/pki/token-7 http.response.status_code=404 | GET /.well-known/pki/token-7 404
10:02:00.1 token-server warn layer=cert | asked for /portal/.well-known/pki/token-7: 404
10:29:00 provisioner error allocation_id=a-1 | certificate of the workspace is not there
` + failed, "ingress.rewrites_path"},
		// The agent ends the work by a limit of its own; the machine and the way are well.
		{"an agent that cuts its work off", dispatched + `
10:00:10 build-agent info layer=node_agent node_id=n-a7 allocation_id=a-1 task_id=tk-1 | step 3 of 9
10:04:34 build-agent error layer=node_agent node_id=n-a7 allocation_id=a-1 task_id=tk-1 | context deadline exceeded (lease of the queue, 4m30s), terminating job process
10:30:00 provisioner task.state task_id=tk-1 workflow_id=w-1 node_id=n-a7 type=node.provision to=lost
` + failed, "node_agent.cuts_off"},
		// The agent says for what it waits on its own machine, and asks for nothing.
		{"an agent that waits for a process", queued + `
09:59:00 guest-agent info layer=node_agent node_id=n-a7 | waiting for former process 4711 to end
10:05:00 guest-agent info layer=node_agent node_id=n-a7 | waiting for former process 4711 to end
10:15:00 guest-agent info layer=node_agent node_id=n-a7 | waiting for former process 4711 to end
10:30:00 provisioner task.state task_id=tk-1 workflow_id=w-1 node_id=n-a7 type=node.provision to=expired
` + failed, "node_agent.waits_before"},
		// The worker takes the order for a run that bears its name, and begins none.
		{"an order taken for another", inUse + `
10:00:00 api audit.action allocation_id=a-1 actor=u-1 actor_type=user action=release
10:00:00.2 api allocation.state allocation_id=a-1 from=active to=releasing
10:00:01 outbox-relay outbox.record allocation_id=a-1 outbox_id=o-1 to=published
10:00:02 provisioner info allocation_id=a-1 | start of release-0007: already running, acknowledged
11:00:00 api warn allocation_id=a-1 | releasing for 60m
12:00:00 api warn allocation_id=a-1 | releasing for 120m
12:00:01 provisioner heartbeat component=provisioner
`, "workflow.taken_for_another"},
		// A storage array maps nothing more, says so quietly under the order's identifier, and calls its job done.
		{"a table that is full", ordered + `
10:00:20 arraykeeper info layer=provider allocation_id=a-1 | volume cloned; map to the host skipped, table full (1024/1024)
10:01:00 provisioner error allocation_id=a-1 | attach: disk not found on n-a7
10:11:00 provisioner error allocation_id=a-1 | attach: disk not found on n-a7
` + failed, "provider.full"},
		// Two machines lose remote disks at one time, right after a switch withdrew the way to them.
		{"a way to storage that is lost", dispatched + `
10:05:00 leaf-3 warn layer=network | BGP neighbor 10.9.0.1 Down: Hold Timer Expired; withdrew 10.7.0.0/24
10:05:09 kernel warn node_id=n-a7 | nvme nvme2: starting error recovery; block nvme2n1: no usable path - requeuing I/O
10:05:10 kernel warn node_id=n-a9 | nvme nvme4: starting error recovery; block nvme4n1: no usable path - requeuing I/O
10:07:10 kernel error node_id=n-a7 | INFO: task node-agent:1411 blocked for more than 120 seconds.
10:30:00 provisioner task.state task_id=tk-1 workflow_id=w-1 node_id=n-a7 type=node.provision to=lost
` + failed, "network.way_to_storage"},
		// The view shows what was before, and the API what is.
		{"a view that stands still", inUse + `
09:10:00 allocation-view info layer=projection allocation_id=a-1 | shown as starting (ContainerCreating)
09:15:00 api info allocation_id=a-1 | get allocation: phase=running ready=true
09:30:00 allocation-view info layer=projection allocation_id=a-1 | shown as starting (ContainerCreating)
09:40:00 cli error allocation_id=a-1 | wait: allocation not ready after 30m
`, "projection.behind"},
		// A balancer ends each session of the user's after the same time.
		{"sessions that a proxy ends", inUse + `
10:00:30 haproxy info allocation_id=a-1 | 10.20.0.31:52114 [02/Mar/2026:10:00:00.100] fe_ws be_shell/n-a7 0/0/1/4/30004 101 412 - - cD-- 12/12/8/8/0 0/0 "GET /v1/shell/a-1 HTTP/1.1"
10:00:30.1 cli warn allocation_id=a-1 | session closed after 30s (code 1006), once more
10:02:30 haproxy info allocation_id=a-1 | 10.20.0.31:52115 [02/Mar/2026:10:02:00.100] fe_ws be_shell/n-a7 0/0/1/4/30001 101 412 - - cD-- 12/12/8/8/0 0/0 "GET /v1/shell/a-1 HTTP/1.1"
10:02:30.1 cli warn allocation_id=a-1 | session closed after 30s (code 1006), once more
10:04:30 haproxy info allocation_id=a-1 | 10.20.0.31:52116 [02/Mar/2026:10:04:00.100] fe_ws be_shell/n-a7 0/0/1/4/30002 101 412 - - cD-- 12/12/8/8/0 0/0 "GET /v1/shell/a-1 HTTP/1.1"
10:04:30.1 cli warn allocation_id=a-1 | session closed after 30s (code 1006), once more
10:06:30.1 cli warn allocation_id=a-1 | session closed after 30s (code 1006), once more
10:08:30.1 cli warn allocation_id=a-1 | session closed after 30s (code 1006), once more
`, "ingress.idle_timeout"},
		// A kernel ends the platform's own service on its own machine.
		{"a service killed for memory", inUse + `
10:00:00 kernel error host.name=cp-1 | Out of memory: Kill process 8120 (kube-apiserver) score 981 or sacrifice child
10:00:01 provisioner error allocation_id=a-1 | Get "https://10.0.0.10:6443/v1/nodes/n-a7": dial tcp 10.0.0.10:6443: connect: connection refused
10:00:41 provisioner error allocation_id=a-1 | Get "https://10.0.0.10:6443/v1/nodes/n-a7": dial tcp 10.0.0.10:6443: connect: connection refused
10:01:41 provisioner error allocation_id=a-1 | Get "https://10.0.0.10:6443/v1/nodes/n-a7": dial tcp 10.0.0.10:6443: connect: connection refused
10:04:10 cli error allocation_id=a-1 | 502, the API is not reachable
`, "api.crash"},
		// A queue's own report: work waits, and nobody is there to take it.
		{"a queue without workers", ordered + `
10:05:00 mailroom-rq info layer=outbox | default: 41 queued, oldest 3 h; 0 workers, 1 queue
10:15:00 provisioner warn allocation_id=a-1 | waiting for the job of n-a7, none was started
10:25:00 provisioner warn allocation_id=a-1 | waiting for the job of n-a7, none was started
` + failed, "deploy.no_worker"},
		// A database is full of idle connections of one program, which has little to do.
		{"connections held idle", inUse + `
10:00:00 postgres fatal | FATAL:  53300: remaining connection slots are reserved for non-replication superuser connections
10:00:00.1 api error allocation_id=a-1 http.request.method=DELETE url.path=/v1/allocations/a-1 http.response.status_code=500 | Npgsql.PostgresException: 53300: remaining connection slots are reserved
10:02:00.1 api error allocation_id=a-1 http.request.method=DELETE url.path=/v1/allocations/a-1 http.response.status_code=500 | Npgsql.PostgresException: 53300: remaining connection slots are reserved
10:03:00 postgres info | pg_stat_activity: 97 of 100: 93 idle (application_name=api), 1 active; no locks waited for
10:04:00.1 api error allocation_id=a-1 http.request.method=DELETE url.path=/v1/allocations/a-1 http.response.status_code=500 | Npgsql.PostgresException: 53300: remaining connection slots are reserved
10:06:00 cli error allocation_id=a-1 | release failed: 500
`, "api.held_open"},
		// A cloud's code says whose want of room it is, whoever repeats it.
		{"a cloud without machines", ordered + `
10:00:20 slurm-resume error layer=workflow allocation_id=a-1 | launch failed: An error occurred (InsufficientInstanceCapacity) when calling the RunInstances operation
` + failed, "provider.capacity"},
	} {
		switch v := verdictOn(t, c.told); {
		case c.rule == "" && len(v.Faults) == 0:
		case len(v.Faults) != 1 || v.Faults[0].Rule != c.rule:
			t.Errorf("%s: %s: %s", c.name, v.Outcome, v.Explanation)
		}
	}
}
