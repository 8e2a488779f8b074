package rules

import (
	"regexp"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// deniedCall finds calls of a step that failed, whatever they were answered, in the moment in which who decides turned away that very call.
func deniedCall() []correlator.Rule {
	return []correlator.Rule{{
		ID: "api_auth.denied_call", Layer: semconv.LayerAPIAuth, Mechanism: "policy",
		Looks:      "a call of the step's own that failed, and in the same moment the word of who decides that he turns away a call to that very path",
		NextCheck:  "what he decides by, and when that changed",
		SafeAction: "give the subject its role back; whoever answered for the decision needs nothing",
		Find:       turnedAwayByPath,
	}}
}

var (
	// saysNo are the words of who turns a call away, in languages in which such programs are written.
	saysNo = regexp.MustCompile(`\b(?:denied|deny|refused|rejected|forbidden|unauthorized|abgewiesen|abgelehnt|verweigert|refusée?|rejetée?|denegad[oa]|rechazad[oa]|negad[oa]|recusad[oa]|rifiutat[oa]|odmówiono|odrzucono|zamítnuto|nekades)\b`)
	// refusedStatus finds the status of a call that may not be made, in words.
	refusedStatus = regexp.MustCompile(`\b(?:http|status|code)[ :=]*40[13]\b`)
	// callPath finds the path of a call in a text.
	callPath = regexp.MustCompile(`(?:^|\s)(?:get|put|post|patch|delete)\s+(?:https?://[^/\s]+)?(/[\w./%-]{5,})`)
)

func turnedAwayByPath(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	var found []*correlator.Event
	for _, e := range c.Failures(t) {
		if len(found) > 4 || e.IsEvent() || e.Layer == semconv.LayerAPIAuth || e.Layer == semconv.LayerClient {
			continue
		}
		m := callPath.FindStringSubmatch(e.Text)
		if m == nil {
			continue
		}
		c.EachIn(semconv.LayerAPIAuth, e.At-moment, e.At+moment, func(o *correlator.Event) {
			if p := callPath.FindStringSubmatch(o.Text); p != nil && p[1] == m[1] && o.Severity >= 13 && saysNo.MatchString(o.Text) {
				found = append(found, o, e)
			}
		})
	}
	if len(found) == 0 {
		found = refusedAtNamed(c, t)
	}
	if len(found) == 0 {
		return nil
	}
	first := found[0]
	return []correlator.Evidence{{
		Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Records: inOrder(found...), Onset: first.At,
		Summary: "who decides turned the call away" + quote(first),
	}}
}

// refusedAtNamed lists refusals, in the moments in which the step's own failures name a machine, of calls about that very machine which no identifier ties to
// the step.
func refusedAtNamed(c *correlator.Case, t *correlator.Trouble) (found []*correlator.Event) {
	for _, e := range c.Failures(t) {
		if len(found) > 4 || e.IsEvent() || e.Party() != semconv.LayerWorkflow || !c.Own(e, t) || e.HTTP.Status != 0 {
			continue
		}
		c.EachIn(semconv.LayerProvider, e.At-moment, e.At+moment, func(o *correlator.Event) {
			if o.Node != "" && !o.IsEvent() && len(o.Node) > 4 && (refusal(o) || refusedStatus.MatchString(o.Text)) && correlator.Names(e, o.Node) {
				found = append(found, o, e)
			}
		})
	}
	return found
}
