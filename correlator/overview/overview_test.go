package overview

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
)

// store is a Source in memory. What each replica said last may not be visible yet.
type store struct {
	at     int64
	heads  map[string]query.Head
	labels []query.Label
	said   []query.Said
	hidden int // the newest words of each replica that are not to be seen yet
	shown  map[string]int
}

func (s *store) Now(context.Context) (time.Time, error) { return time.Unix(0, s.at), nil }
func (s *store) Judged(context.Context, time.Duration) (int64, error) {
	return s.at, nil
}

func (s *store) Heads(_ context.Context, since int64, most int) (out []query.Head, _ error) {
	for _, h := range s.heads {
		if h.Taken >= since/1e9 {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(a, b query.Head) int { return int(b.Last - a.Last) })
	return out[:min(len(out), most)], nil
}

func (s *store) LabelsSince(context.Context, int64) ([]query.Label, error) { return s.labels, nil }

// visible gives what is to be seen: what was seen once stays.
func (s *store) visible() []query.Said {
	count := map[string]int{}
	for _, one := range s.said {
		count[one.Replica]++
	}
	if s.shown == nil {
		s.shown = map[string]int{}
	}
	for replica, n := range count {
		s.shown[replica] = max(s.shown[replica], n-s.hidden)
	}
	var out []query.Said
	nth := map[string]int{}
	for _, one := range s.said {
		if nth[one.Replica]++; nth[one.Replica] <= s.shown[one.Replica] {
			out = append(out, one)
		}
	}
	slices.SortStableFunc(out, func(a, b query.Said) int { return placeOf(a).compare(placeOf(b)) })
	return out
}

func (s *store) LastSaid(context.Context, int) ([]query.Said, error) {
	last := map[string]query.Said{}
	for _, one := range s.visible() {
		if one.JudgedAt >= last[one.ID].JudgedAt {
			last[one.ID] = one
		}
	}
	var out []query.Said
	for _, one := range last {
		out = append(out, one)
	}
	return out, nil
}

func (s *store) SaidSince(_ context.Context, since int64, most int) (out []query.Said, _ error) {
	for _, one := range s.visible() {
		if one.Ingested >= since {
			out = append(out, one)
		}
	}
	return out[:min(len(out), most)], nil
}

func (s *store) SaidMarks(ctx context.Context, since int64) (out []Mark, _ error) {
	said, err := s.SaidSince(ctx, since, 1e6)
	for _, one := range said {
		out = append(out, Mark{one.ID, int64(one.JudgedAt), one.Ingested})
	}
	return out, err
}

func (s *store) say(replica, id, outcome string, change ...func(*correlator.Assessment)) {
	s.at += 1e6
	r := correlator.Revision{ID: id, JudgedAt: correlator.Time(s.at), Assessment: correlator.Assessment{ID: id}}
	r.Assessment.Verdict.Outcome, r.Assessment.Verdict.RulesVersion = outcome, correlator.RulesVersion
	for _, c := range change {
		c(&r.Assessment)
	}
	s.said = append(s.said, query.Said{Revision: r, Replica: replica, Ingested: s.at})
	s.hear(id, "active")
}

func (s *store) hear(id, state string) {
	if s.heads == nil {
		s.heads = map[string]query.Head{}
	}
	h, known := s.heads[id]
	if h.ID, h.State, h.Last, h.Taken = id, &state, correlator.Time(s.at), s.at/1e9; !known {
		h.First = h.Last
	}
	s.heads[id] = h
}

func newStore() *store { return &store{at: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC).UnixNano()} }

// looking gives an overview of the store, and what brings it up to date.
func looking(t *testing.T, s *store, cfg Config) (*Overview, func()) {
	t.Helper()
	cfg.Interval = 0 // every look asks all
	o, f := New(s, cfg), &follower{seen: map[key]int64{}}
	o.now = func() time.Time { return time.Unix(0, s.at) }
	look := func() {
		t.Helper()
		if err := o.look(t.Context(), f); err != nil {
			t.Fatal(err)
		}
	}
	look()
	return o, look
}

func certFault(a *correlator.Assessment) {
	a.Verdict.Faults = []correlator.Fault{{Layer: "cert", Mechanism: "expired", Confidence: "high", Summary: "the certificate of gpu-17 has expired"}}
	a.Verdict.Faults[0].Owner.Team = "pki"
}

func ids(list []query.Listed) string {
	var out []string
	for _, l := range list {
		out = append(out, l.ID)
	}
	return strings.Join(out, " ")
}

func TestListsAreNarrowed(t *testing.T) {
	s := newStore()
	s.say("r", "a-1", correlator.Attributed, certFault)
	s.say("r", "a-2", correlator.None)
	s.say("r", "a-3", correlator.Undetermined, func(a *correlator.Assessment) {
		a.Stuck = &correlator.Stuck{What: "task t is not claimed", Deadline: correlator.Time(s.at - 90e9)}
	})
	s.hear("a-4", "failed")
	s.labels = []query.Label{{Allocation: "a-1", Name: "tenant", Value: "blue"}, {Allocation: "a-1", Name: "tenant", Value: "red", First: 1}, {Allocation: "a-2", Name: "provider", Value: "eda"}, {Allocation: "a-2", Name: "provider", Value: "aap"}}
	o, _ := looking(t, s, DefaultConfig())
	f := func(q query.ListQuery, want string) {
		t.Helper()
		found, _, ok := o.List(q)
		if !ok || ids(found) != want {
			t.Errorf("%+v: %s, want %s", q, ids(found), want)
		}
	}
	yes, no := true, false
	f(query.ListQuery{}, "a-3 a-4 a-2 a-1")
	f(query.ListQuery{State: "failed"}, "a-4")
	f(query.ListQuery{Layer: "cert"}, "a-1")
	f(query.ListQuery{Owner: "pki", Outcome: "attributed"}, "a-1")
	f(query.ListQuery{Stuck: &yes}, "a-3")
	f(query.ListQuery{Stuck: &no, Order: query.ByID}, "a-1 a-2 a-4")
	f(query.ListQuery{Text: "EXPIRED gpu-17"}, "a-1")
	f(query.ListQuery{Text: "expired gpu-18"}, "")
	f(query.ListQuery{Tenant: "blue"}, "a-1")
	f(query.ListQuery{Tenant: "red"}, "") // the first word counts
	f(query.ListQuery{Provider: "aap"}, "a-2")
	f(query.ListQuery{From: s.at - 5e5}, "a-3 a-4")
	f(query.ListQuery{Order: query.ByID, After: "a-2", Limit: 1}, "a-3")
	found, _, _ := o.List(query.ListQuery{Stuck: &yes})
	if found[0].OverdueSeconds != 90 || found[0].Summary != "task t is not claimed" {
		t.Errorf("%+v", found[0])
	}
	if tenant, ok := o.Tenant("a-1"); tenant != "blue" || !ok {
		t.Error(tenant)
	}
	list, examined, _ := o.Assessments()
	if len(list) != 2 || examined != 3 {
		t.Errorf("%d of %d", len(list), examined)
	}
}

// Pages by identifier hold everything that was there once, whatever moves meanwhile.
func TestPagesUnderChange(t *testing.T) {
	s := newStore()
	for i := range 500 {
		s.hear(fmt.Sprintf("a-%03d", i), "active")
	}
	o, look := looking(t, s, DefaultConfig())
	seen, after := map[string]int{}, ""
	for {
		found, next, _ := o.List(query.ListQuery{Order: query.ByID, After: after, Limit: 30})
		for _, l := range found {
			seen[l.ID]++
		}
		for range 40 {
			s.at += 1e9
			s.hear(fmt.Sprintf("a-%03d", rand.IntN(700)), "failed")
		}
		look()
		if after = next; next == "" {
			break
		}
	}
	for i := range 500 {
		if n := seen[fmt.Sprintf("a-%03d", i)]; n != 1 {
			t.Errorf("a-%03d was seen %d times", i, n)
		}
	}
}

// Memory is bounded, and the overview says that it does not know all.
// A verdict is given from memory as it was said, also one that nothing is wrong, unless something of it was left out.
func TestAVerdictIsGivenAsItWasSaid(t *testing.T) {
	s := newStore()
	o, look := looking(t, s, Config{Allocations: 20})
	well := func(a *correlator.Assessment) {
		a.Verdict.Explanation = "active since 2026-03-02T10:00:00Z."
		a.Verdict.Faults, a.Verdict.Candidates, a.Verdict.Missing = []correlator.Fault{}, []correlator.Candidate{}, []correlator.Missing{}
		a.Verdict.Drift, a.Verdict.Findings = []correlator.Drift{}, []correlator.Finding{}
	}
	s.say("r", "well", correlator.None, well)
	s.say("r", "found", correlator.None, well, func(a *correlator.Assessment) {
		a.Verdict.Findings = append(a.Verdict.Findings, correlator.Finding{Kind: "clock"})
	})
	s.say("r", "wrong", correlator.Attributed, certFault)
	s.say("r", "old rules", correlator.None, well, func(a *correlator.Assessment) { a.Verdict.RulesVersion = "1" })
	look()
	for _, one := range s.said {
		r, ok := o.Last(one.ID)
		if known := one.ID == "well" || one.ID == "wrong"; ok != known {
			t.Errorf("%s: known %t", one.ID, ok)
		} else if !known {
			continue
		}
		want := one.Assessment.Verdict
		want.AsOf = correlator.Time(s.at) // all that had arrived was judged
		if d := cmp.Diff(want, r.Assessment.Verdict); d != "" {
			t.Errorf("%s, as it was said (-) and as it is given (+):\n%s", one.ID, d)
		}
	}
}

func TestWhatIsKeptIsBounded(t *testing.T) {
	s := newStore()
	for i := range 30 {
		s.at += 1e9
		s.say("r", fmt.Sprintf("a-%02d", i), correlator.Undetermined)
	}
	o, look := looking(t, s, Config{Allocations: 20})
	for i := range 5 {
		s.at += 1e9
		s.say("r", fmt.Sprintf("b-%02d", i), correlator.Undetermined)
	}
	look()
	found, _, ok := o.List(query.ListQuery{Limit: 3})
	if !ok || ids(found) != "b-04 b-03 b-02" {
		t.Error(ids(found))
	}
	if found, _, ok := o.List(query.ListQuery{}); ok || len(found) != 20 || len(o.rows) != 20 || len(o.byID) != 20 {
		t.Errorf("%d %t %d", len(found), ok, len(o.rows))
	}
}

// A reader that goes on from the last cursor gets every word once, though several replicas write, what they write becomes
// visible late, and the overview begins anew in between.
func TestStreamsSkipAndRepeatNothing(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 1))
		s := newStore()
		s.say("r-0", "before", correlator.None)
		o, look := looking(t, s, DefaultConfig())
		var got, want []string
		stream, err := o.Stream(t.Context(), "", "")
		if err != nil || len(stream.Past) != 0 {
			t.Fatal(stream.Past, err)
		}
		cursor := stream.Cursor
		take := func(e query.Told) {
			got, cursor = append(got, fmt.Sprint(e.ID, " ", int64(e.JudgedAt))), e.Cursor
		}
		drain := func() {
			for {
				select {
				case e := <-stream.Next:
					take(e)
				default:
					return
				}
			}
		}
		for range 200 {
			switch rng.IntN(6) {
			case 0, 1:
				s.say(fmt.Sprintf("r-%d", rng.IntN(3)), fmt.Sprintf("a-%d", rng.IntN(5)), correlator.Undetermined)
			case 2:
				s.hidden = rng.IntN(3)
				look()
			case 3:
				s.at += int64(rng.IntN(20)) * 1e9 // less than an insert may take, altogether
				s.hidden = 0
				look()
				drain()
			case 4: // the reader goes away, perhaps with words unread, and comes back
				if rng.IntN(2) == 0 {
					drain()
				}
				stream.Close()
				if rng.IntN(3) == 0 { // the server, too
					s.hidden = 0
					o, look = looking(t, s, DefaultConfig())
				}
				if stream, err = o.Stream(t.Context(), "", cursor); err != nil {
					t.Fatal(err)
				}
				for _, e := range stream.Past {
					take(e)
				}
			}
		}
		s.hidden = 0
		look()
		drain()
		for _, one := range s.said[1:] {
			want = append(want, fmt.Sprint(one.ID, " ", int64(one.JudgedAt)))
		}
		slices.Sort(got)
		slices.Sort(want)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("seed %d: said (-), told (+):\n%s", seed, d)
		}
	}
}

func TestFollowLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := newStore()
	s.hear("a-1", "active")
	o := New(s, Config{Interval: time.Millisecond, Allocations: 10})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- o.Follow(ctx, slog.New(slog.DiscardHandler)) }()
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		if found, _, ok := o.List(query.ListQuery{}); ok && len(found) == 1 {
			break
		}
		if time.Since(begun) > 10*time.Second {
			t.Fatal("nothing was read")
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestForeignCursorsAreRefused(t *testing.T) {
	o, _ := looking(t, newStore(), DefaultConfig())
	for _, cursor := range []string{"?", "e30", "bm90IGpzb24", strings.Repeat("A", 100)} {
		if s, err := o.Stream(t.Context(), "", cursor); err == nil {
			s.Close()
			t.Errorf("%q was taken", cursor)
		}
	}
}
