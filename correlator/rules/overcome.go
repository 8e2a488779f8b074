package rules

import (
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// upAgain are the words of a line that tells of a link that was away, and is back.
var upAgain = []string{"up after", "up again", "back up", "recovered after", "restored after"}

// wentOn says whether the agent of a machine that warned of itself told, after that, of work that goes on there or is done.
func wentOn(c *correlator.Case, warned []*correlator.Event) (on bool) {
	last := warned[len(warned)-1]
	if last.Node != "" && slices.ContainsFunc(c.Lifecycle.Tasks, func(a *correlator.Attempt) bool {
		return a.Node == last.Node && a.Over != nil && a.Over.To() == semconv.Succeeded && a.Over.At > last.At+int64(time.Minute)
	}) {
		return true // what it did was done
	}
	if last.Node != "" && slices.ContainsFunc(c.Lifecycle.Tasks, func(a *correlator.Attempt) bool {
		return a.Node == last.Node && a.Over != nil && a.Over.To() == semconv.Failed && a.Over.At >= last.At && a.Over.At <= last.At+rightBefore
	}) {
		return false // it was not
	}
	if last.Node == "" || slices.ContainsFunc(warned, func(e *correlator.Event) bool { return e.Severity >= 17 || e.Node != last.Node }) {
		return false
	}
	until := c.Now
	c.EachEvent(semconv.EventAudit, last.At, c.Now, func(act *correlator.Event) {
		if act.Node == last.Node && act.Attr(semconv.ActorType) != "system" {
			until = min(until, act.At) // what goes well after somebody laid hands on the machine may do so for that
		}
	})
	c.Each(last.At+int64(time.Minute), until, func(e *correlator.Event) {
		on = on || e.Node == last.Node && !e.IsEvent() && !e.Failed() && e.Severity < 13 && e.Own(identity.Task) != "" && e.Party() != semconv.LayerNode
	})
	return on
}
