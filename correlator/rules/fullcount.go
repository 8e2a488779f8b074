package rules

import (
	"regexp"

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
	// undone are the words of something that was not done for want of room.
	undone = []string{"table full", "is full", "are full", "skipped", "no room", "no free", "limit reached", "exhausted", "not mapped", "not added", "not attached", "not created"}
)

func leftUndone(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	for _, e := range c.Events {
		if e.At < t.From-recently || e.At > t.At || e.IsEvent() || e.Allocation != c.ID || !holds(e.Text, undone) {
			continue
		}
		party := e.Party()
		m := countOf.FindStringSubmatch(e.Text)
		if m == nil || m[1] != m[2] || party == "" || party == semconv.LayerClient || party == semconv.LayerWorkflow || !c.Profile.Knows(party) {
			continue
		}
		return []correlator.Evidence{{
			Rule: party + ".full", Layer: party, Weight: correlator.Telling, Directness: correlator.Itself, Onset: e.At, Records: inOrder(append([]*correlator.Event{e}, t.Cites...)...),
			Summary: "it left something undone, for " + m[1] + " of " + m[2] + " are taken" + quote(e),
		}}
	}
	return nil
}
