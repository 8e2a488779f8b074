package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// droppedAnswer finds who tells that something never came, and had told before that he threw it away.
func droppedAnswer() []correlator.Rule {
	return []correlator.Rule{{
		ID: "account.dropped", Mechanism: "dropped",
		Looks:      "somebody who waits for something in vain, and his own word, before, that he got that very thing and threw it away",
		NextCheck:  "why it was thrown away: it may have come before anybody waited for it",
		SafeAction: "have it sent again; who sent it did so",
		Find:       threwAway,
	}}
}

// thrownAway finds that somebody got something and did not keep it.
var thrownAway = regexp.MustCompile(`\b(?:dropped|dropping|discard(?:ed|ing)|ignored|ignoring|thrown away|no (?:one|\w+) (?:is )?(?:waiting|waits) for|verworfen|weggeworfen|descartad[oa]|ignorad[oa]|ignoré|rejeté|scartat[oa])\b`)

// thrownWords are the words without which a text is not looked at for that.
var thrownWords = []string{"dropped", "dropping", "discard", "ignored", "ignoring", "thrown away", "waiting for", "waits for", "verworfen", "weggeworfen", "descartad", "ignorad", "ignoré", "rejeté", "scartat"}

// throwings lists the words of a case by which somebody threw something away.
func throwings(c *correlator.Case) []*correlator.Event {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []*correlator.Event
		for _, e := range ownOn(c, themeThrown) {
			if e.HTTP.Status == 0 && thrownAway.MatchString(e.Text) {
				out = append(out, e)
			}
		}
		return out
	}).([]*correlator.Event)
}

// ownAdmission is the word of who denies that something came, before he did so, that he threw it away; nil where he said nothing of the kind.
func ownAdmission(c *correlator.Case, denial *correlator.Event, things []string) *correlator.Event {
	for _, e := range throwings(c) {
		if e.At < denial.At && e.Service == denial.Service && slices.ContainsFunc(things, func(s string) bool { return !ofAll(c, s) && slices.Contains(namesIn(e), s) }) {
			return e
		}
	}
	return nil
}

func threwAway(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() || t.Cleared != 0 {
		return nil
	}
	if ev := threwEndAway(c, t); ev != nil {
		return ev
	}
	if ev := threwAwaited(c, t); ev != nil {
		return ev
	}
	if len(throwings(c)) == 0 {
		return nil
	}
	for _, d := range denials(c) {
		if d.denies == 0 || d.event.At < t.From-recently || d.event.At > t.At+recently {
			continue
		}
		if said := ownAdmission(c, d.event, d.things); said != nil {
			party := said.Party()
			return []correlator.Evidence{{
				Rule: party + ".dropped", Layer: party, Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: said.At, Records: inOrder(said, d.event),
				Summary: party + " got what it waits for, and threw it away" + quote(said),
			}}
		}
	}
	return nil
}

// threwEndAway needs the end of a task of the step's, and in the same moments the engine's word that it threw away what names that task or its run.
func threwEndAway(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	for _, a := range c.Lifecycle.Tasks {
		if a.Over == nil || a.Over.To() != semconv.Succeeded || a.Over.At < t.From || a.Over.At > t.At {
			continue
		}
		var said *correlator.Event
		c.EachIn(semconv.LayerWorkflow, a.Over.At, a.Over.At+moment, func(e *correlator.Event) {
			if said == nil && !e.IsEvent() && e.Severity >= 13 && thrownAway.MatchString(e.Text) && strings.Contains(e.Text, strings.ToLower(a.Task)) && !holds(e.Text, twice) {
				said = e
			}
		})
		if said != nil {
			return []correlator.Evidence{{
				Rule: "workflow.dropped", Layer: semconv.LayerWorkflow, Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: said.At, Records: inOrder(a.Over, said),
				Summary: "the engine was told of the end of task " + a.Task + ", and threw it away" + quote(said),
			}}
		}
	}
	return nil
}

// twice are the words of what is thrown away since it is known already.
var twice = []string{"duplicate", "already", "doppelt", "bereits", "duplicad", "déjà"}

// threwAwaited needs one program's two words on the allocation's run: that it threw something away, and later that the same, by two long words at least, never came.
func threwAwaited(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var thrown []*correlator.Event
	for _, e := range throwings(c) {
		if e.At >= t.From && e.At <= t.At && c.Profile.Knows(e.Party()) && !holds(e.Text, twice) && len(thrown) < ownWords {
			thrown = append(thrown, e)
		}
	}
	if len(thrown) == 0 {
		return nil
	}
	for _, e := range c.Events {
		if e.At < thrown[0].At || e.At > t.At+moment || e.IsEvent() {
			continue
		}
		waits := waitsFor.MatchString(e.Text)
		if !waits && (!e.Failed() || !on(e, themeDenies)) {
			continue
		}
		for _, said := range thrown {
			if said.At < e.At && said.Service == e.Service && (whatPassedBy(e).denies&deedReceived != 0 && sharesWords(said.Text, e.Text) || waits && sharesName(said.Text, e.Text)) {
				party := said.Party()
				return []correlator.Evidence{{
					Rule: party + ".dropped", Layer: party, Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: said.At, Records: inOrder(said, e),
					Summary: party + " got what it waits for, and threw it away" + quote(said),
				}}
			}
		}
	}
	return nil
}

// sharesName says whether two texts name one thing by a name that no language has: a word with a mark in it.
func sharesName(a, b string) bool {
	for w := range strings.FieldsSeq(a) {
		if w = strings.Trim(w, ".,:;\"'()"); len(w) > 6 && strings.ContainsAny(w, "_.-/") && strings.Contains(b, w) {
			return true
		}
	}
	return false
}

// sharesWords says whether two texts have two long words in common.
func sharesWords(a, b string) bool {
	words := map[string]bool{}
	for w := range strings.FieldsSeq(a) {
		words[strings.Trim(w, ".,:;\"'()")] = true
	}
	n := 0
	for w := range strings.FieldsSeq(b) {
		if w = strings.Trim(w, ".,:;\"'()"); len(w) > 4 && words[w] {
			n++
		}
	}
	return n > 1
}
