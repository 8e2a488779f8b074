package rules

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
)

// tellings lists what the parties of an allocation tell of what passed between them.
func tellings(c *correlator.Case) []whatPassed {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []whatPassed
		for _, e := range c.Events {
			if e.IsEvent() || !c.Profile.Knows(e.Party()) {
				continue
			}
			if t := whatPassedBy(e); len(t.things) != 0 {
				out = append(out, t)
			}
		}
		return out
	}).([]whatPassed)
}

// contradictingWords needs two parties' words on one thing: one tells that it passed, is held or was ended, and the other, after that, that it did not; or each
// tells that the other one ended it. Nothing that came later may have set it right: then something was the cause, and somebody can tell what.
func contradictingWords(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() || t.Cleared != 0 {
		return nil
	}
	all := tellings(c)
	for i := range all {
		denial := &all[i]
		if denial.denies == 0 && !denial.accuses || denial.event.At > t.At+recently && denial.event.Allocation != c.ID || denial.event.At < t.From-recently {
			continue
		}
		for k := range all {
			if affirmation := &all[k]; opposed(affirmation, denial) && ofOneThing(c, affirmation, denial) {
				both := disputed(affirmation.event.Party(), denial.event.Party(), affirmation.event, denial.event)
				for i := range both {
					both[i].Weight = correlator.Slight // who tells of himself, or a third one, decides
				}
				return both
			}
		}
	}
	return nil
}

// opposed says whether one party's words stand against the other's.
func opposed(a, d *whatPassed) bool {
	if a.event.Party() == d.event.Party() {
		return false
	}
	if a.accuses && d.accuses && max(a.event.At, d.event.At)-min(a.event.At, d.event.At) <= moment {
		return true
	}
	if a.event.At > d.event.At+moment {
		return false
	}
	const ofOneEnd = deedReceived // who got something and who did not are both at the far end
	both := a.affirms & d.denies &^ a.denies
	return both&^ofOneEnd != 0 || a.affirms&deedSent != 0 && d.denies&deedReceived != 0 || a.affirms&deedReceived != 0 && d.denies&deedSent != 0
}

// ofOneThing says whether two parties speak of one thing, which is not the allocation or one of its machines, of which everybody speaks.
func ofOneThing(c *correlator.Case, a, d *whatPassed) bool {
	return slices.ContainsFunc(d.things, func(s string) bool {
		return s != strings.ToLower(c.ID) && !slices.ContainsFunc(c.Lifecycle.Nodes, func(n string) bool { return strings.ToLower(n) == s }) && slices.Contains(a.things, s)
	})
}
