package rules

import (
	"regexp"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// neverPowered finds machines that a provider's job was to boot, and that stayed off.
func neverPowered() []correlator.Rule {
	return []correlator.Rule{{
		ID: "provider.never_powered", Layer: semconv.LayerProvider, Mechanism: "not_executed",
		Looks:      "a provider's job that ended in a time-out, and whose machine was seen powered off all the time: the order to boot it was not carried out",
		NextCheck:  "which part of the provider was given the order to power the machine on, and what it did",
		SafeAction: "power the machine on by the provider's own means; the machine and its network need nothing",
		Find:       stayedOff,
	}}
}

// powerIs finds what somebody who looked says of a machine's power (ipmitool's "chassis power", Redfish' PowerState).
var powerIs = regexp.MustCompile(`\b(?:chassis power(?: is)?|power ?state(?: of \S+)?(?: is)?|power is)[ :="(]+(on|off)\b`)

// tookOrder finds that a machine's controller took the order to power it on (ipmitool, Redfish' answers).
var tookOrder = regexp.MustCompile(`control: (?:up/)?on\b|\bpower[ -]?on\b.*\b(?:ok|success\w*|accepted|completed|20[0-4])\b`)

// stays is how long a machine is off until that is no moment of a power cycle.
const stays = int64(5 * time.Minute)

// stayedOff needs two looks at the machine after the provider took the job, minutes apart, both of which found it off, and none that found it on.
func stayedOff(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind != correlator.JobTrouble {
		return nil
	}
	var off []*correlator.Event
	on := false
	for _, e := range c.Events {
		if e.At <= t.From || e.At > t.At || e.IsEvent() || e.Layer != semconv.LayerProvider && e.Layer != semconv.LayerNode {
			continue
		}
		if tookOrder.MatchString(e.Text) {
			return nil // the machine was told, and did not come on: it may be its own power
		}
		if m := powerIs.FindStringSubmatch(e.Text); m != nil {
			on = on || m[1] == "on"
			off = append(off, e)
		}
	}
	if on || len(off) < 2 || off[len(off)-1].At-off[0].At < stays {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Caller, Onset: t.From, Records: append([]*correlator.Event{off[0], off[len(off)-1]}, t.Cites...),
		Summary: "the machine was to boot and stayed powered off" + quote(off[len(off)-1]),
	}}
}
