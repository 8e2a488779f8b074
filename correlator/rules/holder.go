package rules

import (
	"regexp"
	"strconv"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// heldOpen finds how many of a database's connections a program holds idle, or in transactions that it does not end, by a report of the database's
// (pg_stat_activity): "api: 91 idle in transaction", "application_name=api state=idle in transaction count=91", "91 idle in transaction from api", "84 idle (application_name=api".
var heldOpen = regexp.MustCompile(`\b([a-z][\w.-]{2,}): (\d+) idle[ _]in[ _]transaction|application_name=([\w.-]+)\b[^;\n]{0,40}idle[ _]in[ _]transaction[^;\n]{0,20}\b(?:count=|x)(\d+)|\b(\d+) (?:sessions? |connections? )?idle[ _]in[ _]transaction,? (?:all )?(?:of|from|by|held by|owned by) (?:[\d.:]+ \()?([a-z][\w.-]{2,})|\b(\d+) idle \(application_name=([\w.-]+)`)

// mostAllowed finds how many connections a database has for all.
var mostAllowed = regexp.MustCompile(`\bmax_connections[ =:]+(\d+)|\b\d+ of (\d+)(?: connections|:)`)

// manyHeld is how many transactions left open are too many where it is not told how many connections there are.
const manyHeld = 20

// ofHolder makes a database without connections that of who holds them: a program that has half of them, or more, in transactions that it does not end.
func ofHolder(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	if ev.Layer != semconv.LayerDB || len(ev.Records) == 0 {
		return ev
	}
	var told *correlator.Event
	owner := ""
	c.EachIn(semconv.LayerDB, ev.Onset-recently, t.At+recently, func(e *correlator.Event) {
		if e.IsEvent() || !closeTo(t, e) && !correlator.EveryReaderHas(e) {
			return
		}
		for _, m := range heldOpen.FindAllStringSubmatch(e.Text, 8) {
			held, _ := strconv.Atoi(m[2] + m[4] + m[5] + m[7])
			most := 2 * manyHeld
			if all := mostAllowed.FindStringSubmatch(e.Text); all != nil {
				most, _ = strconv.Atoi(all[1] + all[2])
			}
			layer := layerOfName(c, m[1]+m[3]+m[6]+m[8])
			if 2*held >= most && layer != "" && layer != semconv.LayerDB && layer != semconv.LayerClient && c.Profile.Knows(layer) {
				told, owner = e, layer
			}
		}
	})
	if told == nil {
		return ev
	}
	ev.Rule, ev.Layer, ev.Mechanism, ev.Directness = owner+".held_open", owner, "leak", correlator.Itself
	ev.Records = append(ev.Records, told)
	ev.Summary = owner + " holds most of the database's connections and does nothing with them" + quote(told)
	ev.NextCheck, ev.SafeAction = "which of its requests take a connection, or begin a transaction, and do not give it back", "start it again; the database needs nothing"
	return ev
}
