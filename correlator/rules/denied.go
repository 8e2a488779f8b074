package rules

import (
	"cmp"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// proxyDenies are the words of proxies that refuse a request by a rule of their own, before anybody behind them sees it: HAProxy's body of a 403 and its
// termination state PR without a server, nginx's deny, httpd's Require, Envoy's RBAC filter, ModSecurity.
var proxyDenies = []string{"request forbidden by administrative rules", "access forbidden by rule", "client denied by server configuration", "rbac_access_denied", "rbac: access denied", "modsecurity: access denied"}

// deniedByProxy is the proxy's own rule where a proxy tells of it, or its caller repeats its words, and nobody behind it tells of a refusal.
func deniedByProxy(c *correlator.Case, refused []*correlator.Event) *correlator.Evidence {
	var proxy, told *correlator.Event
	for _, e := range refused {
		denies := holds(e.Text, proxyDenies) || strings.Contains(e.Text, "<nosrv>") && strings.Contains(e.Text, " pr-- ")
		switch {
		case e.Layer == semconv.LayerIngress && denies:
			proxy = cmp.Or(proxy, e)
		case e.Layer == semconv.LayerIngress && e.HTTP.Upstream != "", e.Layer == semconv.LayerAPIAuth, e.Layer == semconv.LayerAPI:
			return nil // it went on, and was refused there
		case denies:
			told = cmp.Or(told, e)
		}
	}
	by := cmp.Or(proxy, told)
	if by == nil {
		return nil
	}
	ev := correlator.Evidence{
		Rule: "ingress.denied", Layer: semconv.LayerIngress, Mechanism: "policy", Weight: correlator.Telling, Directness: correlator.Caller, Onset: by.At, Records: refused,
		Summary:   "the proxy refused the request by a rule of its own, and nobody behind it saw it" + quote(cmp.Or(told, proxy)),
		NextCheck: "which of the proxy's access rules matched, and whom it is meant to keep out", SafeAction: "admit the caller in the proxy's rule; what lies behind it needs nothing",
	}
	ev = byRollout(c, ev, "policy", "ingress", "acl", "allow", "waf", "modsecurity")
	return &ev
}
