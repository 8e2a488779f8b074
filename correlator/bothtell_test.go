package correlator_test

import "testing"

// Who refuses and who is refused tell of the same, each in own words and of whatever level; a job's end is the provider's word, and not to have asked for it the platform's.
func TestBothTellOfARefusal(t *testing.T) {
	const run = `
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:01 operator workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:02 operator allocation.state allocation_id=a-1 from=requested to=provisioning
10:00:03 operator provider_job.state allocation_id=a-1 workflow_id=w-1 provider=aap provider_job=aap/main/job/7 operation=provision to=Running provider_status=running
10:00:33 operator provider_job.poll allocation_id=a-1 provider_job=aap/main/job/7 ok=true
10:01:03 operator provider_job.poll allocation_id=a-1 provider_job=aap/main/job/7 ok=true
`
	const over = `
10:10:03 operator heartbeat component=operator
10:20:03 operator heartbeat component=operator
10:20:06 aap heartbeat component=aap
10:30:03 operator workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=timed_out
10:30:04 operator allocation.state allocation_id=a-1 from=provisioning to=failed reason=budget_exceeded
`
	for _, c := range []struct{ name, told, rule string }{
		// An API gives its reason at INFO, with the status as a field.
		{"a request that the API calls malformed", inUse + `
10:02:02.1 api info allocation_id=a-1 | {"level":"info","msg":"request rejected","path":"/v1/allocations/a-1/release","status":400,"err":"json: unknown field \"wipe_polcy\""}
10:02:02.3 cli error allocation_id=a-1 | release a-1: server said 400 Bad Request
10:03:11 api info allocation_id=a-2 | {"level":"info","msg":"release accepted","path":"/v1/allocations/a-2/release","status":202}
10:05:02.1 api info allocation_id=a-1 | {"level":"info","msg":"request rejected","path":"/v1/allocations/a-1/release","status":400,"err":"json: unknown field \"wipe_polcy\""}
10:05:02.3 cli error allocation_id=a-1 | release a-1: server said 400 Bad Request
10:10:02.1 api info allocation_id=a-1 | {"level":"info","msg":"request rejected","path":"/v1/allocations/a-1/release","status":400,"err":"json: unknown field \"wipe_polcy\""}
10:10:02.3 cli error allocation_id=a-1 | release a-1: server said 400 Bad Request, giving up
10:12:00 api heartbeat component=api
10:12:10 provisioner heartbeat component=provisioner
`, "client.malformed"},
		// The authority that turns a machine away, beside the last word of a run that waited for it.
		{"an authority and whom it refuses", ordered + `
10:01:10.4 kubelet error layer=node_agent allocation_id=a-1 | Unable to register node with API server err="Unauthorized"
10:01:10.5 iam-authenticator warn layer=api_auth | level=warning msg="access denied" arn="role/fleet" error="ARN is not mapped: role/fleet"
10:02:50.4 kubelet error layer=node_agent allocation_id=a-1 | Unable to register node with API server err="Unauthorized"
10:02:50.5 iam-authenticator warn layer=api_auth | level=warning msg="access denied" arn="role/fleet" error="ARN is not mapped: role/fleet"
10:04:30.4 kubelet error layer=node_agent allocation_id=a-1 | Unable to register node with API server err="Unauthorized"
10:04:30.5 iam-authenticator warn layer=api_auth | level=warning msg="access denied" arn="role/fleet" error="ARN is not mapped: role/fleet"
10:21:00 karpenter error layer=workflow allocation_id=a-1 | {"level":"ERROR","message":"terminating due to registration ttl","ttl":"20m0s"}
` + failed, "api_auth.with_each_failure"},
		// A well-known authority whose layer nobody states.
		{"Keystone's keys", inUse + `
10:02:02.1 keystone warn allocation_id=a-1 | WARNING keystone.server.flask.application [req-b7] Could not recognize Fernet token
10:02:02.3 cli error allocation_id=a-1 | The request you have made requires authentication. (HTTP 401)
10:05:02.1 keystone warn allocation_id=a-1 | WARNING keystone.server.flask.application [req-b8] Could not recognize Fernet token
10:05:02.3 cli error allocation_id=a-1 | The request you have made requires authentication. (HTTP 401)
10:09:02.1 keystone warn allocation_id=a-1 | WARNING keystone.server.flask.application [req-b9] Could not recognize Fernet token
10:09:02.3 cli error allocation_id=a-1 | The request you have made requires authentication. (HTTP 401)
10:12:00 api heartbeat component=api
10:12:10 provisioner heartbeat component=provisioner
`, "api_auth.token_invalid"},
		{"an end that nobody asked for any more", run + `
10:04:11 aap info allocation_id=a-1 provider_job=aap/main/job/7 | job 7 changed state to successful, elapsed 243.9
10:04:12 aap info allocation_id=a-1 provider_job=aap/main/job/7 | finalizer set, annotation written for a-1
` + over, "workflow.asks_no_more"},
		// What the provider told was the end of a part of the job, and it was asked after that.
		{"the end of a part", run + `
10:04:11 aap info allocation_id=a-1 provider_job=aap/main/job/7 | task 3 of job 7 successful
10:06:03 operator provider_job.poll allocation_id=a-1 provider_job=aap/main/job/7 ok=true
` + over, "provider.owed"},
	} {
		switch v := verdictOn(t, c.told); {
		case c.rule == "" && v.Outcome == "undetermined":
		case len(v.Faults) != 1 || v.Faults[0].Rule != c.rule:
			t.Errorf("%s: %s: %s", c.name, v.Outcome, v.Explanation)
		}
	}
}
