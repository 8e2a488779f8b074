package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// first names the layer that failed first, on platforms whose profile says that this may be said: their
// layers are peers that call each other, each logs its own exceptions, and a caller's error comes after the
// one that it was given.
func first() []correlator.Rule {
	return []correlator.Rule{{
		ID: "hop.first", Looks: "the first layer that logs an error of its own, where the profile's layers call each other as peers",
		NextCheck:  "that layer's first error, and the call in it that failed",
		SafeAction: "look before anything is restarted",
		Find:       failedFirst,
	}}
}

func failedFirst(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if !c.Profile.FirstFailure() {
		return nil
	}
	var errors []*correlator.Event
	for _, e := range c.Failures(t) {
		if e.Severity >= 17 && e.Layer != "" && e.Layer != semconv.LayerClient && !wrapper(e) {
			errors = append(errors, e)
		}
	}
	if len(errors) == 0 {
		// Agents log under no request: errors that belong to nobody, while this was under way.
		for _, e := range c.UnattributedBetween(t.From, t.At+int64(30*time.Second)) {
			if e.Severity >= 17 && e.Layer != "" && e.Layer != semconv.LayerClient && !wrapper(e) {
				errors = append(errors, e)
			}
		}
	}
	if len(errors) == 0 {
		return clientNames(c, t)
	}
	if slices.ContainsFunc(errors, func(e *correlator.Event) bool { return correlator.Leftover(e) != "" }) {
		return nil // it stumbled over what somebody else left behind
	}
	layer := errors[0].Layer
	// What the first one says of another layer that it called is that layer's error.
	if called := calls(c, errors, layer); called != "" {
		layer = called
	}
	ev := correlator.Evidence{Rule: layer + ".first", Layer: layer, Mechanism: "error", Weight: correlator.Generic, Directness: correlator.Itself}
	for _, e := range errors {
		if e.Layer == layer {
			ev.Records = append(ev.Records, e)
		}
	}
	if len(ev.Records) == 0 {
		ev.Records, ev.Directness = errors[:1], correlator.Caller
	}
	ev.Summary = layer + " was the first to fail" + quote(ev.Records[0])
	return []correlator.Evidence{ev}
}

// calls gives the layer whose client reader raised the errors of the layer that failed first, "" where
// that is not said: a traceback through neutronclient is neutron's answer.
func calls(c *correlator.Case, errors []*correlator.Event, layer string) string {
	for _, e := range errors {
		if e.Layer != layer {
			continue
		}
		for _, other := range c.Profile.Layers {
			if other != layer && other != semconv.LayerClient && strings.Contains(e.Text, other+"client.") && slices.ContainsFunc(errors, func(x *correlator.Event) bool { return x.Layer == other }) {
				return other
			}
		}
	}
	return ""
}

// asked are the words of a client for what it asked for, and whose work that is; the first that stands in
// its error decides. Attaching is the node's side of a volume, so it comes before the volume.
var asked = []struct{ word, layer string }{
	{"attach", "nova"}, {"server ", "nova"}, {"instance", "nova"}, {"flavor", "nova"}, {"keypair", "nova"}, {"compute", "nova"},
	{"volume", "cinder"}, {"snapshot", "cinder"}, {"floating", "neutron"}, {"subnet", "neutron"}, {"router", "neutron"}, {"network", "neutron"},
	{"port", "neutron"}, {"security group", "neutron"}, {"image", "glance"}, {"token", "keystone"}, {"stack ", "heat"},
}

// clientNames reads what the client was told, where no layer logged an error at all: the sub-system that
// its last error names.
func clientNames(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	for _, e := range slices.Backward(c.Failures(t)) {
		if e.Layer != semconv.LayerClient {
			continue
		}
		text := strings.ToLower(e.Body)
		for _, a := range asked {
			if !strings.Contains(text, a.word) || !c.Profile.Knows(a.layer) {
				continue
			}
			ev := correlator.Evidence{
				Rule: a.layer + ".named", Layer: a.layer, Mechanism: "error", Weight: correlator.Generic, Directness: correlator.Hearsay,
				Records: []*correlator.Event{e}, Summary: "the client's error names " + a.layer + quote(e),
			}
			if own := admits(c.Failures(t), a.layer); len(own) > 0 {
				ev.Records, ev.Directness = own, correlator.Itself
				ev.Summary = "the client's error names " + a.layer + ", which admits" + quote(own[0])
			}
			return []correlator.Evidence{ev}
		}
	}
	return nil
}

// admitted are the words of a layer that had to give something up, below the level of an error.
var admitted = []string{"failed to", "error:", "exception", "traceback", "could not", "unable to", "timed out", "refused"}

// admits lists what a layer itself says of something that went wrong in it.
func admits(failures []*correlator.Event, layer string) []*correlator.Event {
	var out []*correlator.Event
	for _, e := range failures {
		if e.Layer == layer && holds(e.Text, admitted) && !wrapper(e) {
			out = append(out, e)
		}
	}
	return out
}
