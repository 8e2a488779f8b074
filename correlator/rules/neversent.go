package rules

import (
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// neverSentOn finds outboxes that take an order and do not hand it on, though they are alive.
func neverSentOn() []correlator.Rule {
	return []correlator.Rule{{
		ID: "outbox.holds", Layer: semconv.LayerOutbox, Mechanism: "stuck",
		Looks:      "a row that the relay itself told of, that was never published, and a relay that speaks of itself meanwhile",
		NextCheck:  "what the relay waits for, by its own words",
		SafeAction: "restart the relay; its rows are kept",
		Find:       heldByRelay,
	}}
}

// heldByRelay needs the row's own record by the relay, minutes before the step went wrong, with no attempt since, and two words of the relay's after it.
func heldByRelay(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	const long = int64(5 * time.Minute)
	if t.Kind != correlator.OverdueTrouble || t.Owes != "" || len(c.Lifecycle.Outbox) == 0 || len(c.Lifecycle.Workflows) > 0 {
		return nil
	}
	row := c.Lifecycle.Outbox[len(c.Lifecycle.Outbox)-1].Last()
	if row.To != semconv.Pending || row.Event == nil || row.Event.Layer != semconv.LayerOutbox || t.At-row.At < long {
		return nil
	}
	var said []*correlator.Event
	c.EachIn(semconv.LayerOutbox, row.At+1, t.At, func(e *correlator.Event) {
		if !e.IsEvent() && e.Service == row.Event.Service && (closeTo(t, e) || correlator.EveryReaderHas(e)) {
			said = append(said, e)
		}
	})
	if len(said) < 2 {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Generic, Directness: correlator.Itself, Onset: row.At, Records: append(inOrder(row.Event, said[0], said[len(said)-1]), t.Cites...),
		Summary: "the relay has the row and does not send it" + quote(said[len(said)-1]),
	}}
}
