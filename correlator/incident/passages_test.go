package incident_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
)

// TestGone: a cause is gone when calls like those that failed get through for others.
func TestGone(t *testing.T) {
	const call = "POST /v1/allocations asked by cli"
	start := time.Date(2026, 10, 1, 10, 0, 0, 0, time.UTC)
	at := func(second int) correlator.Time {
		return correlator.Time(start.Add(time.Duration(second) * time.Second).UnixNano())
	}
	component := correlator.Subject{Kind: correlator.SubjectComponent, IDs: []string{"api"}}
	victim := func(id string, first, last int, s correlator.Subject) correlator.Assessment {
		return correlator.Assessment{ID: id, Occurrences: []correlator.FaultOccurrence{{
			Layer: "api", Mechanism: "error", Subject: s, Onset: at(first), Last: at(last), Failed: []correlator.FailedCall{{Call: call, First: at(first), Last: at(last)}},
		}}}
	}
	through := func(from int, seconds ...int) (out []correlator.Assessment) {
		for i, s := range seconds {
			out = append(out, correlator.Assessment{ID: fmt.Sprintf("well-%d-%d", from, i), Passages: []correlator.Passage{{Call: call, At: at(s)}}})
		}
		return out
	}
	f := func(name string, want int, victim correlator.Assessment, others ...correlator.Assessment) {
		t.Helper()
		// Whatever the order in which they are judged.
		for shift := range len(others) + 1 {
			p := incident.NewPassages()
			all := append(append([]correlator.Assessment{}, others[shift:]...), victim)
			all = append(all, others[:shift]...)
			for i := range all {
				p.Add(&all[i])
			}
			got := p.Gone(victim).Occurrences[0].GoneAt
			switch {
			case want == 0 && got != nil:
				t.Errorf("%s: gone at %s", name, got)
			case want != 0 && (got == nil || *got != at(want)):
				t.Errorf("%s: gone at %v, want %s", name, got, at(want))
			}
			if victim.Occurrences[0].GoneAt != nil {
				t.Fatalf("%s: what was given was changed", name)
			}
		}
	}
	f("nobody has called since", 0, victim("a", 0, 10, component))
	f("one or two prove nothing", 0, victim("a", 0, 10, component), through(0, 20, 30)...)
	f("three in a row do", 20, victim("a", 0, 10, component), through(0, 20, 30, 40)...)
	f("those before it prove nothing", 0, victim("a", 50, 60, component), through(0, 20, 30, 40)...)
	f("others got through while it failed", 0, victim("a", 0, 10, component), through(0, 5, 20, 30, 40)...)
	f("others fail after one of them", 0, victim("a", 0, 10, component), append(through(0, 20, 65, 70), victim("b", 60, 60, component))...)
	f("others fail after three, of something else", 20, victim("a", 0, 10, component), append(through(0, 20, 30, 40), victim("b", 60, 60, component))...)
	many := []int{5}
	for i := range 30 {
		many = append(many, 20+i)
	}
	f("some calls failed, and thirty in a row did not", 20, victim("a", 0, 10, component), through(0, many...)...)
	f("others failed at it, and it is over", 70, victim("a", 0, 10, component), append(through(0, 70, 80, 90), victim("b", 60, 60, component))...)
	f("a certificate's own trouble is proven by nobody else", 0, victim("a", 0, 10, correlator.Subject{Kind: correlator.SubjectCertificate, IDs: []string{"CN=n-1"}}), through(0, 20, 30, 40)...)
	denied := victim("a", 0, 10, component)
	denied.Occurrences[0].Layer = "api_auth"
	onNode := func(task string, s correlator.Subject) correlator.Assessment {
		a := victim("a", 0, 10, s)
		a.Occurrences[0].Failed[0].Call = task
		return a
	}
	next := through(0, 20)[0]
	next.Passages[0].Call = "task prepare on n-1"
	f("the next task on the node is", 20, onNode("task prepare on n-1", correlator.Subject{Kind: correlator.SubjectNode, IDs: []string{"n-1"}}), next)
	f("one on another node is not", 0, onNode("task prepare on n-2", correlator.Subject{Kind: correlator.SubjectNode, IDs: []string{"n-2"}}), next)
	f("nor is what one is not allowed", 0, denied, through(0, 20, 30, 40)...)
	cleared := victim("a", 0, 10, component)
	made := at(12)
	cleared.Occurrences[0].ClearedAt = &made
	f("what was made good is not gone", 0, cleared, through(0, 20, 30, 40)...)

	p := incident.NewPassages()
	one := victim("a", 0, 10, component)
	p.Add(&one)
	told := 0
	for i, s := range []int{20, 30, 40, 50, 60} {
		well := through(i, s)[0]
		told += len(p.Add(&well))
	}
	if told != 1 {
		t.Errorf("who waits was told %d times, not once, at the third", told)
	}
	p.Drop("a")
	if now := p.Gone(one); now.Occurrences[0].GoneAt == nil {
		t.Error("that others got through is forgotten with the victim")
	}
}

func TestRefusedRequestsDoNotStayOpen(t *testing.T) {
	f := func(name, text string, open bool) {
		t.Helper()
		list := incident.Group(assessments(t, text, correlator.AsOf{}), 0, incident.Window)
		if len(list) != 1 || list[0].Open != open {
			t.Errorf("%s: %s", name, told(list))
		}
	}
	refused := `
10:00:00 cli span 20ms error kind=client allocation_id=a-1 trace_id=t1 http.request.method=POST url.path=/v1/allocations http.response.status_code=500
10:00:00 postgres error trace_id=t1 | FATAL: sorry, too many clients already
`
	other := func(n int) string {
		return fmt.Sprintf("10:%02d:00 cli span 20ms kind=client allocation_id=b-%d trace_id=u%d http.request.method=POST url.path=/v1/allocations http.response.status_code=201\n", n, n, n)
	}
	f("nobody calls", refused, true)
	f("three others get through", refused+other(1)+other(2)+other(3), false)
	f("two others get through", refused+other(1)+other(2), true)
	f("nobody asks again for long", refused+"10:30:00 cli info | hello\n", false)
}

// What one subject was refused is over when that subject is let in again, whatever others may.
func TestARefusedSubject(t *testing.T) {
	const head = "10:%02d:00 cli span 20ms %s kind=client allocation_id=%s trace_id=t%d http.request.method=POST url.path=/v1/allocations http.response.status_code=%d\n10:%02d:00 auth-service %s allocation_id=%s trace_id=t%d auth.subject=%s auth.allowed=%t | decision: create %s to %s\n"
	asked := func(minute int, id, subject string, allowed bool) string {
		status, severity, how, word := 403, "warn", "error", "denied"
		if allowed {
			status, severity, how, word = 201, "info", "", "allowed"
		}
		return fmt.Sprintf(head, minute, how, id, minute, status, minute, severity, id, minute, subject, allowed, word, subject)
	}
	refused := asked(0, "a-1", "alice", false) + asked(1, "a-1", "alice", false) + asked(2, "a-2", "alice", false)
	for name, c := range map[string]struct {
		text string
		open bool
	}{
		"others are let in":    {refused + asked(3, "b-3", "bob", true) + asked(4, "b-4", "bob", true) + asked(5, "b-5", "bob", true) + asked(6, "b-6", "bob", true), true},
		"she is let in again":  {refused + asked(3, "b-3", "alice", true) + asked(4, "b-4", "alice", true) + asked(5, "b-5", "alice", true), false},
		"once, and not twice":  {refused + asked(3, "b-3", "alice", true) + asked(4, "b-4", "alice", false) + asked(5, "b-5", "alice", true), true},
		"she has not come yet": {refused, true},
	} {
		list := incident.Group(assessments(t, c.text, correlator.AsOf{}), 0, incident.Window)
		if len(list) != 1 || list[0].Layer != "api_auth" || list[0].Open != c.open {
			t.Errorf("%s: %s", name, told(list))
		}
	}
}

// Allocations that fail of one node after the other are an open incident, until one on that node gets through.
func TestAFailingNodeStaysOpen(t *testing.T) {
	fails := func(minute int, id string) string {
		return strings.ReplaceAll(fmt.Sprintf(`
10:%02d:00 provisioner allocation.state allocation_id=ID to=requested
10:%02d:01 provisioner node.assigned allocation_id=ID node_id=n-1
10:%02d:01 provisioner task.state allocation_id=ID task_id=k-ID node_id=n-1 type=prepare to=queued
10:%02d:02 node-agent error resource.node_id=n-1 task_id=k-ID | task prepare: write work.json: no space left on device
10:%02d:02 provisioner task.state allocation_id=ID task_id=k-ID node_id=n-1 type=prepare to=failed
10:%02d:03 provisioner allocation.state allocation_id=ID from=provisioning to=failed
10:%02d:04 provisioner node.unassigned allocation_id=ID node_id=n-1
`, minute, minute, minute, minute, minute, minute, minute), "ID", id)
	}
	well := strings.NewReplacer("to=failed", "to=succeeded", "error resource", "info resource", "no space left on device", "done").Replace(strings.Replace(fails(6, "a-9"), "from=provisioning to=failed", "from=provisioning to=active", 1))
	f := func(name, text string, open bool) {
		t.Helper()
		list := incident.Group(assessments(t, text, correlator.AsOf{}), 0, incident.Window)
		if len(list) != 1 || list[0].Open != open || list[0].Layer != "node" {
			t.Errorf("%s: %s", name, told(list))
		}
	}
	f("two failed of it", fails(1, "a-1")+fails(3, "a-2"), true)
	f("the third got through", fails(1, "a-1")+fails(3, "a-2")+well, false)
	f("nobody has it for long", fails(1, "a-1")+fails(3, "a-2")+"10:30:00 cli info | hello\n", false)
}
