package rules

import (
	"maps"
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// quietRefusal finds who turns a step's orders down, again and again, and tells so below a warning.
func quietRefusal() []correlator.Rule {
	return []correlator.Rule{{
		ID: "party.turns_down", Mechanism: "refusal",
		Looks:      "the one party, of those that are asked, that tells under the step's identifiers twice, half a minute or more apart, and below an error, that it turned the same down",
		NextCheck:  "the reason that it gives, and what it decides by",
		SafeAction: "lift the reason, then ask again",
		Find:       turnsDown,
	}}
}

// wordsOfNo are the words of who turns something down.
var wordsOfNo = []string{"declined", "declines", "refused", "refuses", "rejected", "rejects", "denied", "denies", "withheld", "withholds", "turned down", "turned away", "abgelehnt", "verweigert", "zurückgewiesen"}

// turnsDown reads the plain lines of those who are asked; who turns down what somebody else asked of him for the step names nobody else.
func turnsDown(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	said := map[string][]*correlator.Event{} // by service and form of words
	for _, e := range quietNos(c) {
		if e.At >= t.From && e.At <= t.At && callee(c, e) == "" {
			key := e.Service + " " + correlator.Template(e.Text)
			said[key] = append(said[key], e)
		}
	}
	var out []correlator.Evidence
	for _, key := range slices.Sorted(maps.Keys(said)) {
		same := said[key]
		if same[len(same)-1].At-same[0].At < int64(30*time.Second) {
			continue
		}
		party := same[0].Party()
		out = append(out, correlator.Evidence{
			Rule: party + ".turns_down", Layer: party, Weight: correlator.Slight, Directness: correlator.Itself, Onset: same[0].At, Unread: true,
			Records: same[:min(len(same), ownWords)], Summary: party + " turns the same down each time" + quote(same[0]),
		})
	}
	if len(out) != 1 {
		return nil
	}
	return out
}

// quietNos lists the allocation's own plain lines, below an error, by which one of those who are asked turned something down.
func quietNos(c *correlator.Case) []*correlator.Event {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []*correlator.Event
		for _, e := range ownOn(c, themeTurned) {
			if e.Signal == record.Log && e.Severity < 17 && e.HTTP.Status == 0 && !slices.Contains(asksOrPasses, e.Party()) {
				out = append(out, e)
			}
		}
		return out
	}).([]*correlator.Event)
}

// asksOrPasses are those who ask, pass on or are only worked on, and whom nobody knows.
var asksOrPasses = []string{semconv.LayerNetwork, semconv.LayerClient, semconv.LayerIngress, semconv.LayerWorkflow, semconv.LayerAPI, semconv.LayerNode, ""}
