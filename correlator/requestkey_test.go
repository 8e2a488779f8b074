package correlator_test

import (
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/story"
)

// A client's line that says nothing of what was asked belongs to the request whose trace it is in: once that is answered, nothing is open.
func TestALineOfARequestIsMadeGoodWithIt(t *testing.T) {
	records, err := story.Parse(`
def A allocation_id=a-1
10:00:00 api allocation.state @A from=reserved to=provisioning
10:01:00 cli span 2ms error name="get allocation" kind=client @A trace_id=t1 span_id=s1 http.response.status_code=503
10:01:00 ingress-proxy error @A trace_id=t1 http.response.status_code=503 | GET /v1/allocations/a-1 503 flags=UH upstream=- 0ms
10:01:00.1 cli error @A trace_id=t1 http.response.status_code=503 | get a-1: 503 Service Unavailable: no healthy upstream
10:01:40 cli span 2ms error name="get allocation" kind=client @A trace_id=t2 span_id=s2 http.response.status_code=503
10:01:40 ingress-proxy error @A trace_id=t2 http.response.status_code=503 | GET /v1/allocations/a-1 503 flags=UH upstream=- 0ms
10:01:40.1 cli error @A trace_id=t2 http.response.status_code=503 | get a-1: 503 Service Unavailable: no healthy upstream
10:02:30 cli span 2ms name="get allocation" kind=client @A trace_id=t3 span_id=s3 http.response.status_code=200
10:02:31 operator allocation.state @A from=provisioning to=active
10:05:00 ingress-proxy heartbeat component=ingress-proxy
`)
	if err != nil {
		t.Fatal(err)
	}
	v := query.Analyze(correlator.NewDataset(records, nil, defaultProfile(t), correlator.AsOf{}), rules.All()).Allocations[0].Verdict
	if v.Outcome != correlator.None {
		t.Error(show(v))
	}
}
