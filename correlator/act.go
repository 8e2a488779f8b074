package correlator

import (
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

// helpsSoon is how long after an administrator's act what stood still may take to go on, if the act is to be why.
const helpsSoon = int64(20 * time.Minute)

// plannedActs are the words of an act that was no answer to a trouble, and of one that only asks again for what had failed.
var plannedActs = []string{
	"chg-", "change-", "maintenance", "planned", "restart_workflow", "restart workflow", "workflow.restart",
	"retry", "rerun", "re-run", "approve", "cordon", "drain", "evacuate", "rollback", "roll back", "revert", "undo",
}

// Acts are what administrators did in [from, to] to the allocation, its nodes, or what belongs to nobody, as an answer to something: what was planned
// is none.
func (c *Case) Acts(from, to int64) (acts []*Event) {
	c.EachEvent(semconv.EventAudit, from, to, func(e *Event) {
		if e.Attr(semconv.ActorType) == "admin" && (e.Allocation == "" || e.Allocation == c.ID) && (e.Node == "" || slices.Contains(c.Lifecycle.Nodes, e.Node)) &&
			!holdsAny(strings.ToLower(e.Attr(semconv.Action)+" "+e.Attr(semconv.Reason)), plannedActs...) {
			acts = append(acts, e)
		}
	})
	return acts
}

// WentOnAfter is the first thing that is heard of the allocation after an act, where that comes soon, beside how long nothing had come since from, and
// nothing of it fails any more until to; nil where it did not.
func (c *Case) WentOnAfter(act *Event, from, to int64) (moved *Event) {
	for _, e := range c.Events {
		switch {
		case e.At <= act.At || e.At > to || e == act:
		case e.TellsOfFailure():
			if e.At > act.At+moment {
				return nil
			}
		case moved == nil && !e.Is(semconv.EventHeartbeat):
			moved = e
		}
	}
	if moved == nil || moved.At-act.At > min(helpsSoon, (act.At-from)/2) {
		return nil
	}
	return moved
}

// neededHelp says whether a step that stood still, and that somebody had complained of, went on by an administrator's act: it did not make itself good, and what it
// waited for is to be found out.
func (c *Case) neededHelp(t *Trouble) bool {
	return t.Kind == OverdueTrouble && c.helped(t.From, t.Cleared) != nil
}

// helped is an act by which a step that somebody had complained of went on, nil where it needed none.
func (c *Case) helped(from, to int64) *Event {
	for _, act := range c.Acts(from, to) {
		if slices.ContainsFunc(c.ownFailures().around(from, act.At), func(e *Event) bool { return !e.IsEvent() && e.Layer != semconv.LayerClient }) && c.WentOnAfter(act, from, to) != nil {
			return act
		}
	}
	return nil
}
