package rules

import (
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// madeByOthers hands data of a machine that cannot be read over to a rollout, where the machine of somebody else cannot read its own either, in the same words:
// what both have in common no tenant wrote.
func madeByOthers(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	words, own := correlator.Template(ev.Records[0].Text), hostOf(ev.Records[0])
	var peer *correlator.Event
	look := func(e *correlator.Event) {
		if peer == nil && e.Failed() && !e.IsEvent() && !c.Own(e, t) && e.Service == ev.Records[0].Service && hostOf(e) != own && correlator.Template(e.Text) == words {
			peer = e
		}
	}
	c.Each(t.From-recently, t.At+recently, look)
	if peer == nil {
		return ev
	}
	ev.Rule, ev.Layer, ev.Mechanism, ev.Certain = "deploy.user_data", semconv.LayerDeploy, "content", false
	ev.Records = append(ev.Records, peer)
	ev.Summary = "machines of several tenants cannot read what they were given" + quote(ev.Records[0])
	ev.NextCheck, ev.SafeAction = "the template that the machines' data is made of, and its last change", "roll the template back; the tenants and their machines need nothing"
	return ev
}

// hostOf names the machine that a record is of, as far as it tells.
func hostOf(e *correlator.Event) string {
	return e.Node + " " + e.Attr("host.name") + e.Attr(semconv.HostName)
}

// sentNone says whether the API tells that the tenant gave no data with his request: what cannot be read is not his.
func sentNone(c *correlator.Case) (none bool) {
	for _, e := range c.Events {
		none = none || e.Layer == semconv.LayerAPI && !e.IsEvent() && (strings.Contains(e.Text, "user_data=none") || strings.Contains(e.Text, "no user data"))
	}
	return none
}
