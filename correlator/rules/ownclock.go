package rules

import (
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

const (
	clockOff    = int64(time.Minute)     // authorities allow for less
	clockSteady = int64(2 * time.Second) // a queue's delay is never the same for so long
)

// ofTime are the words of an authority that finds a credential to be of another time (RFC 7519's exp, nbf and iat, in Keycloak's, Dex' and others' words).
var ofTime = []string{"not active", "expired", "not yet valid", "used before issued", "in the future", "iat", "nbf", "clock"}

// ofOwnClock hands a credential that is refused for its time over to who signed it, where his records are stamped by a clock that is off by the same
// minutes each time from when they were seen.
func ofOwnClock(c *correlator.Case, ev correlator.Evidence) correlator.Evidence {
	for _, refused := range ev.Records {
		if refused.Layer == "" || refused.Layer == semconv.LayerAPIAuth || !holds(refused.Text, ofTime) {
			continue
		}
		n, least, most := 0, int64(0), int64(0)
		for _, e := range c.Events {
			if e.IsEvent() || e.Service != refused.Service || e.Attr(semconv.HostName) != refused.Attr(semconv.HostName) || e.At > refused.At+skewOfClocks {
				continue
			}
			off := e.Observed - e.Time
			if n == 0 {
				least, most = off, off
			}
			n, least, most = n+1, min(least, off), max(most, off)
		}
		if n < 3 || most-least > clockSteady || least < clockOff && most > -clockOff {
			continue
		}
		ev.Rule, ev.Layer, ev.Mechanism, ev.Certain = refused.Layer+".clock", refused.Layer, "clock", true
		ev.Directness = correlator.Itself
		ev.Summary = refused.Service + "'s clock is off by " + time.Duration(least).Round(time.Second).String() + ", and what it signs is refused for its time" + quote(refused)
		ev.NextCheck, ev.SafeAction = "the caller's time synchronisation", "correct the clock; who refused needs nothing"
		return ev
	}
	return ev
}
