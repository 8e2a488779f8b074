package correlator_test

import "testing"

// Who did not run tells of others what was long before: a wait for a pool that ends after seven seconds by its own words, and lasted forty-five, is nothing against the pool.
func TestWhoSleptAccusesNobody(t *testing.T) {
	v := verdictOn(t, inUse+`
10:00:00 provisioner span 45027ms error allocation_id=a-1 trace_id=aa01 span_id=a1 name="POST /internal/v1/nodes/enroll" http.response.status_code=500 error.message="enrol node: begin: timed out waiting for connection from pool: none within 7s, 1 of 1 in use"
10:00:00.1 db span 45015ms error allocation_id=a-1 trace_id=aa01 span_id=a2 parent_span_id=a1 name="enrol node" db.system=sqlite exception.message="begin: timed out waiting for connection from pool: none within 7s, 1 of 1 in use" | begin: timed out waiting for connection from pool: none within 7s, 1 of 1 in use
10:00:12 cli span 8002ms error allocation_id=a-1 trace_id=aa02 span_id=b1 name="DELETE /v1/allocations/a-1" http.response.status_code=504
10:00:12.1 ingress-proxy span 8001ms error allocation_id=a-1 trace_id=aa02 span_id=b2 parent_span_id=b1 name="ingress DELETE" http.response.status_code=504 proxy.flags=UT upstream.address=127.0.0.1:35679
10:00:12.2 fulfillment-api span 8000ms error allocation_id=a-1 trace_id=aa02 span_id=b3 parent_span_id=b2 name="DELETE /api/v1/allocations/a-1" http.response.status_code=502
10:00:45 provisioner span 30us error allocation_id=a-1 trace_id=aa02 span_id=b4 parent_span_id=b3 name="DELETE /v1/allocations/a-1" http.response.status_code=503
10:00:45.1 db error allocation_id=a-1 trace_id=aa01 span_id=a2 | transaction enrol node: begin: timed out waiting for connection from pool: none within 7s, 1 of 1 in use
10:02:00 provisioner heartbeat component=provisioner
10:02:00 db heartbeat component=db
10:02:00 fulfillment-api heartbeat component=fulfillment-api
`)
	for _, f := range v.Faults {
		if f.Layer == "db" {
			t.Errorf("%s: %s", f.Rule, f.Summary)
		}
	}
}
