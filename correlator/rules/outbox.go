package rules

import (
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/semconv"
)

// outbox finds rows that the relay tried to publish and could not, by its own account.
func outbox() []correlator.Rule {
	return []correlator.Rule{{
		ID: "outbox.stuck", Layer: semconv.LayerOutbox, Mechanism: "stuck",
		Looks:      "a row that stays unpublished, with attempts and an error of the relay's own",
		NextCheck:  "the row's last error, and the oldest pending row",
		SafeAction: "fix or skip the row with an audited reason, then replay",
		Find: func(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
			if t.Owes != semconv.LayerOutbox {
				return nil
			}
			ev := correlator.Evidence{Weight: correlator.Telling, Directness: correlator.Itself, Certain: true, Onset: t.From}
			said, ended := "", true
			for _, e := range t.Cites {
				if words := e.Attr(semconv.LastError); words != "" && named(e) == nil && !holds(e.Text, unreachable) {
					said = words
					ended = ended && endedByOther.Any(e.Text)
				}
			}
			for _, e := range c.Failures(t) {
				if e.Layer == semconv.LayerOutbox && !e.IsEvent() && named(e) == nil && !holds(e.Text, unreachable) {
					ev.Records = append(ev.Records, e)
					ended = ended && endedByOther.Any(e.Text)
				}
			}
			if ended {
				ev.Weight, ev.Certain = correlator.Generic, false // who ended it knows why
			}
			if said == "" && len(ev.Records) == 0 {
				return nil
			}
			ev.Records = append(append([]*correlator.Event(nil), t.Cites...), ev.Records...)
			ev.Summary = t.What
			if said != "" {
				ev.Summary += " (" + said + ")"
			}
			return []correlator.Evidence{ev}
		},
	}}
}

// endedByOther are the words of a relay that tells of nothing but that the broker ended its connection.
var endedByOther = needles.Of("connection closed", "closed by peer", "closed by the peer", "closed by remote", "closed the connection", "connection was closed", "unexpected close", "server closed")
