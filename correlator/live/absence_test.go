package live

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/story"
)

// over is the rest of what begins: the allocation fails, for its node's certificate, and is given back.
const over = fails + `
10:00:52 provisioner allocation.state allocation_id=a-1 from=provisioning to=failed
10:00:55 provisioner allocation.state allocation_id=a-1 from=failed to=releasing
10:01:00 provisioner allocation.state allocation_id=a-1 from=releasing to=released
`

// A failure that came and went while no correlator ran is kept by the next one, which goes on where the other had come to.
func TestAFailureOfAnAbsenceIsKept(t *testing.T) {
	st := newStore(t)
	g := newStage(t, st, "r-1")
	st.take(g.clock, parse(t, begins)...)
	g.settle(t)
	g.clock = g.clock.Add(g.cfg.Lease)
	g.step(t.Context()) // says how far it has come
	st.take(g.clock.Add(10*time.Minute), parse(t, over)...)
	later := newStage(t, st, "r-2")
	later.clock = g.clock.Add(time.Hour)
	later.follow = newFollower(st, later.clock.Add(-time.Minute))
	later.settle(t)
	if history := later.history(t); !slices.ContainsFunc(history, func(s string) bool { return strings.Contains(s, "attributed") }) {
		t.Errorf("nobody is said to have failed: %v", history)
	}
}

// So is one that fell into the death of a replica, by those that take its share over.
func TestAFailureOfADeadReplicaIsKept(t *testing.T) {
	st := newStore(t)
	st.live = []string{"r-1", "r-2"}
	stages := []*stage{newStage(t, st, "r-1"), newStage(t, st, "r-2")}
	const n = 20
	say := func(text string, i int) string {
		return strings.ReplaceAll(strings.ReplaceAll(text, "a-1", fmt.Sprintf("b-%d", i)), "k-1", fmt.Sprintf("k-%d", i))
	}
	for i := range n {
		st.take(stages[0].clock, parse(t, say(begins, i))...)
	}
	for _, g := range stages {
		g.settle(t)
		g.clock = g.clock.Add(g.cfg.Lease)
		g.step(t.Context())
	}
	left, dead := stages[0], stages[1]
	if len(dead.published) == 0 {
		t.Fatal("nothing was the share of the one that dies")
	}
	for i := range n { // r-2 is dead, and nobody knows yet
		st.take(left.clock, parse(t, say(over, i))...)
	}
	left.settle(t)
	st.live = []string{"r-1"}
	left.clock = left.clock.Add(time.Minute)
	left.settle(t)
	for i := range n {
		id := fmt.Sprintf("b-%d", i)
		said, err := st.Last(t.Context(), []string{id})
		if err != nil {
			t.Fatal(err)
		}
		if v := said[id].Assessment.Verdict; v.Outcome != "attributed" {
			t.Errorf("%s: %s", id, v.Outcome)
		}
	}
}

// What is not judged yet holds the mark back: who goes on there misses nothing.
func TestTheMarkWaitsForWhatWaits(t *testing.T) {
	st := newStore(t)
	g := newStage(t, st, "r-1")
	at := g.clock
	st.take(at, parse(t, begins)...)
	if err := g.take(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	if got := g.judgedUntil(); got > at.UnixNano() {
		t.Errorf("judged until %d, and what arrived at %d waits", got, at.UnixNano())
	}
	st.away = true // it is judged and cannot be written
	g.clock = at.Add(time.Second)
	g.settleAway(t)
	if got := g.judgedUntil(); got > at.UnixNano() {
		t.Errorf("judged until %d, and what arrived at %d is not written", got, at.UnixNano())
	}
	st.away = false
	g.settle(t)
	st.take(g.clock, parse(t, "10:00:02 node-agent info allocation_id=a-1 | nothing new")...)
	end := g.clock
	g.settle(t)
	if got := g.judgedUntil(); got != end.UnixNano() {
		t.Errorf("judged until %d, and all that arrived until %d is judged and written", got, end.UnixNano())
	}
}

// settleAway judges what waits while nothing can be written.
func (g *stage) settleAway(t *testing.T) {
	t.Helper()
	g.store.away = false
	if err := g.judge(t.Context(), g.clock); err != nil {
		t.Fatal(err)
	}
	for id, ok := g.loader.next(); ok; id, ok = g.loader.next() {
		s, err := g.store.RecordSet(t.Context(), id, 0)
		if err != nil {
			t.Fatal(err)
		}
		g.loader.read = append(g.loader.read, loaded{id: id, records: s})
	}
	g.store.away = true
}

// A correlator follows by the store's clock: its own may be wrong by an hour.
func TestFollowingByTheStoresClock(t *testing.T) {
	st := newStore(t)
	st.now = story.Day.Add(12 * time.Hour)
	g := newStage(t, st, "r-1")
	g.follow, g.clock = nil, st.now.Add(time.Hour)
	g.step(t.Context())
	st.take(st.now, parse(t, begins)...)
	st.take(st.now.Add(time.Second), parse(t, fails)...)
	g.settle(t)
	if history := g.history(t); len(history) == 0 {
		t.Error("nothing is said of what arrived after it began")
	}
}
