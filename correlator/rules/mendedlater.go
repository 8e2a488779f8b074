package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// mendedLater reads what administrators did to one thing after a step had failed for good: people who were there knew more than was recorded.
func mendedLater() []correlator.Rule {
	return []correlator.Rule{{
		ID: "party.mended_later", Mechanism: "error",
		Looks:      "a step that failed, and later an administrator's act, no mere start anew, on one component or one machine that fails no more",
		NextCheck:  "what was found there when it was mended",
		SafeAction: "repeat the step",
		Find:       mendedAfterwards,
	}}
}

// mendedWithin is how long after a failure what was done to a thing still is an answer to it: a shift.
const mendedWithin = int64(8 * time.Hour)

// ofTheWay are the words by which an act on what leads to a machine, or is made for it, names that machine.
var ofTheWay = []string{"port", "cable", "leaf", "switch", "vlan", "bmc", "ilo", "idrac", "dhcp", "pxe", "image", "cert", "token", "secret", "lease", "route", "rule", "firewall", "dns", "agent", "claim", "release", "drain", "cordon", "quarantine", "retire", "wipe", "reimage", "maintenance", "rma", "replace_node", "decommission"}

// mendedAfterwards needs an act that names one component or machine, and nothing of that one that fails afterwards.
func mendedAfterwards(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Cleared != 0 || c.Profile.FirstFailure() || t.Kind == correlator.RequestTrouble {
		return nil
	}
	layer, service, node := "", "", ""
	var act *correlator.Event
	for _, e := range c.Acts(t.At, t.At+mendedWithin) {
		if startsUp(e) && len(strings.Fields(e.Attr(semconv.Reason))) < saysWhy {
			return nil // nobody knows what that was for
		}
		l, s, n := thingOf(c, e)
		if l == "" || layer != "" && l != layer {
			return nil
		}
		if act == nil {
			act, layer, service, node = e, l, s, n
		}
	}
	if act == nil || !c.Profile.Knows(layer) || layer == semconv.LayerClient {
		return nil
	}
	fails := false
	c.Each(act.At+moment, c.Now, func(e *correlator.Event) {
		fails = fails || e.Failed() && (service != "" && e.Service == service || node != "" && e.Node == node)
	})
	if fails {
		return nil
	}
	return []correlator.Evidence{{
		Rule: layer + ".mended_later", Layer: layer, Weight: correlator.Generic, Directness: correlator.Caller, Onset: t.From,
		Records: append([]*correlator.Event{act}, t.Cites...),
		Summary: "after it had failed, " + act.Attr(semconv.Actor) + " mended it (" + actTold(act) + ")",
	}}
}

// saysWhy is how many words the reason of a mere start anew has at least where it says what was found: "slots never freed".
const saysWhy = 3

// looksOnly are the words of acts by which somebody looked, or tried.
var looksOnly = []string{"check", "look", "inspect", "test", "try", "attempt", "investigat", "debug", "diagnos", "redfish", "ipmi", "power"}

// thingOf is the one component, or the allocation's one machine, that the reason of an act names, with the component's layer: what was found there, not what it
// was done through.
func thingOf(c *correlator.Case, act *correlator.Event) (layer, service, node string) {
	did, told := strings.ToLower(act.Attr(semconv.Action)), strings.ToLower(act.Attr(semconv.Reason))
	if holds(did+" "+told, looksOnly) {
		return "", "", ""
	}
	from := told
	if startsUp(act) {
		from = did + " " + told // it is what was started again
	}
	for _, name := range inAct.FindAllString(strings.ReplaceAll(from, "_", " "), -1) {
		if l := heardAs(c, name); l != "" && !slices.Contains(ofActs, name) {
			if layer != "" && l != layer {
				return "", "", ""
			}
			layer, service = l, name
		}
	}
	named := slices.IndexFunc(c.Lifecycle.Nodes, func(n string) bool { return strings.Contains(told, strings.ToLower(n)) })
	switch {
	case named < 0, startsUp(act) && layer == semconv.LayerNodeAgent:
		return layer, service, ""
	case layer != "" && layer != semconv.LayerNode || holds(did+" "+told, ofTheWay):
		return "", "", ""
	}
	return semconv.LayerNode, "", c.Lifecycle.Nodes[named]
}
