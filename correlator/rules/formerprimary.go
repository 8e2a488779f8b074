package rules

import (
	"regexp"
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/semconv"
)

// elected are the words by which a database's new primary tells that it is one (MongoDB, Patroni, repmgr, MySQL's group replication, Redis, etcd).
var elected = needles.Of("election succeeded", "assuming primary", "assuming leadership", "promoted self to leader", "acquired session lock as a leader", "has been promoted", "was promoted", "new primary", "elected as the primary",
	"elected leader", "became leader", "server promoted", "selected new timeline", "ready to accept read-write", "is now the primary", "switch-master")

// writes finds that somebody wrote to a database that let it.
var writes = regexp.MustCompile(`\b(?:write|insert|commit|update|upsert)\w*\b.*\bok\b|\bok\b.*\bprimary\b`)

// refind is how long callers may take to find a new primary: drivers look for it every ten seconds, names live for a minute.
const refind = int64(2 * time.Minute)

// ofRoleNames are the words of a database that could not move the name by which its primary is found (Patroni's callbacks, its labels of pods).
var ofRoleNames = []string{"on_role_change", "callback failed", "label role=", "role label"}

// heldToFormer hands over to the caller what it alone goes on saying of a database that is not the one which writes, minutes after the one that does
// told of it, or while others write: the caller holds on to connections of before.
func heldToFormer(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	var met []*correlator.Event
	for _, e := range ev.Records {
		if e.Layer != semconv.LayerDB && e.Layer != "" {
			met = append(met, e)
		}
	}
	if len(met) == 0 || slices.ContainsFunc(met, func(e *correlator.Event) bool { return e.Service != met[0].Service }) {
		return ev
	}
	last := met[len(met)-1]
	var since, served *correlator.Event
	misnamed := false
	c.Each(ev.Onset-recently, c.Now, func(e *correlator.Event) {
		switch {
		case e.Layer == semconv.LayerDB && e.Failed() && holds(e.Text, ofRoleNames):
			misnamed = true
		case e.IsEvent() || e.Failed() || !closeTo(t, e) && !correlator.EveryReaderHas(e) && (hinted(e) == nil || !hinted(e).Info):
		case e.Layer == semconv.LayerDB && e.At < last.At-refind && elected.Any(e.Text):
			since = e
		case e.Layer != semconv.LayerDB && e.Service != last.Service && e.At > ev.Onset && writes.MatchString(e.Text):
			served = e
		}
	})
	if misnamed || since == nil && (served == nil || last.At-ev.Onset < refind) {
		return ev
	}
	ev.Rule, ev.Layer, ev.Mechanism = met[0].Layer+".former_primary", met[0].Layer, "stale"
	ev.Weight, ev.Directness, ev.Certain = correlator.Telling, correlator.Caller, false
	ev.Summary = met[0].Service + " goes on writing to a database that is not the primary any more" + quote(last)
	ev.Records = slices.DeleteFunc(append([]*correlator.Event{since, served}, met...), func(e *correlator.Event) bool { return e == nil })
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	ev.NextCheck, ev.SafeAction = "the addresses and the age of its connections", "restart that caller, or let it look for the primary anew; the database needs nothing"
	return ev
}
