package rules

import (
	"regexp"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// removedBefore finds things that their keeper took away, and that others then missed.
func removedBefore() []correlator.Rule {
	return []correlator.Rule{{
		ID: "keeper.removed", Mechanism: "gone",
		Looks:      "something with a name of its own that somebody misses as the step stands still, and its keeper's own word, before, that he took it away",
		NextCheck:  "why the keeper took it away: its policy of what expires",
		SafeAction: "have its owner make it anew; who misses it needs nothing",
		Find:       missedAfterRemoval,
	}}
}

var (
	// longNamed finds names that are nobody's else: words with many digits or letters between.
	longNamed = regexp.MustCompile(`[a-z0-9][a-z0-9_.-]{10,}[a-z0-9]`)
	// tookAway and missesIt are the words on both sides.
	tookAway = []string{"expired", "was deleted", "deleted", "removed", "evicted", "purged", "garbage collected", "reclaimed"}
	missesIt = []string{"missing", "not found", "no such", "does not exist", "unknown", "no longer exists"}
)

// missedAfterRemoval needs the very name in both words, the keeper's first.
func missedAfterRemoval(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	missed := map[string]*correlator.Event{}
	for _, s := range statements(c, t) {
		if e := s.event; e.At >= t.From-moment && e.At <= t.At && on(e, themeMissed) && len(missed) < mostWithFailed {
			for _, name := range longNamed.FindAllString(e.Text, 8) {
				if digitsIn(name) >= 4 && missed[name] == nil {
					missed[name] = e
				}
			}
		}
	}
	if len(missed) == 0 {
		return nil
	}
	var found []correlator.Evidence
	c.Each(t.From-recently, t.At, func(e *correlator.Event) {
		party := e.Party()
		if found != nil || e.IsEvent() || party == "" || party == semconv.LayerClient || !c.Profile.Knows(party) || !on(e, themeRemoved) || !closeTo(t, e) && !correlator.EveryReaderHas(e) {
			return
		}
		for _, name := range longNamed.FindAllString(e.Text, 8) {
			by := missed[name]
			if by == nil || by.At <= e.At || by.Party() == party || e.Failed() && holds(e.Text, missesIt) {
				continue
			}
			found = []correlator.Evidence{{
				Rule: party + ".removed", Layer: party, Weight: correlator.Telling, Directness: correlator.Itself, Onset: e.At, Records: inOrder(e, by),
				Summary: party + " took away what is missed" + quote(e),
			}}
			return
		}
	})
	return found
}

// digitsIn is how many digits a word has.
func digitsIn(word string) (n int) {
	for i := range len(word) {
		if word[i] >= '0' && word[i] <= '9' {
			n++
		}
	}
	return n
}
