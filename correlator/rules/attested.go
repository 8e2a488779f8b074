package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// dialledPort finds the port of an address that was dialled.
var dialledPort = regexp.MustCompile(`\bdial (?:tcp|udp)[46]? \S*:(\d{2,5})\b`)

// attested says whether more than a dial which nobody answered speaks for packets that were lost: the network tells of trouble, or who was dialled is heard
// meanwhile and complains of nothing. Else he may hang, be full or be gone as well.
func attested(c *correlator.Case, t *correlator.Trouble, dials []*correlator.Event) (yes bool) {
	port, of, by := "", map[string]bool{}, map[string]bool{}
	if !slices.ContainsFunc(dials, func(e *correlator.Event) bool { return holds(e.Text, dialWords) }) {
		return true // what was a call and no dial is looked up where it went
	}
	for _, e := range dials {
		by[e.Service] = true
		if strings.Contains(e.Text, "dial tcp: i/o timeout") {
			return true // not even an address: it was the name that was asked for in vain
		}
		if m := dialledPort.FindStringSubmatch(e.Text); m != nil {
			port = m[1]
		}
		switch called := callee(c, e); {
		case called != "":
			of[called] = true
		case e.Party() == semconv.LayerNodeAgent || e.Party() == semconv.LayerClient:
			of[semconv.LayerIngress] = true // whoever comes from outside dials the proxy
		case e.Party() == semconv.LayerIngress:
			of[semconv.LayerAPI] = true
		}
	}
	c.EachIn(semconv.LayerNetwork, t.From-recently, t.At+recently, func(e *correlator.Event) {
		yes = yes || !e.IsEvent() && (closeTo(t, e) || correlator.EveryReaderHas(e)) && (e.Severity >= 13 || hinted(e) != nil || lostWords.MatchString(e.Text) || totalLoss.MatchString(e.Text))
	})
	if yes {
		return true
	}
	complains := false
	c.Each(t.From-recently, t.At+recently, func(e *correlator.Event) {
		switch party := e.Party(); {
		case !closeTo(t, e) && !correlator.EveryReaderHas(e):
		case port != "" && !e.Failed() && strings.Contains(e.Text, port) && serving.MatchString(e.Text):
			yes = true
		case !of[party]:
		case e.Failed() && !e.IsEvent() && e.HTTP.Status == 0 && !strings.Contains(e.Text, "dial "):
			complains = complains || e.Layer == party
		case !by[e.Service]: // who dials is not who is dialled, though both may be of one layer
			yes = true
		}
	})
	return yes && !complains
}

// dialWords are the words of a connection that was not made, as against a call that was not answered.
var dialWords = []string{"dial ", "connecttimeout", "connect timeout"}

// serving finds that a program tells that it waits for calls.
var serving = regexp.MustCompile(`\b(?:serving|listening|listens|serves)\b`)

// filters are the words of a change of what decides which packets pass.
var filters = []string{"policy", "policies", "firewall", "egress", "ingress-rule", "acl", "ruleset", "rule-set", "nftables", "iptables", "security-group", "fw-"}

// betweenFilters makes dials that nobody answered, since the network changed a filter and, in the same moment, another one or who dials was rolled out, each one's
// against the other: both explain it, and nothing tells them apart.
func betweenFilters(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) []correlator.Evidence {
	var own, networks *correlator.Event
	c.EachEvent(semconv.EventDeploy, ev.Onset-int64(rolledOut), ev.Onset, func(e *correlator.Event) {
		switch {
		case layerOfChange(c, e) == semconv.LayerNetwork && holds(strings.ToLower(what(e)), filters):
			networks = e
		case layerOfChange(c, e) == semconv.LayerDeploy && (holds(strings.ToLower(what(e)), filters) || strings.EqualFold(e.Attr(semconv.Component), ev.Records[0].Service)):
			own = e
		}
	})
	if own != nil && networks == nil {
		networks = toldBeside(c, t, own, ev.Onset)
	}
	if own == nil || networks == nil || max(own.At, networks.At)-min(own.At, networks.At) > moment {
		return nil
	}
	return rivals(c, ev, own, networks)
}
