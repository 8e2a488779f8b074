package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// versionNumber finds a version in a text.
var versionNumber = regexp.MustCompile(`\b\d+(?:\.\d+)+\b`)

// upgradedItself makes a driver that does not fit its machine's own, where that machine tells, as far back as every reader hears it, that it upgraded its packages to that very version
// by itself (apt's history, unattended-upgrades, dnf and zypper's logs).
func upgradedItself(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	var versions []string
	for _, e := range ev.Records {
		versions = append(versions, versionNumber.FindAllString(e.Text, 8)...)
	}
	var told *correlator.Event
	c.EachIn(semconv.LayerNode, c.Events[0].At-correlator.Throughout, ev.Records[0].At, func(e *correlator.Event) {
		if !e.IsEvent() && !e.Failed() && c.Own(e, t) && holds(e.Text, []string{"unattended-upgrade", "upgrade:", "upgraded ", "upgraded:", "dnf-automatic"}) &&
			slices.ContainsFunc(versions, func(v string) bool { return strings.Contains(e.Text, v) }) {
			told = e
		}
	})
	if told == nil {
		return ev
	}
	ev.Rule, ev.Layer, ev.Records = "node.own_upgrade", semconv.LayerNode, inOrder(append([]*correlator.Event{told}, ev.Records...)...)
	ev.NextCheck, ev.SafeAction = "which upgrades the machine makes by itself", "restart it to complete the upgrade, and stop it from upgrading by itself; the image needs nothing"
	ev.Summary = "the machine upgraded itself, and its driver does not fit since" + quote(told)
	return ev
}
