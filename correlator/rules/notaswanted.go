package rules

import (
	"regexp"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// notAsWanted finds who tells, again and again, that a part of his own is not as it is wanted for the step.
func notAsWanted() []correlator.Rule {
	return []correlator.Rule{{
		ID: "party.not_as_wanted", Mechanism: "drift",
		Looks:      "somebody who tells twice, a minute or more apart, that what he sets for the step is another value than the one that is wanted",
		NextCheck:  "what keeps that value from being set, in the log of who sets it",
		SafeAction: "set it by hand where that is safe, then let the step go on",
		Find:       staysOther,
	}}
}

// wantedHave find a wanted value and the one that is there: "want 2107, have 999", "have 999 (want 2107)", "desired=3 actual=2".
var (
	wantedHave = regexp.MustCompile(`\b(?:want(?:ed)?|desired)[ =:]+([\w.-]+)[ ,;]+(?:but )?(?:have|has|got|actual|current)[ =:]+([\w.-]+)`)
	haveWanted = regexp.MustCompile(`\b(?:have|has|got|actual|current)[ =:]+([\w.-]+)[ ,;(]+(?:want(?:ed)?|desired)[ =:]+([\w.-]+)`)
)

// wants reads such a pair. ok is false where a text has none.
func wants(text string) (wanted, have string, ok bool) {
	if m := wantedHave.FindStringSubmatch(text); m != nil {
		return m[1], m[2], true
	}
	if m := haveWanted.FindStringSubmatch(text); m != nil {
		return m[2], m[1], true
	}
	return "", "", false
}

// wantWords are what such a text has at least.
var wantWords = []string{"want", "desired"}

// wished is one word of what somebody wants of something, and what it is.
type wished struct {
	by           *correlator.Event
	wanted, have string
}

// wishes lists them, but for a user's.
func wishes(c *correlator.Case) []wished {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []wished
		for _, e := range ownOn(c, themeWished) {
			if e.Party() == semconv.LayerClient || !c.Profile.Knows(e.Party()) {
				continue
			}
			if wanted, have, ok := wants(e.Text); ok {
				out = append(out, wished{e, wanted, have})
			}
		}
		return out
	}).([]wished)
}

// staysOther needs the same wish twice, a minute or more apart, of the step's own machine or allocation, and never the word that it came true.
func staysOther(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() || t.Kind == correlator.RequestTrouble {
		return nil
	}
	type wish struct{ service, wanted string }
	first, last := map[wish]*correlator.Event{}, map[wish]*correlator.Event{}
	from := t.From
	for _, s := range c.Lifecycle.States {
		if s.At < t.At && s.At < from && s.At > from-int64(changed) { // of a job only its end may be known
			from = s.At
		}
	}
	for _, said := range wishes(c) {
		e := said.by
		if e.At < from || e.At > t.At {
			continue
		}
		w := wish{e.Service, said.wanted}
		switch {
		case said.wanted == said.have:
			delete(first, w)
			delete(last, w)
		case first[w] == nil:
			first[w] = e
		case e.At-first[w].At >= int64(time.Minute):
			last[w] = e
		}
	}
	var out []correlator.Evidence
	for w, e := range last {
		out = append(out, correlator.Evidence{
			Rule: e.Party() + ".not_as_wanted", Layer: e.Party(), Weight: correlator.Generic, Directness: correlator.Itself, Onset: first[w].At,
			Records: []*correlator.Event{first[w], e}, Summary: e.Party() + " tells that what it sets is not as it is wanted" + quote(e),
		})
	}
	if len(out) != 1 {
		return nil // of several who do not have what they want, one waits for the other
	}
	return out
}
