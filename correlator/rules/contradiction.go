package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// denial is what one party denies, and who stands against it, worked out once.
type denial struct {
	whatPassed
	looked bool
	rival  *correlator.Event
}

// denials lists what the parties of an allocation deny of what passed between them, or accuse each other of.
func denials(c *correlator.Case) []*denial {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []*denial
		for _, e := range ownOn(c, denying) {
			switch { // what is cheap to ask first: most records end there
			case e.Layer == semconv.LayerIngress && e.HTTP.Status != 0 && (!strings.Contains(e.Text, "-- ") || !holds(e.Text, serverClosed)) && !flagged(e.HTTP, "UC"):
				continue // an access line denies nothing
			case e.Allocation == "" && e.Node == "" && !e.Failed() && !slices.ContainsFunc(thingKinds, func(kind identity.Kind) bool { return e.Own(kind) != "" }):
				continue // it may be about anybody
			case !strings.ContainsAny(e.Text, digits) || !c.Profile.Knows(e.Party()):
				continue // it names no thing
			}
			t := whatPassedBy(e)
			t.things = append(slices.DeleteFunc(t.things, func(s string) bool { return ofAll(c, s) }), packetsOf(c, e)...)
			if (t.denies != 0 || t.accuses) && len(t.things) != 0 {
				out = append(out, &denial{whatPassed: t})
			}
		}
		return out
	}).([]*denial)
}

// mostDenials is how many denials are looked into at one trouble, the first of them and, more, the last, and mostLooks in all: each look reads the whole case.
const mostDenials, mostLooks = 16, 64

// contradictingWords needs two parties' words on one thing: one tells that it passed, is held or was ended, and the other, after that, that it did not; or each
// tells that the other one ended it. Nothing that came later may have set it right: then something was the cause, and somebody can tell what.
func contradictingWords(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() || t.Cleared != 0 {
		return nil
	}
	var near []*denial
	for _, d := range denials(c) {
		if d.event.At >= t.From-recently && (d.event.At <= t.At+recently || d.event.Allocation == c.ID || d.event.Node != "" && c.Own(d.event, t)) {
			near = append(near, d)
		}
	}
	if over := len(near) - mostDenials; over > 0 {
		near = slices.Delete(near, mostDenials/4, mostDenials/4+over)
	}
	looks := looksOf(c)
	for _, d := range near {
		if !d.looked {
			if *looks++; *looks > mostLooks {
				return nil
			}
		}
		if d.against(c); d.rival == nil || ownAdmission(c, d.event, d.things) != nil {
			continue
		}
		both := disputed(d.rival.Party(), d.event.Party(), d.rival, d.event)
		for i := range both {
			both[i].Weight = correlator.Slight // who tells of himself, or a third one, decides
		}
		return both
	}
	return nil
}

// looksOf counts the looks of a case.
func looksOf(c *correlator.Case) *int {
	type key struct{}
	return c.Memo(key{}, func() any { return new(int) }).(*int)
}

// against looks for another party's word that stands against a denial.
func (d *denial) against(c *correlator.Case) {
	if d.looked {
		return
	}
	d.looked = true
	look := func(e *correlator.Event) {
		if d.rival != nil || e.IsEvent() || e.Party() == d.event.Party() || e.At > d.event.At+moment || !d.speaksOf(c, e) || !c.Profile.Knows(e.Party()) {
			return
		}
		if a := whatPassedBy(e); opposed(&a, &d.whatPassed) && slices.ContainsFunc(d.things, func(s string) bool { return slices.Contains(a.things, s) || slices.Contains(packetsOf(c, e), s) }) {
			d.rival = e
		}
	}
	for _, e := range c.Events {
		look(e)
	}
	if d.rival == nil && len(packetsOf(c, d.event)) > 0 { // who counts on the way has no identifier of whose packets they are
		c.EachIn(semconv.LayerNetwork, d.event.At-int64(time.Hour), d.event.At+moment, func(e *correlator.Event) {
			if correlator.EveryReaderHas(e) {
				look(e)
			}
		})
	}
}

// speaksOf says whether a record may speak of what is denied.
func (d *denial) speaksOf(c *correlator.Case, e *correlator.Event) bool {
	for _, kind := range thingKinds {
		if id := e.Own(kind); id != "" && slices.ContainsFunc(d.things, func(s string) bool { return strings.EqualFold(s, id) }) {
			return true
		}
	}
	return holds(e.Text, d.things) || (e.Party() == semconv.LayerNetwork || d.event.Party() == semconv.LayerNetwork) && len(packetsOf(c, e)) > 0
}

// opposed says whether one party's words stand against the other's.
func opposed(a, d *whatPassed) bool {
	if a.accuses && d.accuses && max(a.event.At, d.event.At)-min(a.event.At, d.event.At) <= moment {
		return true
	}
	const ofOneEnd = deedReceived // who got something and who did not are both at the far end
	both := a.affirms & d.denies &^ a.denies
	return both&^ofOneEnd != 0 || a.affirms&deedSent != 0 && d.denies&deedReceived != 0 || a.affirms&deedReceived != 0 && d.denies&deedSent != 0
}

// ofAll says whether a name is the allocation's or one of its machines', of which everybody speaks.
func ofAll(c *correlator.Case, name string) bool {
	return name == strings.ToLower(c.ID) || slices.ContainsFunc(c.Lifecycle.Nodes, func(n string) bool { return strings.ToLower(n) == name })
}
