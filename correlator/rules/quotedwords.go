package rules

import (
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// quotedWords finds whose words a failure repeats.
func quotedWords() []correlator.Rule {
	return []correlator.Rule{{
		ID: "party.quoted", Mechanism: "error",
		Looks:      "a failure of the step's own that repeats, word by word, what another party had said as an error right before",
		NextCheck:  "that party's own log around those words",
		SafeAction: "ask who runs that party; who repeats its words needs nothing",
		Find:       repeatsWords,
	}}
}

const (
	wordsAlike  = 7  // that follow each other in both texts: fewer are a phrase
	mostQuoting = 16 // failures that are looked at
)

// repeatsWords needs a run of seven words in both, the other party's first, and in no other party's.
func repeatsWords(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	all := statements(c, t)
	var own []statement
	for _, s := range all {
		if s.event.Allocation == c.ID && len(own) < mostQuoting {
			own = append(own, s)
		}
	}
	var source, repeats *correlator.Event
	for _, s := range all {
		e := s.event
		if e.Severity < 17 || holds(e.Text, outOfPatience) || givenUp.Any(e.Text) || s.about != "" || hinted(e) != nil || s.party == semconv.LayerClient || s.party == semconv.LayerIngress || len(strings.Fields(e.Text)) < wordsAlike {
			continue
		}
		for _, o := range own {
			if o.party == s.party || o.event.At < e.At-moment || o.event.At > e.At+recently || !shareRun(e.Text, o.event.Text) {
				continue
			}
			if source != nil && source.Party() != e.Party() {
				return nil
			}
			if source == nil {
				source, repeats = e, o.event
			}
		}
	}
	if source == nil {
		return nil
	}
	party := source.Party()
	return []correlator.Evidence{{
		Rule: party + ".quoted", Layer: party, Weight: correlator.Slight, Directness: correlator.Itself, Onset: source.At, Records: inOrder(source, repeats),
		Summary: "the failure repeats what the " + party + " said" + quote(source),
	}}
}

// shareRun says whether two texts have seven words in a row in common.
func shareRun(a, b string) bool {
	words := strings.FieldsFunc(a, notWord)
	other := strings.Join(strings.FieldsFunc(b, notWord), " ")
	for i := 0; i+wordsAlike <= len(words); i++ {
		if strings.Contains(other, strings.Join(words[i:i+wordsAlike], " ")) {
			return true
		}
	}
	return false
}

func notWord(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r <= 127 }
