package rules

import (
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// stalled compares when a request was sent with when it was taken up.
func stalled() []correlator.Rule {
	return []correlator.Rule{{
		ID: "party.stalled", Mechanism: "stalled",
		Looks:      "a request that was taken up only after its caller had given it up, by a party that takes up others at once",
		NextCheck:  "what held that process still meanwhile: a pause of its runtime, of its machine, or a stop signal",
		SafeAction: "its callers need nothing; look at the process before it is restarted",
		Find:       tookUpLate,
	}}
}

// patience is how long somebody has waited, at least, who is said to have waited.
const patience = int64(time.Second)

// tookUpLate blames, in each trace, the first party on the way that began with its part after its caller had ended.
func tookUpLate(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	by := map[string][]*correlator.Event{} // spans, by trace
	var traces []string
	for _, e := range c.Failures(t) {
		if e.Signal == record.Span && e.TraceID != "" && by[e.TraceID] == nil {
			by[e.TraceID] = []*correlator.Event{}
			traces = append(traces, e.TraceID)
		}
	}
	if len(traces) == 0 {
		return nil
	}
	known := map[*correlator.Event]bool{}
	own := spansByTrace(c)
	for _, e := range slices.Concat(c.Failures(t), c.Quiet(t)) {
		if e.Signal == record.Span && by[e.TraceID] != nil && c.Profile.Knows(e.Layer) && !known[e] {
			known[e] = true
			by[e.TraceID] = append(by[e.TraceID], e)
		}
	}
	for _, id := range traces {
		for _, e := range own[id] {
			if !known[e] {
				by[id] = append(by[id], e)
			}
		}
	}
	found := map[string]*correlator.Evidence{}
	var order []string
	for _, id := range traces {
		caller, late := firstLate(by[id])
		if late == nil {
			continue
		}
		ev := found[late.Layer]
		if ev == nil {
			ev = &correlator.Evidence{
				Rule: late.Layer + ".stalled", Layer: late.Layer, Weight: correlator.Specific, Directness: correlator.Caller, Certain: true, Onset: caller.At,
				Summary: late.Layer + " took a request up " + time.Duration(late.At-caller.At).Round(time.Second).String() + " after it was sent, and its caller had given up" + quote(caller),
			}
			found[late.Layer], order = ev, append(order, late.Layer)
		}
		ev.Records = append(ev.Records, caller, late)
	}
	var out []correlator.Evidence
	for _, layer := range order {
		slices.SortStableFunc(found[layer].Records, correlator.CompareEvents)
		out = append(out, *found[layer])
	}
	return out
}

// spansByTrace are the allocation's own spans of layers that the platform has, in order.
func spansByTrace(c *correlator.Case) map[string][]*correlator.Event {
	type key struct{}
	return c.Memo(key{}, func() any {
		by := map[string][]*correlator.Event{}
		for _, e := range c.Events {
			if e.Signal == record.Span && e.TraceID != "" && c.Profile.Knows(e.Layer) {
				by[e.TraceID] = append(by[e.TraceID], e)
			}
		}
		return by
	}).(map[string][]*correlator.Event)
}

// firstLate gives the party of a trace that began after the end of one before it, while whoever asked it directly had not, and the last of
// those that had given up by then. A clock that is ahead would look the same but for one thing: who is served that quickly does not wait.
func firstLate(spans []*correlator.Event) (caller, late *correlator.Event) {
	gaveUp := func(e *correlator.Event) *correlator.Event { // the last that had ended before e began
		var last *correlator.Event
		for _, from := range spans {
			waited := from.EndAt() - from.At
			over := (from.Status == "error" || from.HTTP.Status >= 499) && waited >= patience && e.EndAt()-e.At < waited/2
			if over && correlator.Onward(from.Layer, e.Layer) && e.At >= from.EndAt() && (last == nil || correlator.Onward(last.Layer, from.Layer)) {
				last = from
			}
		}
		return last
	}
	for _, e := range spans {
		if e.SpanKind != "server" {
			continue // who fetches its work decides when
		}
		from := gaveUp(e)
		parent := slices.IndexFunc(spans, func(p *correlator.Event) bool { return p.SpanID != "" && p.SpanID == e.ParentID })
		if from == nil || parent < 0 || spans[parent].EndAt() > e.At || gaveUp(spans[parent]) != nil {
			continue // who asked it is not known, still waited, or was late itself
		}
		first := !slices.ContainsFunc(spans, func(o *correlator.Event) bool { return o.ParentID == e.ParentID && o.At < e.At })
		if !first && e.At < spans[parent].EndAt()+patience {
			continue // it was asked late: another one was before
		}
		if late == nil || e.At < late.At {
			caller, late = from, e
		}
	}
	return caller, late
}

// waited says whether a span tells that its party waited for another one, which it names, and had no answer: a dial that is refused is
// over at once.
func waited(e *correlator.Event) bool {
	return e.Signal == record.Span && e.EndAt()-e.At >= patience && !on(e, themeAtOnce) && !flagged(e.HTTP, "UF", "UH")
}

// overAtOnce are the words of a dial that ends at once.
var overAtOnce = []string{"refused", "no route", "no such host"}

// outlived says whether a span went on after its own caller had given up: what failed at its end was asked for by nobody any more.
func outlived(c *correlator.Case, e *correlator.Event) bool {
	return slices.ContainsFunc(c.Events, func(o *correlator.Event) bool {
		return o.TraceID == e.TraceID && o.Signal == record.Span && correlator.Onward(o.Layer, e.Layer) && o.EndAt() < e.EndAt()-patience
	})
}

// cutShort says whether the calls of a node's agent were not answered since the last that was: its silence about its work proves
// nothing then.
func cutShort(c *correlator.Case, t *correlator.Trouble) bool {
	if t.Owes != semconv.LayerNodeAgent || t.Node == "" {
		return false
	}
	var answered, not int64
	look := func(e *correlator.Event) {
		if e.At < t.From || e.HTTP.Status == 0 || e.Layer != semconv.LayerIngress && e.Layer != semconv.LayerNodeAgent || !correlator.Names(e, t.Node) && e.Allocation != c.ID {
			return
		}
		if e.HTTP.Status >= 499 {
			not = max(not, e.EndAt())
		} else {
			answered = max(answered, e.EndAt())
		}
	}
	c.EachIn(semconv.LayerIngress, t.From, c.Now, look)
	c.EachIn(semconv.LayerNodeAgent, t.From, c.Now, look)
	return not > answered
}

// goneQuiet says whether a layer behind the API, whose heart was heard to beat regularly, is not heard of any more: an API that does not
// answer may wait for it.
func goneQuiet(c *correlator.Case, t *correlator.Trouble) bool {
	for _, layer := range []string{semconv.LayerAPIAuth, semconv.LayerDB, semconv.LayerWorkflow} {
		var beats []int64
		last := int64(0)
		c.EachIn(layer, t.From-recently, c.Now, func(e *correlator.Event) {
			if e.Is(semconv.EventHeartbeat) {
				beats = append(beats, e.At)
			}
			last = max(last, e.EndAt())
		})
		if len(beats) < 3 {
			continue
		}
		gaps := make([]int64, 0, len(beats))
		for i := range beats[1:] {
			gaps = append(gaps, beats[i+1]-beats[i])
		}
		slices.Sort(gaps)
		usual := max(gaps[len(gaps)/2], moment/2)
		quietest := c.Now - last
		for i := range beats[1:] {
			if beats[i+1] > t.From {
				quietest = max(quietest, beats[i+1]-beats[i])
			}
		}
		if quietest > 3*usual {
			return true
		}
	}
	return false
}
