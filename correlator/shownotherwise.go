package correlator

import (
	"fmt"
	"time"

	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/semconv"
)

// notThere are the words of a view that shows an allocation as one that has not come to what was asked for, or of which nothing is known.
var notThere = needles.Of("provisioning", "starting", "creating", "pending", "not ready", "degraded", "not converged", "notconverged", "state=unknown", "status=unknown")

// shownOtherwise is the trouble of an allocation that is active, and that a view's own lines on it, again and again, show as not there, minutes after it was: nil where none
// does, or where the last of them shows it.
func shownOtherwise(c *Case) *Trouble {
	const late, lasts, times = int64(5 * time.Minute), int64(5 * time.Minute), 3
	state, since, ok := c.Lifecycle.State()
	if c.Profile.FirstFailure() || !ok || state != semconv.Active {
		return nil
	}
	var shown []*Event
	for _, e := range c.Events {
		switch {
		case e.IsEvent() || e.At < since+late || e.Party() != semconv.LayerProjection && !holdsAny(e.Text, "source=view", "view_lag="):
		case notThere.Any(e.Text):
			shown = append(shown, e)
		case holdsAny(e.Text, "active", "running", "ready"):
			shown = nil
		}
	}
	if len(shown) < times || shown[len(shown)-1].At-shown[0].At < lasts {
		return nil
	}
	first, last := shown[0], shown[len(shown)-1]
	return &Trouble{Kind: RequestTrouble, From: first.At, At: last.EndAt(), Cites: distinct(first, last),
		What: fmt.Sprintf("a view shows the allocation as not there, %d times in %s", len(shown), time.Duration(last.At-first.At).Round(time.Second))}
}
