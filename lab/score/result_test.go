package score

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/faultline-io/faultline/lab"
)

// said is a judge that knows when an allocation was in trouble.
type said struct {
	trouble []time.Time
	err     error
	asked   *int
	alarms  map[string][]Ruling
	actions map[string][]TaskAction
}

func (s said) Rule(context.Context, string) ([]Ruling, error)        { return nil, nil }
func (s said) Alarms(_ context.Context, id string) ([]Ruling, error) { return s.alarms[id], nil }
func (s said) TaskActions(_ context.Context, id string) ([]TaskAction, error) {
	return s.actions[id], nil
}
func (s said) Trouble(context.Context, string) ([]time.Time, error) {
	if s.asked != nil {
		*s.asked++
	}
	return s.trouble, s.err
}

// lived is a lab in which allocations have lived so.
type lived []lab.Lived

func (l lived) Lives(context.Context) ([]lab.Lived, error)        { return l, nil }
func (l lived) Inject(context.Context, lab.Order) (lab.On, error) { return lab.On{Since: on}, nil }
func (l lived) Heal(context.Context, string) error                { return nil }

var on = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC) // when the fault was made

func at(seconds int) time.Time { return on.Add(time.Duration(seconds) * time.Second) }

func watching(judge Judge) *watch {
	return &watch{stage: &Stage{Judge: judge}, since: on, healed: at(30), fault: lab.Fault{Layer: "cert", Mechanism: "expired", Expected: attributed}}
}

// A fault is visible from the first trouble after it was made; what was there before is not its.
func TestVisible(t *testing.T) {
	f := func(want time.Time, trouble ...time.Time) {
		t.Helper()
		v := &watched{paid: at(20)}
		if got, err := watching(said{trouble: trouble}).visible(t.Context(), "a-1", v); err != nil || !got.Equal(want) {
			t.Errorf("visible from %s, want %s (%v)", got, want, err)
		}
	}
	f(at(20))
	f(at(20), at(-5))
	f(at(3), at(-5), at(3), at(9))
	v := &watched{paid: at(20), life: lab.Lived{Began: at(4)}}
	away := watching(said{err: errors.New("the server is away")})
	if got, err := away.visible(t.Context(), "a-1", v); err != nil || !got.Equal(at(4)) {
		t.Errorf("visible from %s, want the allocation's beginning (%v)", got, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := away.visible(ctx, "a-1", &watched{}); err == nil {
		t.Error("it went on")
	}
}

func named(owners ...string) Ruling { return Ruling{Outcome: attributed, Blames: owners} }

// What is right counts from when it was said, and other owners are noted on the way.
func TestHear(t *testing.T) {
	w, v := watching(said{}), &watched{}
	for i, r := range []Ruling{{Outcome: none}, named("api/error"), named("cert/unknown_ca"), named("cert/expired"), named("db/lock")} {
		r.At = at(i)
		w.hear(v, r)
	}
	if !v.right.Equal(at(2)) || !v.exact || !slices.Equal(v.wrong, []string{"api/error", "db/lock"}) || v.last.Blames[0] != "db/lock" {
		t.Errorf("%+v", v)
	}
}

// Right is who names the fault's layer and nobody else, in time, and says so in the end.
func TestAffected(t *testing.T) {
	right, other := named("cert/expired"), named("api/error")
	f := func(name string, v watched, wantRight, wantExact int, wantMiss string) {
		t.Helper()
		r, missed := Result{}, ""
		err := watching(said{trouble: []time.Time{at(2)}}).affected(t.Context(), "a-1", &v, &r, func(_, format string, args ...any) { missed = fmt.Sprintf(format, args...) })
		if err != nil || r.Right != wantRight || r.Exact != wantExact || missed != wantMiss {
			t.Errorf("%s: %+v, missed %q", name, r, missed)
		}
	}
	f("named", watched{right: at(5), last: right, exact: true}, 1, 1, "")
	f("the layer alone", watched{right: at(5), last: named("cert/unknown_ca")}, 1, 0, "")
	f("never", watched{last: other}, 0, 0, "is said to be attributed api/error")
	f("nothing said", watched{}, 0, 0, "is said to be nothing at all")
	f("a minute after it was visible", watched{right: at(62), last: right}, 1, 0, "")
	f("late", watched{right: at(63), last: right}, 0, 0, "was judged right later than 1m0s after it was visible")
	f("not in the end", watched{right: at(5), last: other}, 0, 0, "was judged right, and in the end is said to be attributed api/error")
	f("made good", watched{right: at(5), last: Ruling{Outcome: none}, life: lab.Lived{AsWritten: true}}, 1, 0, "")
	f("two owners", watched{right: at(5), last: named("cert/expired", "api/error")}, 0, 0,
		"was judged right, and in the end is said to be attributed cert/expired and api/error")
}

// Nobody need be named where the fault was healed before anybody had the time to judge.
func TestTooShort(t *testing.T) {
	f := func(want bool, v watched) {
		t.Helper()
		if got, err := watching(said{trouble: []time.Time{at(2)}}).tooShort(t.Context(), "a-1", &v); err != nil || got != want {
			t.Errorf("%+v: %t, %v", v, got, err)
		}
	}
	delayed := lab.Lived{AsWritten: true, Ended: at(40)}
	f(true, watched{last: Ruling{Outcome: none}, life: delayed})
	f(false, watched{last: Ruling{Outcome: none}, life: delayed, wrong: []string{"api/error"}})
	f(false, watched{last: Ruling{Outcome: none}, life: lab.Lived{Ended: at(40)}})
	f(false, watched{last: Ruling{Outcome: none}, life: lab.Lived{AsWritten: true, Ended: at(20)}})
	f(false, watched{life: delayed})
}

// Who can't have taken longest is not asked for.
func TestSlowest(t *testing.T) {
	asked := 0
	w := watching(said{trouble: []time.Time{at(2)}, asked: &asked})
	hit := lab.Lived{Faults: 1, Cost: true}
	began := hit
	began.Began = at(9)
	w.seen = map[string]*watched{
		"a-1": {right: at(9), life: hit}, "a-2": {right: at(5), life: hit}, "a-3": {right: at(12), life: began}, "a-4": {life: hit}, "a-5": {right: at(20)},
	}
	if took, err := w.slowest(t.Context()); err != nil || took != 7*time.Second || asked != 1 {
		t.Errorf("%s, %v, %d asked", took, err, asked)
	}
}

// Of those that met no fault nothing must have been said. Who lost a claim because its agent was late, by the agent's
// own record, is left out and counted; who had ended before the experiment began is an earlier one's.
func TestBystanders(t *testing.T) {
	late := []TaskAction{
		{Claim: "cl-1", Move: "dispatched", At: at(1), End: at(1), LeaseUntil: at(3)}, {Claim: "cl-1", Move: "lost", At: at(3), End: at(3)}, {Claim: "cl-1", At: at(5), End: at(5)},
	}
	alarm := []Ruling{{Outcome: undetermined}, named("node_agent/silent")}
	w := watching(said{
		alarms:  map[string][]Ruling{"slow": alarm, "silent": alarm, "wronged": {named("cert/expired")}, "before": alarm},
		actions: map[string][]TaskAction{"slow": late, "silent": late[:2], "wronged": late},
	})
	w.began = at(-10)
	w.stage.Remote = lived{
		{AllocationID: "well", Ended: at(4), AsWritten: true}, {AllocationID: "slow", Ended: at(9), AsWritten: true}, {AllocationID: "silent", AsWritten: true},
		{AllocationID: "wronged"}, {AllocationID: "before", Ended: at(-20), AsWritten: true}, {AllocationID: "overdue", Late: true}, {AllocationID: "hit", Faults: 1},
	}
	var r Result
	var missed []string
	err := w.bystanders(t.Context(), &r, func(id, format string, args ...any) { missed = append(missed, id+": "+fmt.Sprintf(format, args...)) })
	want := []string{
		"silent: met no fault () and was said to be undetermined, then attributed node_agent/silent",
		"wronged: met no fault () and was said to be attributed cert/expired",
	}
	if err != nil || r.Healthy != 3 || r.Alarms != 2 || r.Disturbed != 2 || !slices.Equal(missed, want) {
		t.Errorf("%+v, %q, %v", r, missed, err)
	}
}

// Who met the same fault when it was made here before is not looked at again.
func TestAnEarlierInjection(t *testing.T) {
	w := watching(said{})
	w.fault.Name, w.seen = "cert_expired", map[string]*watched{}
	w.stage.Remote = lived{
		{AllocationID: "a-1", Fault: "cert_expired", Since: at(-300), Faults: 1, Cost: true}, {AllocationID: "a-2", Fault: "cert_expired", Since: on, Faults: 1, Cost: true},
		{AllocationID: "a-3", Fault: "api_5xx", Since: on, Faults: 1, Cost: true},
	}
	if err := w.look(t.Context(), true); err != nil || len(w.seen) != 1 || w.seen["a-2"] == nil {
		t.Errorf("%v, %v", w.seen, err)
	}
}
