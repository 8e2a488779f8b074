package rules

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// pausedFor finds a party that tells afterwards how long it stood still.
func pausedFor() []correlator.Rule {
	return []correlator.Rule{{
		ID: "party.paused", Mechanism: "stalled",
		Looks:      "requests of a user's that failed within a stretch of time of which a party on their way tells afterwards that it stood still",
		NextCheck:  "what held that process still: a pause of its runtime, of its machine, or a stop signal",
		SafeAction: "ask again: it goes on; its callers need nothing",
		Find:       pausedWhile,
	}}
}

// stoodFor finds for how long a process says that it did not go on: "event loop blocked for 45.2s", "process was stopped for 45.2 s".
var stoodFor = regexp.MustCompile(`\b(?:process|event loop|main loop|main thread|thread|vm|jvm|runtime|world|scheduler)\b[^.;]{0,40}?\b(?:blocked|stopped|paused|frozen|stalled|suspended|stuck|hung|unresponsive)\b.{0,20}? for (\d+(?:\.\d+)?) ?(ms|s|m)[a-z]*\b`)

// longPause is how long a stand must be to fail a request: clients wait some seconds at least (docs/domain.md §4.2); toldWithin how long after it that may be told.
const (
	longPause  = int64(5 * time.Second)
	toldWithin = int64(time.Minute)
)

// pausedWhile needs each of the user's failed requests to have been under way within the stretch.
func pausedWhile(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind != correlator.RequestTrouble {
		return nil
	}
	var asked []*correlator.Event
	for _, e := range c.Failures(t) {
		if !e.IsEvent() && c.Own(e, t) && (e.Layer == semconv.LayerClient || e.Layer == semconv.LayerIngress) {
			asked = append(asked, e)
		}
	}
	if len(asked) == 0 {
		return nil
	}
	var found []correlator.Evidence
	for _, layer := range []string{semconv.LayerAPI, semconv.LayerAPIAuth, semconv.LayerDB, semconv.LayerIngress} {
		c.EachIn(layer, asked[0].At, t.At+toldWithin, func(e *correlator.Event) {
			if len(found) > 0 || e.IsEvent() || e.Severity < 13 || e.Party() != layer || !strings.Contains(e.Text, " for ") || strings.Contains(e.Text, " by ") {
				return
			}
			m := stoodFor.FindStringSubmatch(e.Text)
			if m == nil {
				return
			}
			stood, err := time.ParseDuration(m[1] + m[2])
			if err != nil {
				return
			}
			long := int64(stood)
			within := func(f *correlator.Event) bool { return f.EndAt() >= e.At-long && f.At <= e.At+moment }
			if long < longPause || slices.ContainsFunc(asked, func(f *correlator.Event) bool { return !within(f) }) {
				return
			}
			found = []correlator.Evidence{{
				Rule: layer + ".paused", Layer: layer, Weight: correlator.Telling, Directness: correlator.Itself, Onset: min(e.At-long, asked[0].At), Last: e.At,
				Records: append([]*correlator.Event{e}, asked...), Summary: "it stood still while the requests failed, by its own word" + quote(e),
			}}
		})
	}
	return found
}
