package rules

import (
	"regexp"
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

var (
	// oneMachine finds the one machine that was asked for by its name, and no other would do (MAAS, Ironic, vSphere, Equinix Metal's API).
	oneMachine = regexp.MustCompile(`\b(?:system_id|node_id|node_uuid|host|hostname|hardware_reservation_id)=([\w.-]+)`)
	// choiceKept are the words of whoever does not choose anew.
	choiceKept = []string{"pinned to", "not choosing again", "keeps its choice", "keeping placement", "placement is fixed"}
)

// keepsChoice is what a provider without room is where its caller asked for one machine by name and tells that he keeps to it: the caller's own choice.
func keepsChoice(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) []correlator.Evidence {
	var machine string
	for _, e := range ev.Records {
		m := oneMachine.FindStringSubmatch(e.Text)
		if m == nil || machine != "" && machine != m[1] {
			return nil
		}
		machine = m[1]
	}
	i := slices.IndexFunc(c.Events, func(e *correlator.Event) bool {
		return e.At <= t.At && c.Own(e, t) && e.Party() == semconv.LayerWorkflow && holds(e.Text, choiceKept) && holdsWord(e.Text, machine)
	})
	if i < 0 {
		return nil
	}
	ev.Rule, ev.Layer, ev.Mechanism, ev.Weight, ev.Directness = "workflow.choice", semconv.LayerWorkflow, "stale", correlator.Specific, correlator.Itself
	ev.Records = append(slices.Clone(ev.Records), c.Events[i])
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	ev.Summary = "it asks again and again for " + machine + ", which somebody else has" + quote(c.Events[i])
	ev.NextCheck, ev.SafeAction = "why it does not choose anew when its choice is refused", "have it choose again; the provider needs nothing"
	return []correlator.Evidence{ev}
}
