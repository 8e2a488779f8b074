package incident_test

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
)

// Two callers meet a proxy without a back end, and one of them gives up.
const turnedAway = `
10:00:00 cli span 20ms error kind=client allocation_id=a-1 trace_id=t1 http.request.method=POST url.path=/v1/allocations http.response.status_code=503
10:00:00 envoy log allocation_id=a-1 trace_id=t1 http.request.method=POST url.path=/v1/allocations http.response.status_code=503 proxy.flags=UH upstream.address="" | access line
10:00:05 cli span 20ms error kind=client allocation_id=a-2 trace_id=t2 http.request.method=POST url.path=/v1/allocations http.response.status_code=503
10:00:05 envoy log allocation_id=a-2 trace_id=t2 http.request.method=POST url.path=/v1/allocations http.response.status_code=503 proxy.flags=UH upstream.address="" | access line
10:00:06 api heartbeat component=api
`

// gotThrough is the other one's success, later.
const gotThrough = `
10:03:00 cli span 20ms kind=client allocation_id=a-2 trace_id=t3 http.request.method=POST url.path=/v1/allocations http.response.status_code=201
10:03:00 api allocation.state allocation_id=a-2 to=requested
`

// An incident is over when its cause is proven gone, though not every victim repeats its call; and not before.
func TestAnIncidentClosesWhenOthersGetThrough(t *testing.T) {
	const again = `
10:04:00 cli span 20ms error kind=client allocation_id=a-3 trace_id=t4 http.request.method=POST url.path=/v1/allocations http.response.status_code=503
10:04:00 envoy log allocation_id=a-3 trace_id=t4 http.request.method=POST url.path=/v1/allocations http.response.status_code=503 proxy.flags=UH upstream.address="" | access line
`
	for _, c := range []struct {
		name, text string
		open       bool
	}{
		{"nobody got through", turnedAway, true},
		{"one got through", turnedAway + gotThrough, false},
		{"one got through, and another one is turned away again", turnedAway + gotThrough + again, true},
	} {
		list := incident.Group(assessments(t, c.text, correlator.AsOf{}), 0, incident.Window)
		if len(list) != 1 || list[0].Open != c.open || !strings.HasPrefix(told(list), "ingress.no_backend") {
			t.Errorf("%s: open should be %v:\n%s", c.name, c.open, told(list))
		}
		for _, v := range list[0].Victims {
			if v.ID == "a-1" && (v.ClearedAt != nil || v.Open != c.open) {
				t.Errorf("%s: of a-1: cleared %v, open %v", c.name, v.ClearedAt, v.Open)
			}
		}
	}
}
