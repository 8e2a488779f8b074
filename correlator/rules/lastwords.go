package rules

import (
	"cmp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// saidLast finds why a service does not listen: by what it said itself before its callers were refused.
func saidLast() []correlator.Rule {
	return []correlator.Rule{{
		ID: "service.last_words", Mechanism: "down",
		Looks:      "a dial that was refused, and the last words of who was dialled, before it, which name a cause, with nothing better of it since",
		NextCheck:  "that service's own log from there on",
		SafeAction: "mend what it complains of, then start it; its callers need nothing",
		Find:       saidBeforeRefused,
	}}
}

// saidBeforeRefused needs a service of the dialled party whose last words, within half an hour before the step, name a cause.
func saidBeforeRefused(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var refused *correlator.Event
	dialled := ""
	for _, e := range c.Failures(t) {
		if turnedDown(e) && !e.IsEvent() && named(e) == nil {
			refused = e
			dialled = cmp.Or(correlator.LayerOfName(c.Profile, e.Attr(semconv.ServerAddress)), hostLayer(c, e), callee(c, e))
			break
		}
	}
	if refused == nil || dialled == "" || !c.Profile.Knows(dialled) {
		return nil
	}
	last := map[string]*correlator.Event{} // by service of the party
	c.EachIn(dialled, t.From-correlator.Throughout, t.At, func(e *correlator.Event) {
		if !e.IsEvent() && e.Node == "" && (correlator.EveryReaderHas(e) || closeTo(t, e)) && e.At < refused.At+moment {
			last[e.Service] = e
		}
	})
	for _, service := range sortedKeys(last) {
		e := last[service]
		said := []*correlator.Event{e}
		c.EachIn(dialled, e.At-moment, e.At, func(o *correlator.Event) {
			if o.Service == service && o != e && o.Failed() && !o.IsEvent() {
				said = append(said, o)
			}
		})
		i := slices.IndexFunc(said, func(o *correlator.Event) bool { return o.Failed() && hinted(o) != nil })
		if i < 0 || e.At < t.From-correlator.Throughout {
			continue
		}
		s := hinted(said[i])
		layer := s.owner(c, said[i])
		if layer == "" {
			continue
		}
		return []correlator.Evidence{{
			Rule: layer + ".last_words", Layer: layer, Mechanism: s.Mechanism, Weight: correlator.Telling, Directness: correlator.Itself, Onset: said[i].At,
			Records: inOrder(append(said, refused)...), Summary: "who was dialled said before" + quote(said[i]),
		}}
	}
	return nil
}

// hostLayer is the layer of the program whose name the dialled host bears.
func hostLayer(c *correlator.Case, e *correlator.Event) string {
	for _, host := range hostWords.FindAllString(e.Text, 8) {
		label, _, _ := strings.Cut(host, ".")
		for _, name := range []string{host, strings.TrimRight(label, digits)} { // the first of a kind: ipa1
			if layer := correlator.LayerOfName(c.Profile, name); name != "" && layer != "" && layer != e.Party() {
				return layer
			}
		}
	}
	return ""
}
