package correlator

import (
	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/semconv"
)

// lasting are the words of a state that goes on until somebody tells its end: whoever says so once need not say it again.
var lasting = needles.Of("until this", "until it is", "alarm set", "is now read-only", "set to read-only", "marked read-only", "enabled (user request", "entering hibernate", "entered standby", "is now disabled", "has been disabled",
	"is cordoned", "is quarantined", "has been suspended", "is paused", " is down, reason", "has no server available", "is down (", "until manually", "will not recover", "fallen off the bus", "until restarted", "aborting startup", "startup process failure", "will not be retried", "needs manual", "requires manual",
	"replay lag", "replay_lag", "replication lag", "seconds behind", "replay paused", "replay_paused")

// lifted are the words with which the end of such a state is told.
var lifted = needles.Of("clear", "lifted", "resum", "recovered", "unblocked", "is writable", "back to normal", "uncordoned", "enabled again", "re-enabled", " is up, reason", " is up (", "ready to accept connections")

// portUp are the words by which a switch tells that a port serves again.
var portUp = needles.Of(" up", "restored", "forwarding", "recover", "clear", "removed from quarantine", "lifted")

// portLasts says whether a record is a switch's word about one machine's port, of which it has told nothing better until a time: a port stays
// as it is.
func (c *Case) portLasts(e *Event, until int64) bool {
	if e.Node == "" || e.Layer != semconv.LayerNetwork || !e.Failed() {
		return false
	}
	up := false
	c.EachIn(semconv.LayerNetwork, e.At+1, until, func(later *Event) {
		up = up || later.Node == e.Node && !later.Failed() && portUp.Any(later.Text)
	})
	return !up
}

// Lasts says whether a record tells of a state that goes on, of which its speaker has told no end until a time.
func (c *Case) Lasts(e *Event, until int64) bool {
	if !lasting.Any(e.Text) {
		return false
	}
	over := false
	c.Each(e.At+1, until, func(later *Event) {
		over = over || later.Service == e.Service && !later.IsEvent() && lifted.Any(later.Text) && !lasting.Any(later.Text)
	})
	return !over
}
