package correlator_test

import "testing"

// Two rollouts in one moment, both of who takes part in what fails: nothing decides between them, and both are named.
func TestTwoRolloutsInOneMoment(t *testing.T) {
	const failing = `
10:00:00 api error allocation_id=a-1 http.request.method=DELETE url.path=/v1/allocations/a-1 http.response.status_code=500 | authorize: unexpected reply from auth: field 'scopes' has wrong type
10:00:00.1 cli span 45ms error allocation_id=a-1 name="DELETE /v1/allocations/a-1" http.response.status_code=500
10:05:00 api error allocation_id=a-1 http.request.method=DELETE url.path=/v1/allocations/a-1 http.response.status_code=500 | authorize: unexpected reply from auth: field 'scopes' has wrong type
10:05:00.1 cli span 45ms error allocation_id=a-1 name="DELETE /v1/allocations/a-1" http.response.status_code=500
10:06:00 api heartbeat component=api
`
	both := verdictOn(t, inUse+`
09:58:00 argocd deploy.change component=api version=5.1 from=5.0 to=5.1
09:58:00 argocd deploy.change component=auth version=3.3 from=3.2 to=3.3
`+failing)
	if both.Outcome != "contested" || len(both.Faults) != 2 || both.Faults[0].Layer != "deploy" || both.Faults[1].Layer != "deploy" || both.Faults[0].Summary == both.Faults[1].Summary {
		t.Errorf("%s: %s", both.Outcome, both.Explanation)
	}
	one := verdictOn(t, inUse+`
09:40:00 argocd deploy.change component=api version=5.1 from=5.0 to=5.1
09:58:00 argocd deploy.change component=auth version=3.3 from=3.2 to=3.3
`+failing)
	if one.Outcome != "attributed" || len(one.Faults) != 1 {
		t.Errorf("minutes apart: %s: %s", one.Outcome, one.Explanation)
	}
}
