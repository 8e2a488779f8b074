package rules

import (
	"regexp"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// changedTogether finds two changes by two hands that were made in one moment, stood while a step failed, and were taken back in one moment.
func changedTogether() []correlator.Rule {
	return []correlator.Rule{{
		ID: "changes.together", Mechanism: "change",
		Looks:      "two changes to two layers in one moment, by rollouts or by administrators, between which and whose undoing, again in one moment, a step failed",
		NextCheck:  "make one of the two again, alone",
		SafeAction: "leave both taken back until it is known which it was",
		Find:       betweenTwoChanges,
	}}
}

// madeChange finds the actions of administrators that change something.
var madeChange = regexp.MustCompile(`\b(?:apply|applied|update|set|change|push|load|edit|install|enable|disable|revert|rollback|restore)`)

// takenBackWords are those of an administrator's action, or of its reason, that brings back what was.
var takenBackWords = []string{"revert", "rollback", "roll_back", "restore", "-back", " back", "undo"}

// madeBy is a change and the layer that made it.
type madeBy struct {
	event *correlator.Event
	layer string
}

// betweenTwoChanges needs that nothing else was changed in those moments: a window of many changes names none.
func betweenTwoChanges(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() || len(plainFailures(c, t)) == 0 {
		return nil
	}
	var made []madeBy
	from := t.From - int64(changed)
	c.EachEvent(semconv.EventDeploy, from, c.Now, func(e *correlator.Event) {
		layer := layerOfChange(c, e)
		if l := layerOfName(c, e.Attr(semconv.Component)); layer == semconv.LayerDeploy && l == semconv.LayerClient {
			return
		}
		made = append(made, madeBy{e, layer})
	})
	c.EachEvent(semconv.EventAudit, from, c.Now, func(e *correlator.Event) {
		action := strings.ToLower(e.Attr(semconv.Action))
		if e.Attr(semconv.ActorType) != "admin" || e.Allocation != "" || !madeChange.MatchString(strings.ReplaceAll(action, "_", " ")) {
			return
		}
		layer := e.Layer
		if layer == "" || layer == semconv.LayerAPI {
			layer = layerOfAction(c, action)
		}
		if layer != "" && c.Profile.Knows(layer) {
			made = append(made, madeBy{e, layer})
		}
	})
	near := func(a, b *correlator.Event) bool { return max(a.At, b.At)-min(a.At, b.At) <= moment }
	for i, a := range made {
		if a.event.At > t.At {
			continue
		}
		var rival madeBy
		n := 0
		for j, b := range made {
			if i != j && near(a.event, b.event) {
				rival, n = b, n+1
			}
		}
		if n != 1 || rival.layer == a.layer || rival.event.At < a.event.At {
			continue
		}
		backs := func(of madeBy) *correlator.Event {
			for _, b := range made {
				if b.event.At > max(t.From, of.event.At+moment) && b.layer == of.layer && undoes(b.event, of.event) {
					return b.event
				}
			}
			return nil
		}
		first, second := backs(a), backs(rival)
		if first == nil || second == nil || !near(first, second) || first.At < firstFailure(c, t) {
			continue
		}
		one := func(own, beside madeBy, undone *correlator.Event) correlator.Evidence {
			return correlator.Evidence{
				Rule: own.layer + ".change", Layer: own.layer, Mechanism: "change", Disputed: beside.layer, Weight: correlator.Telling, Directness: correlator.Itself, Onset: own.event.At,
				Records: append([]*correlator.Event{own.event, undone}, t.Cites...),
				Summary: "it failed between " + changeNamed(own.event) + " and its undoing, both in the same moments as " + changeNamed(beside.event),
			}
		}
		return []correlator.Evidence{one(a, rival, first), one(rival, a, second)}
	}
	return nil
}

// firstFailure is when a step's own records tell of a failure for the first time.
func firstFailure(c *correlator.Case, t *correlator.Trouble) int64 {
	at := t.At
	for _, e := range plainFailures(c, t) {
		at = min(at, e.At)
	}
	return at
}

// undoes says whether a change took another one back.
func undoes(back, of *correlator.Event) bool {
	if of.Is(semconv.EventDeploy) {
		return back.Is(semconv.EventDeploy) && (takesBack(back, of) || follows(back, of))
	}
	said := strings.ToLower(back.Attr(semconv.Action) + " " + back.Attr(semconv.Reason))
	return back.Is(semconv.EventAudit) && back.Attr(semconv.Actor) == of.Attr(semconv.Actor) && holds(said, takenBackWords)
}

// layerOfAction is the layer of what an administrator's action names, "" where it names none.
func layerOfAction(c *correlator.Case, action string) string {
	for word := range strings.FieldsFuncSeq(action, func(r rune) bool { return r < 'a' || r > 'z' }) {
		if word == "firewall" || word == "acl" || word == "ruleset" || word == "route" || word == "vlan" {
			return semconv.LayerNetwork
		}
		if layer := correlator.LayerOfName(c.Profile, word); layer != "" && len(word) > 3 {
			return layer
		}
	}
	return ""
}

// changeNamed says what was changed, by a rollout or by hand.
func changeNamed(e *correlator.Event) string {
	if e.Is(semconv.EventDeploy) {
		return "the rollout of " + what(e)
	}
	return e.Attr(semconv.Action) + " by " + e.Attr(semconv.Actor)
}
