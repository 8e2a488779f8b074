package correlator_test

import (
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/story"
)

// A proxy that waited a minute makes the API slow, unless the API tells of the very request that it answered it at once: where the answer was lost
// neither of them knows.
func TestAnAnswerThatOneGaveAndTheOtherNeverHad(t *testing.T) {
	const told = `
09:30:00 api allocation.state allocation_id=a-1 from=provisioning to=active
ANSWERED
10:02:00.1 haproxy warn allocation_id=a-1 request_id=rq-1 http.response.status_code=504 | 10.9.4.8:60114 [02/Mar/2026:10:01:00.061] api~ api/api1 0/0/1/-1/60002 504 194 - - sH-- 12/12/1/1/0 0/0 "POST /v1/allocations/a-1/release HTTP/1.1"
10:02:00.2 cli error allocation_id=a-1 request_id=rq-1 | release a-1: 504 Gateway Time-out
10:03:00 api info | GET /v1/nodes 200
10:10:01 haproxy heartbeat component=haproxy
`
	const answered = `10:01:00.1 api info allocation_id=a-1 request_id=rq-1 | POST /v1/allocations/a-1/release request_id=rq-1 status=202 dur=39ms`
	for name, c := range map[string]struct {
		answered string
		outcome  string
	}{"the API says nothing": {"10:01:00 api info | GET /v1/nodes 200", correlator.Attributed}, "it says that it answered": {answered, correlator.Undetermined}} {
		records, err := story.Parse(strings.TrimPrefix(strings.ReplaceAll(told, "ANSWERED", c.answered), "\n"))
		if err != nil {
			t.Fatal(err)
		}
		v := query.Analyze(correlator.NewDataset(records, nil, defaultProfile(t), correlator.AsOf{}), rules.All()).Allocations[0].Verdict
		if v.Outcome != c.outcome {
			t.Errorf("%s: %s: %s", name, v.Outcome, v.Explanation)
		}
	}
}
