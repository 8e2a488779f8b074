package rules

import (
	"regexp"
	"strconv"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// unroutable finds messages that a broker took and had nobody to give to.
func unroutable() []correlator.Rule {
	return []correlator.Rule{{
		ID: "outbox.unroutable", Layer: semconv.LayerOutbox, Mechanism: "unroutable",
		Looks:      "a record that was published and that nobody was given, and a broker that counts what it had no queue for",
		NextCheck:  "which queue is bound to what the relay publishes to, and since when not",
		SafeAction: "bind it again, then publish the record again; the workers need nothing",
		Find:       hadNoQueue,
	}}
}

// countedUnroutable finds how much a broker dropped or returned for want of a queue (RabbitMQ's metrics, JetStream's and NATS' words).
var countedUnroutable = regexp.MustCompile(`(?:unroutable|unrouted|not routed|no (?:matching )?(?:binding|subscri\w+))[^0-9\n]{0,30}\b(\d+)`)

// hadNoQueue needs a published record of which nothing came and such a count after it.
func hadNoQueue(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	published := untaken(c, t)
	if published == nil {
		return nil
	}
	var counted *correlator.Event
	c.EachIn(semconv.LayerOutbox, published.At, t.At, func(e *correlator.Event) {
		if m := countedUnroutable.FindStringSubmatch(e.Text); m != nil && !e.IsEvent() && counted == nil && (closeTo(t, e) || correlator.EveryReaderHas(e)) {
			if n, err := strconv.Atoi(m[1]); err == nil && n > 0 {
				counted = e
			}
		}
	})
	if counted == nil {
		return nil
	}
	ev := correlator.Evidence{
		Layer: semconv.LayerOutbox, Weight: correlator.Telling, Directness: correlator.Itself, Onset: published.At, Records: append([]*correlator.Event{published, counted}, t.Cites...),
		Summary: "the broker took what was published and had no queue for it" + quote(counted),
	}
	return []correlator.Evidence{byRollout(c, ev, "binding", "topology", "binding", "exchange", "messag", "broker", "rabbit", "nats", "queue", "kafka", "topic")}
}

// untaken is the last record that was published before a deadline passed, where no workflow took up anything since; nil where there is none.
func untaken(c *correlator.Case, t *correlator.Trouble) *correlator.Event {
	if t.Kind != correlator.OverdueTrouble || len(c.Lifecycle.Outbox) == 0 {
		return nil
	}
	published := c.Lifecycle.Outbox[len(c.Lifecycle.Outbox)-1].Last()
	if published.To != semconv.Published || published.At > t.At {
		return nil
	}
	taken := false
	c.EachEvent(semconv.EventWorkflowState, published.At+moment, t.At, func(e *correlator.Event) { taken = taken || e.Allocation == c.ID })
	if taken {
		return nil
	}
	return published.Event
}
