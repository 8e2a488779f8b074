package identity_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/faultline-io/faultline/internal/identity"
)

// told is one thing that a source says, and when it arrives.
type told struct {
	arrives int64
	seen    identity.Keys
	link    identity.Link
}

// line is a record, and on which node instance it was truly written.
type line struct {
	keys         identity.Keys
	at, observed int64
	instance     string
}

// schedule is a made-up week on a few nodes: reimages, assignments, work, clocks that are off.
type schedule struct {
	told  []told
	lines []line
}

const hour = int64(time.Hour)

func newSchedule(r *rand.Rand) schedule {
	var s schedule
	late := func() int64 { return r.Int64N(144*hour) - 72*hour } // early or late by three days
	say := func(at int64, f identity.Link) {
		f.From = at
		for range 1 + r.IntN(2) { // now and then twice
			s.told = append(s.told, told{arrives: at + late(), link: f})
		}
	}
	seen := func(at int64, ks identity.Keys) { s.told = append(s.told, told{arrives: at + late(), seen: ks}) }
	bound := func(sub, obj identity.Key, from, to int64) {
		s.told = append(s.told, told{arrives: late(), link: bind(sub, obj, from, to)})
	}
	allocations, instances := 0, 0
	for n := range 1 + r.IntN(3) {
		node, name := fmt.Sprint("n", n), key(identity.Resource, fmt.Sprint("ironic/", n))
		bound(name, key(identity.Node, node), identity.Always, identity.Forever)
		for at := 200*hour + r.Int64N(hour); at < 360*hour; {
			end := at + hour + r.Int64N(40*hour)
			instances++
			ni := fmt.Sprint("i", instances)
			install := moved(identity.Opened, node, key(identity.NodeInstance, ni), 0)
			say(at, install)
			say(at+r.Int64N(hour/2), install) // live
			if r.IntN(4) == 0 {               // lost for a while
				gone := at + hour/2 + r.Int64N(hour/4)
				say(gone, moved(identity.Lost, node, key(identity.NodeInstance, ni), 0))
				say(gone+r.Int64N(hour/8), install)
			}
			if r.IntN(2) == 0 { // otherwise the next one ends it
				say(end, moved(identity.Closed, node, key(identity.NodeInstance, ni), 0))
			}
			for t := at + r.Int64N(hour); t < end; {
				allocations++
				a := key(identity.Allocation, fmt.Sprint("a", allocations))
				until := min(end, t+hour/4+r.Int64N(20*hour))
				say(t, moved(identity.Opened, node, a, 0))
				if r.IntN(8) > 0 {
					say(until, moved(identity.Closed, node, a, 0))
					say(until+r.Int64N(2), moved(identity.Closed, node, a, 0)) // closed twice
				}
				s.work(r, a, allocations, ni, t, seen, bound)
				t = until + r.Int64N(3*hour)
			}
			for range 1 + r.IntN(6) { // what the node says
				at := at + r.Int64N(end-at)
				l := line{at: at, observed: at + r.Int64N(hour), instance: ni}
				switch r.IntN(4) {
				case 0:
					l.keys = keys(identity.Node, node)
				case 1:
					l.keys = keys(identity.Node, node, identity.NodeInstance, ni)
					l.at -= r.Int64N(50 * hour) // its clock is off
				case 2:
					l.keys = keys(identity.NodeInstance, ni)
				case 3:
					l.keys = identity.Keys{name}
				}
				s.lines = append(s.lines, l)
			}
			at = end + r.Int64N(hour)
		}
	}
	return s
}

// work adds an allocation's workflow with its tasks and requests, and things that are everybody's.
func (s *schedule) work(r *rand.Rand, a identity.Key, n int, ni string, at int64, seen func(int64, identity.Keys), bound func(a, b identity.Key, from, to int64)) {
	id := func(k identity.Kind, i int) identity.Key { return key(k, fmt.Sprint(k.String()[:1], n, "-", i)) }
	w := id(identity.Workflow, 0)
	seen(at, identity.Keys{w, a})
	for i := range r.IntN(4) {
		req, task, trace := id(identity.Request, i), id(identity.Task, i), id(identity.Trace, i)
		switch r.IntN(5) {
		case 0:
			seen(at, identity.Keys{req, w})
			seen(at, identity.Keys{trace, req})
		case 1:
			seen(at, identity.Keys{task, w, trace})
		case 2:
			bound(req, id(identity.Correlation, i), identity.Always, identity.Forever)
			bound(id(identity.Correlation, i), a, identity.Always, identity.Forever)
		case 3: // an image of all
			seen(at, identity.Keys{req, w})
			seen(at, identity.Keys{req, key(identity.Resource, fmt.Sprint("image", r.IntN(2)))})
		case 4:
			bound(task, a, at, at+hour)
			bound(id(identity.Claim, i), key(identity.NodeInstance, ni), identity.Always, identity.Forever)
		}
		for _, k := range []identity.Key{req, task, trace, id(identity.Claim, i)} {
			s.lines = append(s.lines, line{keys: identity.Keys{k}, at: at + r.Int64N(2*hour), observed: at + 3*hour})
		}
	}
	s.lines = append(s.lines, line{keys: keys(identity.Resource, "image0"), at: at, observed: at})
}

// check plays a schedule in an order of arrival, asking now and then, and compares every final answer
// with the oracle's.
func (s schedule) check(t interface{ Fatalf(string, ...any) }, r *rand.Rand) {
	order := r.Perm(len(s.told))
	if r.IntN(2) == 0 {
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(s.told[i].arrives, s.told[j].arrives) })
	}
	x, all := identity.New(identity.Options{Remember: 1 + r.IntN(200)}), oracle{}
	ask := func(l line) identity.Resolution { return remembered(t, x, l) }
	for _, i := range order {
		if s.told[i].seen != nil {
			x.AddSeen(s.told[i].seen)
			all.see(s.told[i].seen)
		} else {
			if err := x.Add(s.told[i].link); err != nil {
				t.Fatalf("%+v: %v", s.told[i].link, err)
			}
			all.add(s.told[i].link)
		}
		if l := s.lines[r.IntN(len(s.lines))]; r.IntN(3) == 0 {
			for range 1 + r.IntN(2) { // twice: the second comes from memory
				l.at += r.Int64N(hour)
				ask(l)
			}
			ask(s.lines[r.IntN(len(s.lines))]) // answers on the way are worked out and go stale
		}
	}
	closure := all.closure()
	for _, l := range s.lines {
		got, want := ask(l), all.resolve(closure, l.keys, l.at, l.observed)
		got.Workflow, got.Conflicts = "", nil
		if d := gocmp.Diff(want, got); d != "" {
			t.Fatalf("%v at %d, observed %d (-oracle +index):\n%s", l.keys, l.at, l.observed, d)
		}
		if l.instance != "" && got.NodeInstance != "" && got.NodeInstance != l.instance {
			t.Fatalf("%v at %d was written on %s, credited to %s", l.keys, l.at, l.instance, got.NodeInstance)
		}
	}
}

// recalled counts the answers that came from memory.
var recalled atomic.Int64

// remembered asks as a Collector does: for what was answered before, else anew. A remembered answer is
// always the one that would be worked out now.
func remembered(t interface{ Fatalf(string, ...any) }, x *identity.Index, l line) identity.Resolution {
	fresh := x.Resolve(l.keys, l.at, l.observed)
	p := x.Print(l.keys)
	if a := x.Recall(p); a != nil && x.Holds(a) {
		if r := a.At(l.at); r != nil {
			recalled.Add(1)
			if d := gocmp.Diff(fresh, *r); d != "" {
				t.Fatalf("%v at %d, observed %d (-worked out +remembered):\n%s", l.keys, l.at, l.observed, d)
			}
		}
	}
	if r := x.ResolveRemember(p, l.keys, nil, l.at, l.observed); gocmp.Diff(fresh, r) != "" {
		t.Fatalf("%v at %d, observed %d (-worked out +asked to be remembered):\n%s", l.keys, l.at, l.observed, gocmp.Diff(fresh, r))
	}
	return fresh
}

// Links that arrive up to three days early or late, twice, in any order, closed twice, over reimages
// and with clocks that are off: every answer is the oracle's, and no record goes to a wrong
// node instance.
func TestSchedules(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		newSchedule(r).check(t, r)
	})
}

// FAULTLINE_SCHEDULES=10000 runs that many; make bench-identity does.
func TestManySchedules(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("FAULTLINE_SCHEDULES"))
	if err != nil {
		n = 200
	}
	lines := 0
	for seed := range uint64(n) { //nolint:gosec // not negative
		r := rand.New(rand.NewPCG(seed, 2))
		s := newSchedule(r)
		s.check(failure{t, seed}, r)
		lines += len(s.lines)
	}
	if recalled.Load() == 0 {
		t.Error("no answer came from memory")
	}
	t.Logf("%d schedules, %d records, %d answers from memory: all as the oracle says, none on a wrong node instance", n, lines, recalled.Load())
}

// failure says which schedule it was.
type failure struct {
	t    *testing.T
	seed uint64
}

func (f failure) Fatalf(format string, args ...any) {
	f.t.Helper()
	f.t.Fatalf("schedule %d: "+format, append([]any{f.seed}, args...)...)
}
