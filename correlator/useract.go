package correlator

import (
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

// stopped is how long after a user's act what he has may go to a worse state because of it.
const stopped = int64(5 * time.Minute)

// A user's acts by which what he has stands still until he has it go on; those that pass by themselves; and those that have it go on.
var (
	standsStill = []string{"stop", "halt", "shutdown", "poweroff", "power_off", "suspend", "pause", "hibernate"}
	passes      = []string{"restart", "reboot", "resize", "rescue", "detach"}
	goesOnAgain = []string{"start", "resume", "power_on", "poweron", "unpause", "wake"}
	closesOff   = []string{"security_group", "security-group", "firewall", "network_acl"}
)

// stoppedByUser is the user's own act, on record, by which what he has does no longer do what it did, or by which somebody cannot reach it; nil where
// there is none.
func (c *Case) stoppedByUser(t *Trouble) (act *Event) {
	end := t.Cites[len(t.Cites)-1]
	reached := t.Kind == RequestTrouble // somebody wants to reach it, at any time until it goes on again
	if !reached && end.To() != semconv.Degraded {
		return nil
	}
	for _, e := range c.Events {
		if !e.Is(semconv.EventAudit) || e.Attr(semconv.ActorType) != "user" || e.At > end.At+skew {
			continue
		}
		action := strings.ToLower(e.Attr(semconv.Action))
		switch {
		case holdsAny(action, standsStill...), !reached && holdsAny(action, passes...):
			if reached || e.At >= t.At-stopped {
				act = e
			}
		case reached && holdsAny(action, closesOff...) && reaches(end) && !c.platformComplains(t):
			act = e
		case holdsAny(action, goesOnAgain...):
			act = nil
		}
	}
	return act
}

// reaches says whether somebody tells that he does not get to a port of what he has.
func reaches(e *Event) bool {
	return holdsAny(e.Text, "ssh: ", "port ") && holdsAny(e.Text, "timed out", "timeout", "refused", "unreachable", "no route")
}

// platformComplains says whether anybody but the client tells of a failure around a trouble.
func (c *Case) platformComplains(t *Trouble) bool {
	return slices.ContainsFunc(c.Failures(t), func(e *Event) bool { return e.Layer != semconv.LayerClient })
}
