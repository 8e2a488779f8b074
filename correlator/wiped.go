package correlator

import (
	"slices"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// wiped is an installation that another one took the place of, and what was last read of its logs.
type wiped struct {
	node, instance string
	boots          map[string]bool // that the installation is known to have run in
	heard          *Event          // nil: nothing ever
	at             int64           // when the other one took its place
}

// worthMention is a silence before the end of an installation that may hide something.
const worthMention = int64(time.Second)

// wipes finds installations that ended while their machine was the allocation's. What they wrote after their
// last line that is here went with their disk, and nobody will ever read it.
func (c *Case) wipes() []wiped {
	var out []wiped
	for _, e := range c.see(sight{seeEvent, "", semconv.EventNodeInstance}).own {
		if e.To() != semconv.Superseded && e.To() != semconv.Lost {
			continue
		}
		w := wiped{node: e.Node, instance: e.Own(identity.NodeInstance), boots: map[string]bool{}, at: e.At}
		// Its last words may come when the other is there already, and are then nobody's.
		all := slices.Concat(c.Events, c.ContextBetween(w.at, w.at+int64(time.Minute)))
		for _, said := range all {
			if boot := said.Own(identity.Boot); boot != "" && said.Own(identity.NodeInstance) == w.instance {
				w.boots[boot] = true
			}
		}
		for _, line := range all {
			if w.wrote(line) && (w.heard == nil || line.At > w.heard.At) {
				w.heard = line
			}
		}
		if w.heard == nil || w.at-w.heard.At > worthMention {
			out = append(out, w)
		}
	}
	return out
}

// wrote says whether a record is a line of the installation's: by its own word, or, where logs don't know what
// installation they are of, from its machine while it was there, and in a boot of its own: the next one boots
// before it enrols.
func (w wiped) wrote(e *Event) bool {
	if e.Signal != record.Log || e.IsEvent() || e.Node != w.node || e.Layer != semconv.LayerNode && e.Layer != semconv.LayerNodeAgent {
		return false
	}
	by := e.Own(identity.NodeInstance)
	boot := e.Own(identity.Boot)
	return by == w.instance || by == "" && e.At < w.at && (boot == "" || w.boots[boot])
}

// gap is the place in a timeline where its lines would stand.
func (w wiped) gap() Entry {
	from, what := w.at, "nothing was ever read of the logs of installation "+w.instance+" on "+w.node
	if w.heard != nil {
		from, what = w.heard.At, "nothing was read of the logs of installation "+w.instance+" on "+w.node+" "+clockRange(w.heard.At, w.at)
	}
	return Entry{
		Time: Time(from), Observed: Time(w.at), Layer: semconv.LayerNode, Kind: "gap",
		Summary: what + ", when another took its place: what it had not sent is gone",
		IDs:     map[string]string{semconv.NodeID: w.node, semconv.NodeInstanceID: w.instance},
	}
}
