package rules

import (
	"math"
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

// denied is one word of who turns calls away, with the path of the call, or the machine that it was about.
type denied struct {
	by   *correlator.Event
	path string
}

// mostDenied is how many of each are kept: the first tell how it began.
const mostDenied = 500

// deniedCalls lists them, in order of time: of who decides by the call's path, of a provider by the machine.
func deniedCalls(c *correlator.Case) []denied {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []denied
		c.EachIn(semconv.LayerAPIAuth, math.MinInt64, math.MaxInt64, func(e *correlator.Event) {
			if len(out) >= mostDenied || e.IsEvent() || e.Severity < 13 || !saysNo.MatchString(e.Text) {
				return
			}
			if m := callPath.FindStringSubmatch(e.Text); m != nil {
				out = append(out, denied{e, m[1]})
			}
		})
		c.EachIn(semconv.LayerProvider, math.MinInt64, math.MaxInt64, func(e *correlator.Event) {
			if len(out) < 2*mostDenied && len(e.Node) > 4 && !e.IsEvent() && e.Severity >= 13 && (refusal(e) || refusedStatus.MatchString(e.Text)) {
				out = append(out, denied{e, ""})
			}
		})
		return out
	}).([]denied)
}

func turnedAwayByPath(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() || len(deniedCalls(c)) == 0 {
		return nil
	}
	var found []*correlator.Event
	for _, e := range c.Failures(t) {
		if len(found) > 4 || e.IsEvent() || e.Layer == semconv.LayerAPIAuth || e.Layer == semconv.LayerClient {
			continue
		}
		for _, d := range deniedCalls(c) {
			if d.by.At >= e.At-moment && d.by.At <= e.At+moment && ofThatCall(c, t, d, e) {
				found = append(found, d.by, e)
			}
		}
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

// ofThatCall says whether a step's failure is about the call that was turned away: it names its path, or the workflow's own word names the machine that it was
// about and which no identifier ties to the step.
func ofThatCall(c *correlator.Case, t *correlator.Trouble, d denied, e *correlator.Event) bool {
	if d.path != "" {
		m := callPath.FindStringSubmatch(e.Text)
		return m != nil && m[1] == d.path
	}
	return e.Party() == semconv.LayerWorkflow && c.Own(e, t) && e.HTTP.Status == 0 && correlator.Names(e, d.by.Node)
}
