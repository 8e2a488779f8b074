package rules

import (
	"regexp"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// toldReset finds that somebody tells of a new start of its own.
var toldReset = regexp.MustCompile(`\b(?:controller|firmware|bmc|service|process|management|system|daemon|device|host)\b.{0,30}\b(?:reset|reboot(?:ing|ed)?|restart(?:ing|ed)?|re-?initiali[sz](?:ing|ed))\b|^(?:resetting|rebooting|restarting|reinitiali[sz]ing)\b`)

// resetBefore is how long before the first dial in vain that may be: a management controller takes minutes to start.
const resetBefore = int64(10 * time.Minute)

// ofItsReset makes dials that nobody answered the matter of who was dialled, where he told right before them that he starts anew, on the same machine, and
// nothing since; nil where he did not.
func ofItsReset(c *correlator.Case, ev correlator.Evidence) []correlator.Evidence {
	first := ev.Records[0]
	dialled := callee(c, first)
	if dialled == "" || dialled == first.Party() || dialled == semconv.LayerNetwork || first.Node == "" {
		return nil
	}
	var told *correlator.Event
	c.EachIn(dialled, first.At-resetBefore, ev.Records[len(ev.Records)-1].At, func(e *correlator.Event) {
		switch {
		case e.IsEvent() || e.Node != first.Node || e.Party() != dialled:
		case e.At <= first.At+moment && holds(e.Text, []string{"reset", "reboot", "restart", "initiali"}) && toldReset.MatchString(e.Text) && !strings.Contains(e.Text, "connection reset"):
			told = e
		default:
			told = nil // it was back
		}
	})
	if told == nil {
		return nil
	}
	ev.Rule, ev.Layer, ev.Mechanism, ev.Directness, ev.Onset = dialled+".starts_anew", dialled, "restart", correlator.Itself, told.At
	ev.Records = append([]*correlator.Event{told}, ev.Records...)
	ev.Summary = "who was dialled had started anew right before, by its own word" + quote(told)
	ev.NextCheck, ev.SafeAction = "why it started anew, and whether it is back", "wait for it, then do the step again; the network needs nothing"
	return []correlator.Evidence{ev}
}
