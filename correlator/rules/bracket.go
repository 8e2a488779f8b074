package rules

import (
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// bracketed finds a rollout between which and whose undoing a step's own records complained, as they did not for hours before it, and do not after it: whatever
// they say, they say what it broke. Somebody of those who complained must be heard to work again soon after the undoing.
func bracketed(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	own := ownComplaints(c, t)
	if len(own) == 0 {
		return nil
	}
	first := slices.MinFunc(own, correlator.CompareEvents)
	var rollouts []*correlator.Event
	c.EachEvent(semconv.EventDeploy, first.At-int64(changed), c.Now, func(e *correlator.Event) { rollouts = append(rollouts, e) })
	for i, e := range rollouts {
		if e.At > first.At {
			break
		}
		if e.Layer == semconv.LayerClient || layerOfName(c, e.Attr(semconv.Component)) == semconv.LayerClient {
			continue // what a client rolls out is his
		}
		for _, undone := range rollouts[i+1:] {
			if undone.At <= first.At || !takesBack(undone, e) && !follows(undone, e) {
				continue
			}
			if well := wellAfter(c, t, e, undone, own); well != nil {
				found := []correlator.Evidence{{
					Weight: correlator.Specific, Directness: correlator.Itself, Onset: e.At, Records: append([]*correlator.Event{e}, append(own[:min(len(own), ownWords):min(len(own), ownWords)], undone, well)...),
					Summary: "between the rollout of " + what(e) + " and its undoing at " + correlator.Time(undone.At).Milli() + " alone something failed" + quote(witness(own)),
				}}
				if other := changedBeside(c, t, rollouts, e, undone); other != nil {
					return rivals(c, found[0], e, other)
				}
				return found
			}
		}
	}
	return nil
}

// othersServed is how long after a rollout was undone somebody else may first be served: a run takes minutes.
const othersServed = int64(30 * time.Minute)

// ownComplaints are a step's own records that tell of a failure, but for its client's.
func ownComplaints(c *correlator.Case, t *correlator.Trouble) (own []*correlator.Event) {
	for _, e := range plainFailures(c, t) {
		if c.Own(e, t) && e.Layer != semconv.LayerClient && e.Layer != "" {
			own = append(own, e)
		}
	}
	return own
}

// wellAfter is the first word of somebody who had complained that tells of no failure, soon after a rollout was undone, or else his first answer to another allocation
// (othersServed), of which none had a good one in between; nil where there is none, or where the same was complained of before the rollout or after its undoing.
func wellAfter(c *correlator.Case, t *correlator.Trouble, rollout, undone *correlator.Event, complaints []*correlator.Event) (well *correlator.Event) {
	by, said := map[string]bool{}, map[string]bool{}
	for _, e := range complaints {
		by[e.Service], said[correlator.Template(e.Text)] = true, true
	}
	outside := false
	c.Each(rollout.At-int64(changed), c.Now, func(e *correlator.Event) {
		if !by[e.Service] || e.Is(semconv.EventHeartbeat) || e.At >= rollout.At && e.At <= undone.At+moment {
			return
		}
		switch {
		case e.TellsOfFailure():
			outside = outside || !e.IsEvent() && said[correlator.Template(e.Text)]
		case well != nil || e.At <= undone.At || e.At-undone.At > int64(rolledOut):
		case e.Node != "" && e.Node != t.Node && !c.Own(e, t) && !closeTo(t, e): // what goes well on another machine is not read everywhere
		case correlator.EveryReaderHas(e) || e.HTTP.Status >= 200 && e.HTTP.Status < 400:
			well = e
		}
	})
	if outside {
		return nil
	}
	if well == nil {
		c.EachOther(rollout.At, undone.At, func(e *correlator.Event) { outside = outside || by[e.Service] && !e.TellsOfFailure() })
		if outside {
			return nil // others were served all the same
		}
		c.EachOther(undone.At+1, undone.At+othersServed, func(e *correlator.Event) { // somebody else's run, task or request
			if well == nil && by[e.Service] && !e.TellsOfFailure() {
				well = e
			}
		})
		if well != nil {
			c.Borrow(well)
		}
	}
	return well
}
