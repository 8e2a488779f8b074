package rules

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// rateLimited finds machines whose polls the API turns away as too many, all of them.
func rateLimited() []correlator.Rule {
	return []correlator.Rule{{
		ID: "api.turns_all_away", Layer: semconv.LayerAPI, Mechanism: "limit",
		Looks:      "a step that waits for a machine, polls of it that are answered with 429, others that are, or the API's own complaint, and no poll that is answered otherwise",
		NextCheck:  "how the API counts calls, and when its count was last filled up",
		SafeAction: "raise or reset the limit; the machines ask as they always did",
		Find:       allTurnedAway,
	}}
}

// tooMany says whether a machine tells that its poll was turned away as one too many (RFC 6585, 4).
func tooMany(e *correlator.Event) bool {
	return e.HTTP.Status == 429 || strings.Contains(e.Text, "429 too many requests")
}

// allTurnedAway needs two machines, or the API's own complaint: where one alone is turned away, it may ask too often. A proxy that turns away by itself is another matter.
func allTurnedAway(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var own, other *correlator.Event
	for _, e := range c.Failures(t) {
		if e.Layer == semconv.LayerNodeAgent && tooMany(e) && c.Own(e, t) {
			own = e
			break
		}
	}
	if own == nil {
		return callsTurnedAway(c, t)
	}
	through, byProxy := false, false
	c.EachIn(semconv.LayerAPI, own.At-recently, t.At+moment, func(e *correlator.Event) { // by its own word, which may be in any language
		if e.Party() == e.Layer && !e.IsEvent() && e.Severity >= 13 && e.HTTP.Status == 0 && e.Allocation == "" && closeTo(t, e) {
			other = e
		}
	})
	c.EachIn(semconv.LayerNodeAgent, own.At-recently, t.At+moment, func(e *correlator.Event) {
		switch {
		case e.IsEvent():
		case tooMany(e) && e.Node != "" && e.Node != own.Node:
			other = e
		case e.At > own.At && !e.Failed() && strings.Contains(e.Text, "no task"):
			through = true
		}
	})
	if other == nil || through {
		return nil
	}
	c.EachIn(semconv.LayerIngress, own.At-recently, t.At+moment, func(e *correlator.Event) {
		polls := strings.Contains(e.HTTP.Path, "/tasks")
		through = through || polls && e.At > own.At && e.HTTP.Status >= 200 && e.HTTP.Status < 300
		byProxy = byProxy || polls && e.HTTP.Status == 429 && e.HTTP.Upstream == ""
	})
	if through || byProxy {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Caller, Records: inOrder(own, other),
		Summary: "the API turns away the polls of every machine as too many" + quote(own),
	}}
}

// callsTurnedAway finds an API that turns a user's calls away as too many, again and again, and another allocation's in the same words, or tells itself,
// beside any call, what it counts: then it is its own count that is full, and no caller who asks too often.
func callsTurnedAway(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind != correlator.RequestTrouble {
		return nil
	}
	var own []*correlator.Event
	for _, e := range c.Events {
		if tooMany(e) && e.Layer == semconv.LayerAPI && e.At >= t.From-moment && e.At <= t.At+moment && e.HTTP.Upstream == "" && e.Text != "" {
			own = append(own, e)
		}
	}
	if len(own) < manyTimes {
		return nil
	}
	same := correlator.Template(own[0].Text)
	var other *correlator.Event
	c.EachOther(own[0].At-recently, t.At+recently, func(e *correlator.Event) {
		if e.Service == own[0].Service && e.HTTP.Status == 429 && correlator.Template(e.Text) == same {
			other = e
		}
	})
	c.EachIn(semconv.LayerAPI, own[0].At-recently, t.At+moment, func(e *correlator.Event) {
		if !e.IsEvent() && e.Service == own[0].Service && (e.Severity >= 13 || strings.Contains(e.Text, "limit")) && e.HTTP.Status == 0 && e.Allocation == "" && (closeTo(t, e) || correlator.EveryReaderHas(e)) && strings.ContainsAny(e.Text, digits) && sharesWord(same, e.Text) {
			other = e
		}
	})
	if other == nil {
		return nil
	}
	c.Borrow(other)
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Records: inOrder(own[0], other),
		Summary: "the API turns calls away as too many, of this allocation and beside it" + quote(own[0]),
	}}
}

// manyTimes is how often a call is turned away until that is the API's own word on itself.
const manyTimes = 3

// ofRefusals are the longer words that any refusal holds.
var ofRefusals = []string{"refused", "rejected", "denied", "write", "read", "says", "request", "requests", "many", "with", "from", "full", "limit"}

// sharesWord says whether two texts have a longer word in common that a refusal does not hold by itself.
func sharesWord(a, b string) bool {
	for w := range strings.FieldsSeq(a) {
		if w = strings.Trim(w, ",.:;()"); len(w) > 3 && !slices.Contains(ofRefusals, w) && strings.Contains(b, w) {
			return true
		}
	}
	return false
}
