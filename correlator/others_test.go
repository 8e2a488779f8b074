package correlator_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/story"
)

// A caller that hangs up is judged beside what other allocations were answered who asked for the same: they are cited, shown as context, and
// without them nobody is blamed.
func TestWhatOthersWereAnswered(t *testing.T) {
	const own = `
09:00:00    api allocation.state allocation_id=a-1 from=provisioning to=active
09:10:00    cli span 5s error name="POST /v1/allocations/a-1/reimage" kind=client trace_id=t1 allocation_id=a-1 http.request.method=POST url.path=/v1/allocations/a-1/reimage error.type=timeout
09:10:05    nginx info allocation_id=a-1 | 10.0.0.3 - - [02/Mar/2026:09:10:05 +0000] "POST /v1/allocations/a-1/reimage HTTP/1.1" 499 0 "-" "cli" rt=5.001
09:12:00    cli span 5s error name="POST /v1/allocations/a-1/reimage" kind=client trace_id=t2 allocation_id=a-1 http.request.method=POST url.path=/v1/allocations/a-1/reimage error.type=timeout
09:12:05    nginx info allocation_id=a-1 | 10.0.0.3 - - [02/Mar/2026:09:12:05 +0000] "POST /v1/allocations/a-1/reimage HTTP/1.1" 499 0 "-" "cli" rt=5.000
09:20:00    api heartbeat component=api
`
	const others = `
09:10:30    api span 8s name="POST /v1/allocations/a-2/reimage" kind=server trace_id=t3 allocation_id=a-2 http.request.method=POST url.path=/v1/allocations/a-2/reimage http.response.status_code=202
09:12:30    api span 9s name="POST /v1/allocations/a-3/reimage" kind=server trace_id=t4 allocation_id=a-3 http.request.method=POST url.path=/v1/allocations/a-3/reimage http.response.status_code=202
`
	judge := func(text string) correlator.Allocation {
		records, err := story.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return query.Analyze(correlator.NewDataset(records, nil, defaultProfile(t), correlator.AsOf{}), rules.All()).Allocations[0]
	}
	a := judge(own + others)
	if len(a.Verdict.Faults) != 1 || a.Verdict.Faults[0].Rule != "client.patience" {
		t.Fatalf("beside others: %s", a.Verdict.Explanation)
	}
	for _, source := range []string{"a-2", "a-3"} {
		i := slices.IndexFunc(a.Timeline, func(e correlator.Entry) bool { return strings.Contains(e.Summary, source) })
		if i < 0 || a.Timeline[i].Via != "context" || !slices.Contains(a.Verdict.Faults[0].Evidence, a.Timeline[i].Ref) {
			t.Errorf("what %s was answered is not cited as context", source)
		}
	}
	if alone := judge(own); len(alone.Verdict.Faults) > 0 && alone.Verdict.Faults[0].Layer == "client" {
		t.Errorf("without others: %s", alone.Verdict.Explanation)
	}
}
