package live_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator/live"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/story"
)

// What was read of a record while whom it names was not heard of yet is read again when he is.
func TestWhatIsHeardLaterIsReadAgain(t *testing.T) {
	told, err := story.Parse(`
09:00:05 opslag error layer=db | eigen volume vol: schrijven geweigerd, lezen gaat door
09:10:00 ploegbaas error layer=workflow allocation_id=hv-39 | stap niet op te tekenen: opslag: schrijven geweigerd, volume vol
09:04:00 api span 22ms error allocation_id=hv-44 name="POST /v1/huur/{id}/release" http.response.status_code=503 trace_id=o1 span_id=o1a status_message="opslag: schrijven geweigerd, volume vol"
09:04:00.2 balie error layer=client allocation_id=hv-44 | teruggeven hv-44: 503
09:14:00 api span 20ms error allocation_id=hv-44 name="POST /v1/huur/{id}/release" http.response.status_code=503 trace_id=o2 span_id=o2a status_message="opslag: schrijven geweigerd, volume vol"
09:14:00.2 balie error layer=client allocation_id=hv-44 | teruggeven hv-44: 503
09:20:00 api heartbeat component=api
`)
	if err != nil {
		t.Fatal(err)
	}
	p := defaultProfile(t)
	ruleOf := func(order []int, between bool) string {
		set := live.NewWorkingSet(p, rules.All(), live.DefaultBounds())
		for _, i := range order {
			if set.Add(copies(told[i:i+1]), nil); between {
				set.Judge("hv-44", 0)
			}
		}
		judged, _ := set.Judge("hv-44", 0)
		var found []string
		for _, f := range judged.Assessment.Verdict.Faults {
			found = append(found, f.Rule)
		}
		return strings.Join(found, " ")
	}
	inOrder := []int{0, 1, 2, 3, 4, 5, 6}
	want := ruleOf(inOrder, false)
	if want != "db.own_word" {
		t.Fatalf("in order: %s", want)
	}
	last := append(slices.Clone(inOrder[2:]), 0, 1)
	if got := ruleOf(last, true); got != want {
		t.Errorf("with the store's own word last, and judged in between: %s, want %s", got, want)
	}
}

// Signs of life are no last words: what a silent machine asked for last is kept, however often it was alive since.
func TestSignsOfLifeAreNoLastWords(t *testing.T) {
	var text strings.Builder
	text.WriteString("08:40:12 api info node_id=n-88 node_instance_id=ni-88 | GET /internal/v1/nodes/n-88/tasks/wait 204 25s\n")
	for m := range 12 {
		text.WriteString("08:4" + strconv.Itoa(m%10) + ":3" + strconv.Itoa(m/10) + " node-agent heartbeat component=node-agent node_id=n-88 node_instance_id=ni-88\n")
	}
	text.WriteString("09:37:00 api heartbeat component=api\n09:37:01 api heartbeat component=api\n")
	first, err := story.Parse(text.String())
	if err != nil {
		t.Fatal(err)
	}
	later, err := story.Parse(`
09:00:00 api allocation.state allocation_id=a-1 to=requested
09:00:00.4 outbox-relay outbox.record allocation_id=a-1 outbox_id=o-1 to=published
09:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
09:00:01.2 provisioner node.assigned node_id=n-88 allocation_id=a-1
09:00:01.5 provisioner allocation.state allocation_id=a-1 from=reserved to=provisioning
09:00:02 provisioner task.state task_id=t-1 workflow_id=w-1 node_id=n-88 type=node.provision to=queued
09:05:00 node-agent heartbeat component=node-agent node_id=n-88 node_instance_id=ni-88
09:15:00 node-agent heartbeat component=node-agent node_id=n-88 node_instance_id=ni-88
09:15:40 api info node_id=n-89 | GET /internal/v1/nodes/n-89/tasks/wait 204 25s
09:25:00 node-agent heartbeat component=node-agent node_id=n-88 node_instance_id=ni-88
09:30:02 provisioner task.state task_id=t-1 workflow_id=w-1 node_id=n-88 type=node.provision to=expired
09:30:03 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
09:35:00 node-agent heartbeat component=node-agent node_id=n-88 node_instance_id=ni-88
`)
	if err != nil {
		t.Fatal(err)
	}
	set := live.NewWorkingSet(defaultProfile(t), rules.All(), live.DefaultBounds())
	set.Add(first, nil)
	set.Add(later, nil)
	judged, _ := set.Judge("a-1", 0)
	if f := judged.Assessment.Verdict.Faults; len(f) != 1 || f[0].Rule != "node_agent.asks_no_more" {
		t.Errorf("%s: %s", judged.Assessment.Verdict.Outcome, judged.Assessment.Verdict.Explanation)
	}
}
