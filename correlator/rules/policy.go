package rules

import (
	"regexp"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/semconv"
)

// denies are the words of a network that drops what a policy does not let through (Cilium, Calico, nftables, cloud flow logs).
var denies = needles.Of("policy denied", "policy-denied", "denied by policy", "dropped by policy", "policy verdict: deny", "action=deny", "action=drop", "networkpolicy deny")

// ofPolicies are the words of a rollout of what a network lets through.
var ofPolicies = []string{"networkpolicy", "network-policy", "networkpolicies", "egress", "ingress-policy", "firewall", "security-group", "securitygroup", "default-deny"}

// ipAddress finds addresses in a text.
var ipAddress = regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}\b`)

// droppedByPolicy makes a dial that was not answered a rollout's, where the network tells that it drops what goes to that very address by a policy, and such
// policies were rolled out before.
func droppedByPolicy(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	dialled := map[string]bool{}
	for _, e := range ev.Records {
		for _, address := range ipAddress.FindAllString(e.Text, 8) {
			dialled[address] = true
		}
	}
	if len(dialled) == 0 {
		return ev
	}
	var drops []*correlator.Event
	c.Each(ev.Onset-recently, t.At, func(e *correlator.Event) {
		if e.IsEvent() || !e.Failed() || len(drops) == ownWords || !denies.Any(e.Text) {
			return
		}
		for _, address := range ipAddress.FindAllString(e.Text, 8) {
			if dialled[address] {
				drops = append(drops, e)
				return
			}
		}
	})
	if len(drops) == 0 {
		return ev
	}
	ev.Records = append(drops, ev.Records...)
	ev.Summary = "the network drops by a policy what goes there" + quote(drops[0])
	ev.NextCheck, ev.SafeAction = "which policy matches, and who wrote it", "let that way through; the called needs nothing"
	var change *correlator.Event
	c.EachEvent(semconv.EventDeploy, drops[0].At-int64(changed), drops[0].At, func(e *correlator.Event) {
		if holds(strings.ToLower(e.Attr(semconv.Component)+" "+e.Attr(semconv.Config)+" "+e.Text), ofPolicies) {
			change = e
		}
	})
	if change == nil {
		return ev
	}
	ev.Summary += ", since the rollout of " + what(change)
	ev.Weight, ev.Directness = correlator.Specific, correlator.Itself
	return handedOver(ev, change, "deploy.network_policy", "network_policy")
}
