package rules

import (
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// fullCount finds parties that leave a step undone since a table of theirs is full, by their own quiet word.
func fullCount() []correlator.Rule {
	return []correlator.Rule{{
		ID: "party.full", Mechanism: "limit",
		Looks:      "a party's own word under the step's identifiers, at any severity, that it left something undone, with a count that has come to its limit",
		NextCheck:  "what fills that table, and who was to empty it",
		SafeAction: "make room there; who waits for it may ask again",
		Find:       leftUndone,
	}}
}

var (
	// countOf finds how many there are of how many.
	countOf = regexp.MustCompile(`\b(\d{2,})(?: ?/ ?| of | out of )(\d{2,})\b`)
	// noneFree finds that somebody waits since nothing is free.
	noneFree = regexp.MustCompile(`\bno (?:\w+ ){0,2}(?:free|left|available)\b|\bnone (?:free|left)\b`)
	// undone are the words of something that was not done for want of room, of room those without which a count is not looked at.
	undone      = []string{"table full", "is full", "are full", "skipped", "no room", "no free", "limit reached", "exhausted", "not mapped", "not added", "not attached", "not created"}
	ofRoomWords = slices.Concat(undone, inUseWords, []string{" free", " left", " available", " full"})
	// inUseWords are the words of what all of them are, where none is left.
	inUseWords = []string{"handed out", "in use", "allocated", "assigned", "leased", "occupied", "booked", " taken", "checked out"}
)

// countFull is a word of a count that has come to its limit, by a party on the way.
type countFull struct {
	event *correlator.Event
	count string
}

// fullCounts lists, in order of time, the words of a case on a count that has come to its limit.
func fullCounts(c *correlator.Case) []countFull {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []countFull
		c.Each(math.MinInt64, math.MaxInt64, func(e *correlator.Event) {
			if e.IsEvent() || !on(e, themeFull) {
				return
			}
			party := e.Party()
			if party == "" || party == semconv.LayerClient || party == semconv.LayerWorkflow || !c.Profile.Knows(party) {
				return
			}
			if m := countOf.FindStringSubmatch(e.Text); m != nil && m[1] == m[2] {
				out = append(out, countFull{e, m[1]})
			}
		})
		return out
	}).([]countFull)
}

func leftUndone(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	said := map[string]*correlator.Event{} // by service, a word under nobody's identifiers
	for _, f := range fullCounts(c) {
		e := f.event
		switch before := said[e.Service]; {
		case e.At < t.From-recently || e.At > t.At:
		case e.Allocation == c.ID && holds(e.Text, undone):
			return tableFull(t, f, correlator.Telling, e)
		case e.Allocation == c.ID && holds(e.Text, inUseWords) && !strings.Contains(e.Text, "connection"): // those of a pool are held by what waits behind it
			return tableFull(t, f, correlator.Generic, e)
		case e.Allocation != "" || e.Node != "" || !closeTo(t, e) && !correlator.EveryReaderHas(e):
		case noneFree.MatchString(e.Text) && failsBeside(c, t, e):
			return tableFull(t, f, correlator.Generic, e)
		case before == nil:
			said[e.Service] = e
		case noneFree.MatchString(e.Text) || noneFree.MatchString(before.Text):
			return tableFull(t, f, correlator.Generic, before, e)
		}
	}
	return nil
}

// failsBeside says whether a call of the step's failed within a breath of what another party said.
func failsBeside(c *correlator.Case, t *correlator.Trouble, e *correlator.Event) bool {
	return slices.ContainsFunc(c.Failures(t), func(f *correlator.Event) bool {
		return f.Party() != e.Party() && max(f.At, e.At)-min(f.At, e.At) <= withinBreath
	})
}

// tableFull is the evidence of such words.
func tableFull(t *correlator.Trouble, f countFull, weight correlator.Weight, told ...*correlator.Event) []correlator.Evidence {
	return []correlator.Evidence{{
		Rule: f.event.Party() + ".full", Layer: f.event.Party(), Weight: weight, Directness: correlator.Itself, Onset: told[0].At, Records: inOrder(append(told, t.Cites...)...),
		Summary: "it left something undone, for all of " + f.count + " are taken" + quote(f.event),
	}}
}
