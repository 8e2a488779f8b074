package live

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/story"
)

// What steps took is filed as they end and decides what is late, also after a restart: a platform whose
// allocations are ready within twenty seconds does not wait for the profile's quarter of an hour.
func TestWhatStepsTookIsLearnt(t *testing.T) {
	at := func(d time.Duration) string { return story.Day.Add(d).Format("15:04:05") }
	begin := func(b *strings.Builder, id string, d time.Duration) {
		fmt.Fprintf(b, "%s operator allocation.state allocation_id=%s to=requested\n", at(d), id)
		fmt.Fprintf(b, "%s operator allocation.state allocation_id=%s from=requested to=reserved\n", at(d), id)
		fmt.Fprintf(b, "%s operator allocation.state allocation_id=%s from=reserved to=provisioning\n", at(d), id)
	}
	st := newStore(t)
	g := newStage(t, st, "r-1")
	var b strings.Builder
	for i := range 40 {
		d := 10*time.Hour + time.Duration(i)*time.Minute
		begin(&b, fmt.Sprintf("b-%d", i), d)
		fmt.Fprintf(&b, "%s operator allocation.state allocation_id=b-%d from=provisioning to=active\n", at(d+20*time.Second), i)
	}
	g.follow = newFollower(st, story.Day)
	st.arrive(parse(t, b.String())...)
	g.settle(t)
	took, err := st.Durations(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if p99, n := took.P99("state:provisioning"); p99 != 20*time.Second || n != 40 {
		t.Fatalf("%s of %d", p99, n)
	}

	b.Reset()
	begin(&b, "a-1", 11*time.Hour)
	fmt.Fprintf(&b, "%s operator workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running\n", at(11*time.Hour))
	fmt.Fprintf(&b, "%s operator heartbeat component=operator\n", at(11*time.Hour+3*time.Minute))
	late := parse(t, b.String())
	for _, restarted := range []bool{false, true} {
		if restarted {
			clock := g.clock
			g = newStage(t, st, "r-2")
			g.clock = clock
			g.follow = newFollower(st, story.Day)
		} else {
			st.take(g.clock, late...)
			g.clock = g.clock.Add(learnEvery)
		}
		g.settle(t)
		said, err := st.Last(t.Context(), []string{"a-1"})
		if err != nil {
			t.Fatal(err)
		}
		if v := said["a-1"].Assessment.Verdict; v.Outcome != "attributed" || v.Faults[0].Layer != "workflow" {
			t.Errorf("restarted %v: nine times as long as ever, and %s: %s", restarted, v.Outcome, v.Explanation)
		}
	}
	if len(g.pendingDurations) != 0 {
		t.Errorf("%d steps wait", len(g.pendingDurations))
	}
}

// Lifecycles that claim the times of 130 weeks and arrive in one batch teach nothing: nobody saw how long their steps took.
// What others took is learnt beside them.
func TestClaimedTimesTeachNothing(t *testing.T) {
	st := newStore(t)
	g := newStage(t, st, "r-1")
	g.follow = newFollower(st, story.Day)
	life := func(b *strings.Builder, id string, begin time.Time, took time.Duration) {
		for i, to := range []string{"requested", "reserved", "provisioning", "active"} {
			at := begin.Add(time.Duration(i) * took)
			fmt.Fprintf(b, "%s operator allocation.state allocation_id=%s to=%s\n", at.Format(time.RFC3339Nano), id, to)
		}
	}
	var honest, poison strings.Builder
	for i := range 40 {
		life(&honest, fmt.Sprintf("b-%d", i), story.Day.Add(10*time.Hour+time.Duration(i)*time.Minute), 5*time.Second)
	}
	for i := range 130 {
		life(&poison, fmt.Sprintf("p-%d", i), story.Day.Add(time.Duration(i-65)*7*24*time.Hour), 24*time.Hour)
	}
	st.take(g.clock, parse(t, poison.String())...)
	st.arrive(parse(t, honest.String())...)
	g.settle(t)
	took, err := st.Durations(t.Context(), g.clock.UnixNano())
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"state:reserved", "state:provisioning"} {
		if p99, n := took.P99(step); p99 != 5*time.Second || n != 40 {
			t.Errorf("%s: %s of %d cases, want 5s of 40", step, p99, n)
		}
	}
}
