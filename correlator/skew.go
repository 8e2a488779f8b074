package correlator

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// noticeable is from when on two clocks are told apart. Below it, rounding and buffering look the same.
const noticeable = 500 * time.Millisecond

// clockOf names the clock that stamped an event: a service on a node, because every node has its own.
func clockOf(e *Event) string {
	where := firstOf(e.Own(identity.NodeInstance), e.Own(identity.Node), e.Attr(semconv.HostName))
	if where == "" || e.IsEvent() && (e.Layer == semconv.LayerWorkflow || e.Layer == semconv.LayerAPI) {
		return e.Service // a controller's events name the nodes that they are about
	}
	return e.Service + " on " + where
}

// causal is one cause and its effect, stamped by two clocks.
type causal struct{ cause, effect *Event }

// clocks collects what causal pairs say of clocks. What was sent cannot have been received earlier: by how much
// it seems so, one clock is behind the other.
type clocks struct {
	worst map[[2]string]causal // cause's clock, effect's clock → the pair that contradicts the clocks most
	by    map[[2]string]int64  // and by how much, in ns
	ahead map[string]*Event    // clock → the record that was stamped furthest after it was seen
}

func (k *clocks) pair(cause, effect *Event, by int64) {
	if by < int64(noticeable) {
		return
	}
	a, b := clockOf(cause), clockOf(effect)
	if a == b {
		return
	}
	key := [2]string{a, b}
	if by > k.by[key] {
		k.by[key], k.worst[key] = by, causal{cause, effect}
	}
}

// clockSkews says, for every clock that causes and effects prove wrong, by how much at least. A record that was
// stamped after a collector saw it proves it too. Times stay as they were stamped.
func clockSkews(c *Case) []Finding {
	k := &clocks{worst: map[[2]string]causal{}, by: map[[2]string]int64{}, ahead: map[string]*Event{}}
	k.spans(c.parents)
	k.steps(&c.Lifecycle)
	for _, e := range c.Events {
		if early := e.Time - e.Observed; early >= int64(noticeable) && e.At == e.Time {
			if w := k.ahead[clockOf(e)]; w == nil || early > w.Time-w.Observed {
				k.ahead[clockOf(e)] = e
			}
		}
	}
	return k.findings()
}

// spans compares what a caller saw of a call with what the called saw: it begins after, and ends before.
func (k *clocks) spans(parents []parentLink) {
	for _, f := range parents {
		parent, e := f.parent, f.child
		k.pair(parent, e, parent.Time-e.Time)
		if parent.Status == "error" || parent.HTTP.Status >= 499 {
			continue // it had given up: its end is not that it was answered
		}
		if waits := parent.SpanKind == "client" || e.SpanKind == "server"; waits && e.End > e.Time && parent.End > parent.Time {
			// The answer was sent before it was received: now the called is the cause.
			k.pair(e, parent, e.End-parent.End)
		}
	}
}

// steps compares the moves of tasks, jobs and outbox records that only one order can bring about.
func (k *clocks) steps(l *Lifecycle) {
	after := func(cause *Event, effects ...*Event) {
		for _, e := range effects {
			if cause != nil && e != nil && e != cause {
				k.pair(cause, e, cause.Time-e.Time)
			}
		}
	}
	for _, a := range l.Tasks {
		after(a.Queued, a.Taken)
		for _, s := range a.Signs {
			after(a.Taken, s)
		}
		if a.Over != nil && a.Over.To() != semconv.Expired {
			after(a.Taken, a.Over)
		}
	}
	for _, j := range l.Jobs {
		// A job's end is told after its launch was, whoever tells.
		if first := j.Changes[0]; strings.EqualFold(first.To, "pending") {
			for _, change := range j.Changes[1:] {
				after(first.Event, change.Event)
			}
		}
	}
	for _, o := range l.Outbox {
		if first, last := o.Changes[0], o.Last(); first.To == semconv.Pending && last.To == semconv.Published {
			after(first.Event, last.Event)
		}
	}
}

// findings names one clock for every contradiction: the one that is proven ahead, else the one that contradicts
// more of the others, else the effect's, as being behind.
func (k *clocks) findings() []Finding {
	partners := map[string]map[string]bool{}
	for key := range k.by {
		for i := range key {
			if partners[key[i]] == nil {
				partners[key[i]] = map[string]bool{}
			}
			partners[key[i]][key[1-i]] = true
		}
	}
	type verdict struct {
		off    int64 // positive: ahead
		than   string
		events []*Event
	}
	found := map[string]verdict{}
	blame := func(clock string, off int64, than string, events ...*Event) {
		if v, ok := found[clock]; !ok || max(off, -off) > max(v.off, -v.off) {
			found[clock] = verdict{off, than, events}
		}
	}
	for _, clock := range slices.Sorted(maps.Keys(k.ahead)) { // in order: of equal contradictions the first is told
		e := k.ahead[clock]
		blame(clock, e.Time-e.Observed, "its collector", e)
	}
	for _, key := range slices.SortedFunc(maps.Keys(k.by), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		cause, effect, by := key[0], key[1], k.by[key]
		pair := k.worst[key]
		switch {
		case k.ahead[cause] != nil:
			blame(cause, by, effect, pair.cause, pair.effect)
		case len(partners[cause]) > len(partners[effect]):
			blame(cause, by, effect, pair.cause, pair.effect)
		default:
			blame(effect, -by, cause, pair.cause, pair.effect)
		}
	}
	var out []Finding
	for clock, v := range found {
		how := "ahead of"
		if v.off < 0 {
			how = "behind"
		}
		out = append(out, Finding{
			Kind: "clock_skew", Refs: refs(v.events),
			Summary: fmt.Sprintf("the clock of %s is at least %s %s %s; times are shown as stamped", clock, time.Duration(max(v.off, -v.off)).Round(time.Millisecond), how, v.than),
		})
	}
	slices.SortFunc(out, func(a, b Finding) int { return cmp.Compare(a.Summary, b.Summary) })
	return out
}
