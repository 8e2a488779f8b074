package correlator_test

import "testing"

// What a view, a proxy or an API only hands on or shows, and what is wrong with what they were sent.
func TestWhatIsHandedOn(t *testing.T) {
	for _, c := range []struct{ name, told, rule string }{
		// The view goes on showing the revision before the one that its controller told of.
		{"an older revision", inUse + `
09:50:10 rollouts-controller info layer=workflow allocation_id=a-1 | Rollout completed update to revision 7
10:00:05 dashboard info layer=projection allocation_id=a-1 | Progressing, step 2/4, revision 6 (list view)
10:05:05 dashboard info layer=projection allocation_id=a-1 | Progressing, step 2/4, revision 6 (list view)
10:05:10 ui error layer=client allocation_id=a-1 | request to promote refused: view says step 2/4
10:10:05 dashboard info layer=projection allocation_id=a-1 | Progressing, step 2/4, revision 6 (list view)
10:10:10 ui error layer=client allocation_id=a-1 | request to promote refused: view says step 2/4
10:15:10 ui error layer=client allocation_id=a-1 | request to promote refused: view says step 2/4
`, "projection.older_version"},
		// It comes to it.
		{"a view that comes to it", inUse + `
09:50:10 rollouts-controller info layer=workflow allocation_id=a-1 | Rollout completed update to revision 7
10:00:05 dashboard info layer=projection allocation_id=a-1 | revision 6 (list view)
10:02:05 dashboard info layer=projection allocation_id=a-1 | revision 6 (list view)
10:04:05 dashboard info layer=projection allocation_id=a-1 | revision 7 (list view)
10:05:10 ui error layer=client allocation_id=a-1 | request to promote refused: not yet
10:10:10 ui error layer=client allocation_id=a-1 | request to promote refused: not yet
10:15:10 ui error layer=client allocation_id=a-1 | request to promote refused: not yet
`, ""},
		// A proxy's spans with a status that proxies do not make, and words that repeat.
		{"an answer that is handed on", inUse + `
10:00:01 cli error allocation_id=a-1 | rpc error: code = Internal desc = failed to check permissions
10:00:01.1 ingress span 212ms error allocation_id=a-1 name=/v1.Machines/Delete rpc.grpc.status_code=13
10:01:01 cli error allocation_id=a-1 | rpc error: code = Internal desc = failed to check permissions
10:01:01.1 ingress span 212ms error allocation_id=a-1 name=/v1.Machines/Delete rpc.grpc.status_code=13
10:03:01 cli error allocation_id=a-1 | rpc error: code = Internal desc = failed to check permissions
10:03:01.1 ingress span 212ms error allocation_id=a-1 name=/v1.Machines/Delete rpc.grpc.status_code=13
10:04:00 db heartbeat component=db
10:05:00 ingress heartbeat component=ingress
10:12:00 ingress heartbeat component=ingress
`, ""},
		// The API tells, as a warning, what is wrong with what one caller sends.
		{"a body that cannot be read", inUse + `
10:00:02 api warn allocation_id=a-1 | 400 POST /v3/allocations/a-1/release: json: cannot unmarshal string into Go struct field ReleaseRequest.drain_seconds of type int
10:00:02.1 cli error allocation_id=a-1 | Error: release a-1: unexpected status 400: invalid request body
10:02:32 api warn allocation_id=a-1 | 400 POST /v3/allocations/a-1/release: json: cannot unmarshal string into Go struct field ReleaseRequest.drain_seconds of type int
10:02:32.1 cli error allocation_id=a-1 | Error: release a-1: unexpected status 400: invalid request body
10:06:32 api warn allocation_id=a-1 | 400 POST /v3/allocations/a-1/release: json: cannot unmarshal string into Go struct field ReleaseRequest.drain_seconds of type int
10:06:32.1 cli error allocation_id=a-1 | Error: release a-1: unexpected status 400: invalid request body
10:07:00 api info allocation_id=a-2 | 202 POST /v3/allocations/a-2/release
`, "client.malformed"},
		// Both sides tell that a field is not known, which stands in what was sent.
		{"a field that is not known", inUse + `
10:00:05 api warn allocation_id=a-1 | 400 bad_request: json: unknown field "nodePool" (removed in API v2) user_agent=platformctl/1.4.2
10:00:05.1 cli error allocation_id=a-1 | platformctl 1.4.2: release failed: 400 unknown field "nodePool"; this client supports API v1 only
10:05:05 api warn allocation_id=a-1 | 400 bad_request: json: unknown field "nodePool" (removed in API v2) user_agent=platformctl/1.4.2
10:05:05.1 cli span 22ms error allocation_id=a-1 name="POST /v2/allocations/{id}/release" http.response.status_code=400
10:10:05 api warn allocation_id=a-1 | 400 bad_request: json: unknown field "nodePool" (removed in API v2) user_agent=platformctl/1.4.2
10:10:05.1 cli span 22ms error allocation_id=a-1 name="POST /v2/allocations/{id}/release" http.response.status_code=400
10:15:05 api warn allocation_id=a-1 | 400 bad_request: json: unknown field "nodePool" (removed in API v2) user_agent=platformctl/1.4.2
10:15:05.1 cli span 22ms error allocation_id=a-1 name="POST /v2/allocations/{id}/release" http.response.status_code=400
`, "client.malformed"},
		// A quota that a rollout brought where there was none.
		{"a quota that was rolled out", `
09:30:00 argocd deploy.change component=runners-quota from=none to=rev-3 config="requests.cpu=1"
` + ordered + `
10:00:06 runner-controller error layer=workflow allocation_id=a-1 | Failed to create a pod: pods "runner-8j" is forbidden: exceeded quota: systems-quota, requested: requests.cpu=900m, used: requests.cpu=900m, limited: requests.cpu=1
10:10:06 runner-controller error layer=workflow allocation_id=a-1 | Failed to create a pod: pods "runner-8j" is forbidden: exceeded quota: systems-quota, requested: requests.cpu=900m, used: requests.cpu=900m, limited: requests.cpu=1
` + failed, "deploy.quota"},
		// A field that may not be set turns nobody away, and who says so is not at fault.
		{"a field that may not be set", inUse + `
10:00:27.5 keys-synchronizer error layer=workflow allocation_id=a-1 | failed adding finalizer: Cluster "6x" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted
10:00:27.6 kube-apiserver info layer=api | "HTTP" verb="PUT" URI="/apis/v1/clusters/6x" userAgent="master-controller-manager" resp=422
10:04:27.5 keys-synchronizer error layer=workflow allocation_id=a-1 | failed adding finalizer: Cluster "6x" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted
10:04:27.6 kube-apiserver info layer=api | "HTTP" verb="PUT" URI="/apis/v1/clusters/6x" userAgent="master-controller-manager" resp=422
10:08:27.5 keys-synchronizer error layer=workflow allocation_id=a-1 | failed adding finalizer: Cluster "6x" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted
10:08:27.6 kube-apiserver info layer=api | "HTTP" verb="PUT" URI="/apis/v1/clusters/6x" userAgent="master-controller-manager" resp=422
`, ""},
		// A server that has no certificate to show.
		{"no certificate to show", ordered + `
10:00:30 provisioner error allocation_id=a-1 | read log: Get https://192.168.80.234:10250/containerLogs/x: remote error: tls: internal error
10:00:30.1 kubelet warn node_id=n-a7 | http: TLS handshake error from 192.168.80.2:37000: no certificate available
10:10:30 provisioner error allocation_id=a-1 | read log: Get https://192.168.80.234:10250/containerLogs/x: remote error: tls: internal error
10:10:30.1 kubelet warn node_id=n-a7 | http: TLS handshake error from 192.168.80.2:37000: no certificate available
` + failed, "cert.not_issued"},
		// Who is cut off is silent by that.
		{"an agent that was cut off", ordered + `
10:00:12 node-agent task.state node_id=n-a7 task_id=tk-1 type=node.provision to=dispatched claim_id=c-1 fence=3 lease_until=2026-03-02T10:05:12Z
10:00:13 node-agent task.state node_id=n-a7 task_id=tk-1 type=node.provision to=running claim_id=c-1
10:01:40 fabric-warden warn layer=network | spine2: rule 4411 hits 18204 in 60s; flows from zone-b to node-api are being discarded
10:01:52 node-agent error node_id=n-a7 server.address=10.8.0.20 | lease renew: error sending request: operation timed out
10:02:52 node-agent error node_id=n-a7 server.address=10.8.0.20 | lease renew: error trying to connect: tcp connect error: Connection timed out (os error 110)
10:05:13 provisioner task.state node_id=n-a7 workflow_id=w-1 task_id=tk-1 type=node.provision to=lost reason=lease_expired
10:06:40 fabric-warden warn layer=network | spine2: rule 4411 hits 20977 in 60s; flows from zone-b to node-api are being discarded
10:10:15 provisioner task.state node_id=n-a7 workflow_id=w-1 task_id=tk-2 type=node.provision to=expired reason=never_claimed
10:11:01 host heartbeat component=host node_id=n-a7
10:12:00 api heartbeat component=api
` + failed, "network.timeout"},
	} {
		switch v := verdictOn(t, c.told); {
		case c.rule == "" && v.Outcome == "undetermined":
		case len(v.Faults) != 1 || v.Faults[0].Rule != c.rule:
			t.Errorf("%s: %s: %s", c.name, v.Outcome, v.Explanation)
		}
	}
}
