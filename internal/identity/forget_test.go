package identity_test

import (
	"fmt"
	"testing"

	"github.com/faultline-io/faultline/internal/identity"
)

// A source that names a million keys makes room among its own: what others use stays known.
func TestForgetIsFair(t *testing.T) {
	const bound = 2000
	x := identity.New(identity.Options{MaxSubjects: bound, Forget: true})
	ours := func(i int) identity.Keys {
		return keys(identity.Request, fmt.Sprint("r", i), identity.Workflow, fmt.Sprint("w", i/10), identity.Allocation, fmt.Sprint("a", i/10))
	}
	for i := range 500 {
		x.AddSeenFrom("api", ours(i), nil)
	}
	for i := range 20 * bound {
		x.AddSeenFrom("hostile", keys(identity.Request, fmt.Sprint("x", i), identity.Trace, fmt.Sprint("y", i)), nil)
	}
	for i := range 500 {
		if r := x.Resolve(keys(identity.Request, fmt.Sprint("r", i)), 1, 1); r.Allocation != fmt.Sprint("a", i/10) {
			t.Fatalf("request %d is %q's", i, r.Allocation)
		}
	}
	if s := x.Stats(); s.Subjects > bound || s.Evicted < 39*bound || s.Full != 0 {
		t.Errorf("%+v", s)
	}
}

// What is used stays, what is not goes; what goes never makes a shared thing somebody's.
func TestForgetsTheUnused(t *testing.T) {
	x := identity.New(identity.Options{MaxSubjects: 400, Forget: true})
	image := key(identity.Resource, "image")
	for i := range 5000 {
		a := fmt.Sprint("a", i)
		x.AddSeen(keys(identity.Request, fmt.Sprint("r", i), identity.Allocation, a))
		x.AddSeen(identity.Keys{key(identity.Request, fmt.Sprint("r", i)), image})
		if r := x.Resolve(keys(identity.Request, "r0"), 1, 1); r.Allocation != "a0" {
			t.Fatalf("after %d: what is used all the time is %q's", i, r.Allocation)
		}
		if r := x.Resolve(identity.Keys{image}, 1, 1); i > 0 && r.Allocation != "" {
			t.Fatalf("after %d: the image of all is %s's", i, r.Allocation)
		}
	}
	if r := x.Resolve(keys(identity.Request, "r1"), 1, 1); r.Allocation != "" {
		t.Errorf("r1 was not forgotten: %+v", x.Stats())
	}
}

// Without Forget a full index refuses, and what it knows stays the same.
func TestFullRefuses(t *testing.T) {
	x := identity.New(identity.Options{MaxSubjects: 1})
	x.AddSeen(keys(identity.Task, "t", identity.Allocation, "a"))
	x.AddSeen(keys(identity.Task, "u", identity.Allocation, "a"))
	if s := x.Stats(); s.Subjects != 1 || s.Full != 1 || s.Evicted != 0 {
		t.Errorf("%+v", s)
	}
}

// A look-up of what is known allocates nothing, whichever way it is known.
func TestLookUpsDoNotAllocate(t *testing.T) {
	x := identity.New(identity.Options{})
	x.AddSeen(keys(identity.Request, "r", identity.Workflow, "w", identity.Allocation, "a"))
	_ = x.Add(bind(key(identity.Task, "t"), key(identity.Workflow, "w"), 0, 10))
	_ = x.Add(bind(key(identity.Claim, "c"), key(identity.NodeInstance, "i"), 0, 10))
	_ = x.Add(moved(identity.Opened, "n", key(identity.NodeInstance, "i"), 0))
	_ = x.Add(moved(identity.Opened, "n", key(identity.Allocation, "a"), 0))
	for _, ks := range []identity.Keys{
		keys(identity.Request, "r"), keys(identity.Request, "r", identity.Workflow, "w", identity.Task, "t"), keys(identity.Task, "t"), keys(identity.Claim, "c"),
		keys(identity.Node, "n"), keys(identity.NodeInstance, "i"), keys(identity.NodeInstance, "i", identity.Node, "n"), keys(identity.Trace, "unknown"),
	} {
		if n := testing.AllocsPerRun(100, func() { x.Resolve(ks, 5, 5); x.AddSeen(ks) }); n != 0 {
			t.Errorf("%v: %v allocations", ks, n)
		}
	}
}

// A node that changes hands for ever keeps its last few hundred holders, whatever the order in which
// they are told, and no more.
func TestForgetsOldHistory(t *testing.T) {
	const told = 20_000
	x := identity.New(identity.Options{MaxSubjects: 1000, Forget: true})
	node := key(identity.Node, "n")
	for i := range int64(told) {
		a := key(identity.Allocation, fmt.Sprint("a", i))
		_ = x.Add(moved(identity.Opened, "n", a, 100*i))
		_ = x.Add(moved(identity.Closed, "n", a, 100*i+90))
		_ = x.Add(bind(key(identity.Claim, "c"), a, 100*i, 100*i+90)) // somebody's claim on everything
		if r := x.Resolve(identity.Keys{node}, 100*i+50, 100*i+50); r.Allocation != a.ID {
			t.Fatalf("at %d the node is %q's", i, r.Allocation)
		}
	}
	for _, i := range []int64{told - 1, told - 100} {
		if r := x.Resolve(identity.Keys{node}, 100*i+50, 100*i+50); r.Allocation != fmt.Sprint("a", i) {
			t.Errorf("%d ago it was %q's", told-i, r.Allocation)
		}
	}
	if held := x.Assignments("n"); len(held) > 600 {
		t.Errorf("%d holders are remembered", len(held))
	}
	if s := x.Stats(); s.Trimmed < 2*told {
		t.Errorf("%+v", s)
	}
	all := identity.New(identity.Options{}) // a reader forgets nothing
	for i := range int64(2000) {
		_ = all.Add(moved(identity.Opened, "n", key(identity.Allocation, fmt.Sprint("a", i)), 100*i))
	}
	if n := len(all.Assignments("n")); n != 2000 {
		t.Errorf("%d of 2000", n)
	}
}
