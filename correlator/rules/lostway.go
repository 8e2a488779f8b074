package rules

import (
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// lostWay finds machines that lose their way to storage at one time, right after the network told of a loss of its own.
func lostWay() []correlator.Rule {
	return []correlator.Rule{{
		ID: "network.way_to_storage", Layer: semconv.LayerNetwork, Mechanism: "fabric",
		Looks:      "two machines that lose storage which they do not hold themselves, at one time, and the network's own word on a loss right before",
		NextCheck:  "what the network lost, and since when the storage's addresses are not announced",
		SafeAction: "bring the way back; the machines' disks and the storage need nothing",
		Find:       losesStorage,
	}}
}

// losesStorage needs the step's machine and another one within a minute, and a warning of the network's in the minute before the first of them.
func losesStorage(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	const apart = int64(time.Minute)
	if t.Node == "" && len(c.Lifecycle.Nodes) == 0 {
		return nil
	}
	var own, other *correlator.Event
	c.EachIn(semconv.LayerNode, t.From-recently, t.At, func(e *correlator.Event) {
		switch {
		case own != nil || e.IsEvent() || !e.Failed() || !lostStorage.Any(e.Text) || !c.Own(e, t):
		default:
			own = e
		}
	})
	if own == nil {
		return nil
	}
	for _, e := range ofOtherMachines(c) {
		if other == nil && e.Layer == semconv.LayerNode && e.Node != own.Node && !e.IsEvent() && lostStorage.Any(e.Text) && max(e.At, own.At)-min(e.At, own.At) <= apart {
			other = e
		}
	}
	if other == nil {
		return nil
	}
	var told *correlator.Event
	first := min(own.At, other.At)
	c.Each(first-apart, first+moment, func(e *correlator.Event) {
		if told == nil && e.Party() == semconv.LayerNetwork && !e.IsEvent() && e.Failed() && e.Node == "" && correlator.EveryReaderHas(e) {
			told = e
		}
	})
	if told == nil {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Specific, Directness: correlator.Itself, Onset: told.At, Records: inOrder(told, own, other),
		Summary: "machines lost their way to storage right after the network told of a loss" + quote(told),
	}}
}
