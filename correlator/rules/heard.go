package rules

import (
	"cmp"
	"hash/maphash"
	"math"
	"regexp"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// heardAs is the layer of a program that is heard of in the case under a name, by its own records; "" where none is.
func heardAs(c *correlator.Case, name string) string { return heard(c).layers[name] }

// strangerAs is heardAs of programs that no catalogue knows.
func strangerAs(c *correlator.Case, name string) string {
	if h := heard(c); h.strangers[name] {
		return h.layers[name]
	}
	return ""
}

// shortestName is how short a program's name may be and still be told from other words of a text.
const shortestName = 4

// programsHeard are the programs of a case by their names: the layer that the first record of each has, and which of them no catalogue knows; and those
// that begin their lines with another name than their service's, by the first record that does.
type programsHeard struct {
	parties   map[string]string // as layers, and of those whose layer is known by their name alone
	layers    map[string]string
	strangers map[string]bool
	called    map[string]*correlator.Event

	fingerprint uint64 // of the strangers and their layers
}

var fingerprints = maphash.MakeSeed()

// ownName finds the name that a program begins its lines with, in lower case: "hausmeister 5.1: task t-3 begun".
var ownName = regexp.MustCompile(`^([a-z][\w.-]{3,})(?: v?\d[\w.-]*)?(?:\[\d+\])?: `)

func heard(c *correlator.Case) *programsHeard {
	type key struct{}
	return c.Memo(key{}, func() any {
		h := &programsHeard{parties: map[string]string{}, layers: map[string]string{}, strangers: map[string]bool{}, called: map[string]*correlator.Event{}}
		known := map[string]bool{} // services of which nothing more is to be learnt but the names that they begin lines with
		c.Each(math.MinInt64, math.MaxInt64, func(e *correlator.Event) {
			h.nameOf(c, e)
			if known[e.Service] || !correlator.EveryReaderHas(e) {
				return
			}
			if e.Layer != "" && h.layers[e.Service] == "" && len(e.Service) >= shortestName && e.Layer != semconv.LayerDeploy {
				h.layers[e.Service] = e.Layer
				if correlator.LayerOfName(c.Profile, e.Service) == "" {
					h.strangers[e.Service] = true
				}
			}
			if party := cmp.Or(e.Layer, e.Party()); !e.IsEvent() && h.parties[e.Service] == "" {
				h.parties[e.Service] = party
			}
			known[e.Service] = h.parties[e.Service] != "" && h.layers[e.Service] != ""
		})
		for name := range h.strangers {
			h.fingerprint += maphash.String(fingerprints, name+" "+h.layers[name]) // in no order
		}
		return h
	}).(*programsHeard)
}

// nameOf notes the name that a program on a machine begins its line with, where no catalogue knows it.
func (h *programsHeard) nameOf(c *correlator.Case, e *correlator.Event) {
	if e.Layer == "" || e.Layer == semconv.LayerNode || e.Node == "" || e.IsEvent() {
		return
	}
	begin := e.Text[:min(len(e.Text), 80)]
	if begin == "" || begin[0] < 'a' || begin[0] > 'z' || !strings.Contains(begin, ": ") {
		return // asking for that costs less than matching
	}
	if m := ownName.FindStringSubmatch(begin); m != nil && h.called[m[1]] == nil && correlator.LayerOfName(c.Profile, m[1]) == "" {
		h.called[m[1]] = e
	}
}

// layerOfName is the layer of a component that somebody names: one of the catalogue's, or one that is heard of in the case.
func layerOfName(c *correlator.Case, name string) string {
	return cmp.Or(correlator.LayerOfName(c.Profile, name), heardAs(c, name))
}

// quotedName finds whose words a record repeats: "cannot write down step 3: storehouse: refused".
var quotedName = regexp.MustCompile(`(?:^|[\s>("'])([\p{L}][\p{L}\d_-]{3,}): `)

// quotedStranger is the layer of a program that no catalogue knows and whose refusal a record repeats by its name, "" where it repeats none's.
func quotedStranger(c *correlator.Case, e *correlator.Event) string {
	if !e.Failed() || len(heard(c).strangers) == 0 {
		return ""
	}
	for _, m := range quotedName.FindAllStringSubmatch(e.Text, 4) {
		switch l := strangerAs(c, m[1]); l {
		case "", e.Party(), semconv.LayerClient, semconv.LayerIngress:
		default:
			if m[1] != e.Service && c.Profile.Knows(l) {
				return l
			}
		}
	}
	return ""
}

// errsUnknown says whether a program that no catalogue knows tells, as an error and in words that name nobody and no cause, of itself: where others repeat its
// refusal, whatever those words mean, they are its own.
func errsUnknown(c *correlator.Case, s statement) bool {
	return s.event.Severity >= 17 && hinted(s.event) == nil && !s.answeredFailing && strangerAs(c, s.event.Service) == s.party
}
