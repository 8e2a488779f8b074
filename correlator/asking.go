package correlator

import (
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

// keptFromAsking says whether a machine was turned away shortly before its task was queued, and has not got through since: that the task was never taken
// is why.
func (c *Case) keptFromAsking(e *Event, t *Trouble) bool {
	if !t.NeverTaken() || t.Node == "" || e.At < t.From-turnedAwayFor || e.Node != t.Node && !Names(e, t.Node) {
		return false
	}
	for _, o := range c.Events {
		if o.At > e.At && o.At <= t.At && o.Node == t.Node && o.Layer == semconv.LayerNodeAgent && !o.TellsOfFailure() {
			return false
		}
	}
	return true
}

// turnedAwayFor is how long before a task was queued its machine may have been turned away for the last time that was kept: an agent asks every minute or so,
// and says the same again more seldom.
const turnedAwayFor = int64(10 * time.Minute)
