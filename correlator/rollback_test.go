package correlator_test

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/internal/story"
)

// What a rollout broke is mended when what ran before is back: what begins after that is not its doing, and not that of the way back either, unless
// somebody says that the world has moved on since.
func TestARolloutThatWasTakenBack(t *testing.T) {
	const request = `
10:00:00 provisioner allocation.state allocation_id=a-1 from=provisioning to=active
10:20:00 client info allocation_id=a-1 request_id=r-1 | releasing a-1
10:20:00 ingress info allocation_id=a-1 request_id=r-1 http.request.method=DELETE url.path=/v1/allocations/a-1 http.response.status_code=500 upstream.address=10.0.0.1:8080
10:20:00 api error allocation_id=a-1 request_id=r-1 error.type=internal | LINE
10:20:01 client error allocation_id=a-1 request_id=r-1 | release of a-1: 500 internal error
10:20:30 client error allocation_id=a-1 request_id=r-2 | release of a-1: 500 internal error
10:21:00 api heartbeat component=api
`
	const out, back = "10:10:00 deployer deploy.change component=api version=2 from=1 to=2\n", "10:15:00 deployer deploy.change component=api version=1 from=2 to=1\n"
	// What it broke for somebody else, said under nobody's identifiers, and for this allocation.
	const elses = "10:12:00 api error | check quota: quota.url is missing\n"
	const earlier = `10:12:00 api error allocation_id=a-1 request_id=r-0 error.type=internal | check quota: quota.url is missing
10:12:01 client error allocation_id=a-1 request_id=r-0 | release of a-1: 500 internal error
10:12:30 client error allocation_id=a-1 request_id=r-0 | release of a-1: 500 internal error
`
	for _, c := range []struct {
		name, rollouts, line string
		blamed               bool
	}{
		{"rolled out", out, "encode quota snapshot: json: unsupported type: chan int", true},
		{"rolled out and taken back", out + back, "encode quota snapshot: json: unsupported type: chan int", false},
		{"taken back, and the schema has moved on", out + back, `release: column "lease" does not exist in schema version 2`, true},
		{"taken back before it began, which others saw it break", out + elses + back, "encode quota snapshot: json: unsupported type: chan int", false},
		{"taken back while it failed", out + earlier + back, "encode quota snapshot: json: unsupported type: chan int", true},
	} {
		records, err := story.Parse(c.rollouts + strings.ReplaceAll(request, "LINE", c.line))
		if err != nil {
			t.Fatal(err)
		}
		v := query.Analyze(correlator.NewDataset(records, nil, defaultProfile(t), correlator.AsOf{}), rules.All()).Allocations[0].Verdict
		if blamed := len(v.Faults) > 0 && v.Faults[0].Layer == semconv.LayerDeploy; blamed != c.blamed {
			t.Errorf("%s: %s", c.name, v.Explanation)
		}
	}
}
