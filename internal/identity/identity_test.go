package identity_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/faultline-io/faultline/internal/identity"
)

func key(kind identity.Kind, id string) identity.Key { return identity.Key{Kind: kind, ID: id} }

func keys(list ...any) identity.Keys {
	var out identity.Keys
	for i := 0; i < len(list); i += 2 {
		out = out.Add(list[i].(identity.Kind), list[i+1].(string))
	}
	return out
}

// world is a small set of links, fed in any order.
type world struct {
	seen  []identity.Keys
	links []identity.Link
}

func (w world) index(opt identity.Options, shuffle *rand.Rand) *identity.Index {
	x := identity.New(opt)
	var steps []func()
	for _, k := range w.seen {
		steps = append(steps, func() { x.AddSeen(k) })
	}
	for _, f := range w.links {
		steps = append(steps, func() { _ = x.Add(f) })
	}
	if shuffle != nil {
		shuffle.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	}
	for _, s := range steps {
		s()
	}
	return x
}

func bind(s, o identity.Key, from, to int64) identity.Link {
	return identity.Link{Type: identity.Bind, Subject: s, Object: o, From: from, To: to}
}

func moved(t identity.LinkType, node string, o identity.Key, at int64) identity.Link {
	return identity.Link{Type: t, Subject: key(identity.Node, node), Object: o, From: at}
}

func TestResolve(t *testing.T) {
	a := func(id string) identity.Key { return key(identity.Allocation, id) }
	ni := func(id string) identity.Key { return key(identity.NodeInstance, id) }
	reimaged := []identity.Link{
		moved(identity.Opened, "n", a("a1"), 100), moved(identity.Closed, "n", a("a1"), 200),
		moved(identity.Opened, "n", a("a2"), 300), moved(identity.Closed, "n", a("a2"), 400),
		moved(identity.Opened, "n", ni("i1"), 50), moved(identity.Opened, "n", ni("i2"), 250),
	}
	cases := []struct {
		name         string
		world        world
		opt          identity.Options
		keys         identity.Keys
		at, observed int64
		want         string // allocation/workflow/node/instance via
	}{
		{name: "says so itself", keys: keys(identity.Allocation, "a1"), want: "a1/// explicit"},
		{name: "nothing known", keys: keys(identity.Request, "r"), want: "/// "},
		{name: "a name of the node", world: world{links: append(slices.Clone(reimaged), bind(key(identity.Resource, "ironic/7"), key(identity.Node, "n"), identity.Always, identity.Forever))},
			keys: keys(identity.Resource, "ironic/7"), at: 150, want: "a1//n/i1 node"},
		{name: "a name of a node instance", world: world{links: append(slices.Clone(reimaged), bind(key(identity.Resource, "machine/7"), ni("i2"), identity.Always, identity.Forever))},
			keys: keys(identity.Resource, "machine/7"), at: 350, want: "a2//n/i2 node_instance"},
		{name: "a node's name between two assignments", world: world{links: append(slices.Clone(reimaged), bind(key(identity.Resource, "ironic/7"), key(identity.Node, "n"), identity.Always, identity.Forever))},
			keys: keys(identity.Resource, "ironic/7"), at: 220, want: "//n/i1 "},
		{name: "task to workflow to allocation", world: world{seen: []identity.Keys{
			keys(identity.Task, "t", identity.Workflow, "w"), keys(identity.Workflow, "w", identity.Allocation, "a1")}},
			keys: keys(identity.Task, "t"), want: "a1/w// task"},
		{name: "request to correlation to allocation, stated", world: world{links: []identity.Link{
			bind(key(identity.Request, "r"), key(identity.Correlation, "c"), identity.Always, identity.Forever),
			bind(key(identity.Correlation, "c"), a("a1"), identity.Always, identity.Forever)}},
			keys: keys(identity.Request, "r"), want: "a1/// request"},
		{name: "stronger key wins", world: world{seen: []identity.Keys{
			keys(identity.Task, "t", identity.Allocation, "a1"), keys(identity.Trace, "x", identity.Allocation, "a2")}},
			keys: keys(identity.Trace, "x", identity.Task, "t"), want: "a1/// task !"},
		{name: "shared image resolves nothing", world: world{seen: []identity.Keys{
			keys(identity.Resource, "img", identity.Allocation, "a1"), keys(identity.Resource, "img", identity.Allocation, "a2")}},
			keys: keys(identity.Resource, "img"), want: "/// "},
		{name: "shared by way of requests", world: world{seen: []identity.Keys{
			keys(identity.Resource, "img", identity.Request, "r1"), keys(identity.Request, "r1", identity.Allocation, "a1"),
			keys(identity.Resource, "img", identity.Request, "r2"), keys(identity.Request, "r2", identity.Allocation, "a2")}},
			keys: keys(identity.Resource, "img"), want: "/// "},
		{name: "beside a shared image", world: world{seen: []identity.Keys{
			keys(identity.Resource, "img", identity.Request, "r1"), keys(identity.Request, "r1", identity.Allocation, "a1"),
			keys(identity.Resource, "img", identity.Request, "r2"), keys(identity.Request, "r2", identity.Allocation, "a2"),
			keys(identity.Resource, "img", identity.Request, "r3"), keys(identity.Request, "r3", identity.Resource, "vm3"), keys(identity.Resource, "vm3", identity.Allocation, "a3")}},
			keys: keys(identity.Request, "r3"), want: "a3/// request"},
		{name: "interval not begun", world: world{links: []identity.Link{bind(key(identity.Task, "t"), a("a1"), 100, 200)}},
			keys: keys(identity.Task, "t"), at: 99, want: "/// "},
		{name: "later link wins from its start", world: world{links: []identity.Link{
			bind(key(identity.Task, "t"), a("a1"), 100, 300), bind(key(identity.Task, "t"), a("a2"), 200, 300)}},
			keys: keys(identity.Task, "t"), at: 200, want: "a2/// task"},
		{name: "two from the same instant give nothing", world: world{links: []identity.Link{
			bind(key(identity.Task, "t"), a("a1"), 100, 300), bind(key(identity.Task, "t"), a("a2"), 100, 300)}},
			keys: keys(identity.Task, "t"), at: 200, want: "/// "},
		{name: "cycle ends", world: world{links: []identity.Link{
			bind(key(identity.Task, "t"), key(identity.Claim, "c"), identity.Always, identity.Forever),
			bind(key(identity.Claim, "c"), key(identity.Task, "t"), identity.Always, identity.Forever)}},
			keys: keys(identity.Task, "t"), want: "/// "},
		{name: "node in its time", world: world{links: reimaged}, keys: keys(identity.Node, "n"), at: 150, want: "a1//n/i1 node"},
		{name: "node between two", world: world{links: reimaged}, keys: keys(identity.Node, "n"), at: 260, want: "//n/i2 "},
		{name: "end is exclusive", world: world{links: reimaged}, keys: keys(identity.Node, "n"), at: 200, want: "//n/i1 "},
		{name: "node for the next", world: world{links: reimaged}, keys: keys(identity.Node, "n"), at: 350, want: "a2//n/i2 node"},
		{name: "late line of the old node instance", world: world{links: reimaged}, keys: keys(identity.NodeInstance, "i1"), at: 150, observed: 900, want: "a1//n/i1 node_instance"},
		{name: "old node instance after its end", world: world{links: reimaged}, keys: keys(identity.NodeInstance, "i1", identity.Node, "n"), at: 350, observed: 350, want: "//n/i1 "},
		{name: "stamped before its node instance existed", world: world{links: reimaged}, keys: keys(identity.NodeInstance, "i2"), at: 150, observed: 350, want: "a2//n/i2 node_instance ?"},
		{name: "boot to node instance to node", world: world{links: reimaged, seen: []identity.Keys{keys(identity.Boot, "b", identity.NodeInstance, "i2")}},
			keys: keys(identity.Boot, "b"), at: 350, want: "a2//n/i2 node_instance"},
		{name: "claim to node instance", world: world{links: append([]identity.Link{
			bind(key(identity.Claim, "c"), ni("i1"), identity.Always, identity.Forever)}, reimaged...)},
			keys: keys(identity.Claim, "c"), at: 150, want: "//n/i1 "},
		{name: "shared node resolves nothing", opt: identity.Options{SharedNodes: true}, world: world{links: reimaged},
			keys: keys(identity.Node, "n"), at: 150, want: "//n/i1 "},
		{name: "a quoted foreign request is no reason to guess", world: world{seen: []identity.Keys{
			keys(identity.Request, "r1", identity.Allocation, "a1"), keys(identity.Request, "r2", identity.Allocation, "a2")}},
			keys: keys(identity.Request, "r1", identity.Request, "r2"), want: "/// !"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(20) {
				x := c.world.index(c.opt, rand.New(rand.NewPCG(seed, 1)))
				r := x.Resolve(c.keys, c.at, c.observed)
				got := strings.Join([]string{r.Allocation, r.Workflow, r.Node, r.NodeInstance}, "/") + " " + string(r.Via)
				if len(r.Conflicts) > 0 {
					got += " !"
				}
				if r.BeforeInstance {
					got += " ?"
				}
				if strings.ReplaceAll(got, "  ", " ") != c.want {
					t.Fatalf("seed %d: %q, want %q", seed, got, c.want)
				}
			}
		})
	}
}

func TestAddRefuses(t *testing.T) {
	x := identity.New(identity.Options{})
	cases := map[string]struct {
		link identity.Link
		want error
	}{
		"ends before it begins": {bind(key(identity.Task, "t"), key(identity.Allocation, "a"), 5, 4), identity.ErrInterval},
		"too long":              {bind(key(identity.Task, strings.Repeat("t", 513)), key(identity.Allocation, "a"), 1, 2), identity.ErrID},
		"empty":                 {bind(key(identity.Task, ""), key(identity.Allocation, "a"), 1, 2), identity.ErrID},
		"allocation of a task":  {bind(key(identity.Allocation, "a"), key(identity.Task, "t"), 1, 2), identity.ErrKind},
		"unknown kind":          {bind(key(identity.NoKind, "t"), key(identity.Allocation, "a"), 1, 2), identity.ErrKind},
		"itself":                {bind(key(identity.Task, "t"), key(identity.Task, "t"), 1, 2), identity.ErrSelf},
	}
	for name, c := range cases {
		if err := x.Add(c.link); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if s := x.Stats(); s.Subjects != 0 || len(s.Refused) != 4 {
		t.Errorf("a refused link left something behind: %+v", s)
	}
}

func TestOverlapsAreReported(t *testing.T) {
	x := world{links: []identity.Link{
		moved(identity.Opened, "n", key(identity.Allocation, "a1"), 100), moved(identity.Closed, "n", key(identity.Allocation, "a1"), 300),
		moved(identity.Opened, "n", key(identity.Allocation, "a2"), 200)}}.index(identity.Options{}, nil)
	want := []identity.Overlap{{Subject: key(identity.Node, "n"), Earlier: "a1", Later: "a2", From: 200, To: 300}}
	if d := cmp.Diff(want, x.Overlaps()); d != "" {
		t.Error(d)
	}
}

// Any order of the same links, with any number of duplicates, resolves every record alike.
func TestOrderDoesNotMatter(t *testing.T) {
	ids := []string{"1", "2", "3"}
	rapid.Check(t, func(t *rapid.T) {
		anyKey := func(kinds ...identity.Kind) identity.Key {
			return key(rapid.SampledFrom(kinds).Draw(t, "kind"), rapid.SampledFrom(ids).Draw(t, "id"))
		}
		var w world
		for range rapid.IntRange(1, 12).Draw(t, "records") {
			var ks identity.Keys
			for range rapid.IntRange(2, 4).Draw(t, "keys") {
				k := anyKey(identity.Allocation, identity.Workflow, identity.Task, identity.Request, identity.Trace, identity.NodeInstance, identity.Node)
				ks = ks.Add(k.Kind, k.ID)
			}
			w.seen = append(w.seen, ks)
		}
		for range rapid.IntRange(0, 8).Draw(t, "links") {
			f := identity.Link{
				Type:    rapid.SampledFrom([]identity.LinkType{identity.Bind, identity.Opened, identity.Closed, identity.Lost}).Draw(t, "type"),
				Subject: anyKey(identity.Node, identity.Task), Object: anyKey(identity.Allocation, identity.NodeInstance),
				From: rapid.Int64Range(0, 20).Draw(t, "from"), To: rapid.Int64Range(0, 30).Draw(t, "to"),
			}
			if f.Type != identity.Bind && f.Subject.Kind != identity.Node {
				continue
			}
			w.links = append(w.links, f)
		}
		w.seen = append(w.seen, w.seen[0])
		first := w.index(identity.Options{}, nil)
		other := w.index(identity.Options{}, rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7)))
		for _, k := range []identity.Kind{identity.Workflow, identity.Task, identity.Request, identity.Trace, identity.NodeInstance, identity.Node} {
			for _, id := range ids {
				at := rapid.Int64Range(0, 20).Draw(t, "at")
				if d := cmp.Diff(first.Resolve(keys(k, id), at, at+3), other.Resolve(keys(k, id), at, at+3)); d != "" {
					t.Fatalf("%v %s at %d: %s", k, id, at, d)
				}
			}
		}
	})
}
