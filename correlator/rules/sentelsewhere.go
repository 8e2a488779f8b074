package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// sentElsewhere finds proxies that send a step's calls to another back end than such calls are sent to.
func sentElsewhere() []correlator.Rule {
	return []correlator.Rule{{
		ID: "ingress.other_backend", Layer: semconv.LayerIngress, Mechanism: "route",
		Looks:      "calls that a proxy sends to an address which refuses them, while such calls of others are answered well at another address, and none there",
		NextCheck:  "which back ends that proxy has for the path, and since when",
		SafeAction: "have that proxy read its back ends anew; who refused needs nothing",
		Find:       answeredElsewhere,
	}, {
		ID: "ingress.unknown_path", Layer: semconv.LayerIngress, Mechanism: "route",
		Looks:      "a user's calls that are unknown (404) where a proxy alone tells of them, while the API behind it is alive and heard of none of them",
		NextCheck:  "which paths that proxy knows, and where it has them from",
		SafeAction: "have that proxy read its table anew; the API needs nothing",
		Find:       unknownToProxy,
	}}
}

// unknownToProxy needs the caller's word that his calls are unknown, more than once, the proxy's own complaint of each at that moment, and nothing of them by the API.
func unknownToProxy(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind != correlator.RequestTrouble {
		return agentUnknownToProxy(c, t)
	}
	var asked, proxy []*correlator.Event
	for _, e := range c.Failures(t) {
		switch {
		case e.Layer == semconv.LayerClient && (e.HTTP.Status == 404 || e.HTTP.Status == 0 && strings.Contains(e.Text, "404")):
			asked = append(asked, e)
		case e.Layer == semconv.LayerIngress && e.HTTP.Upstream == "" && strings.Contains(e.Text, "404") && !e.IsEvent():
			proxy = append(proxy, e)
		case e.Layer != semconv.LayerClient:
			return nil // it was not the proxy alone
		}
	}
	told := func(at int64, layer string) bool {
		return slices.ContainsFunc(c.Events, func(e *correlator.Event) bool {
			return e.Layer == layer && !e.IsEvent() && e.At >= at-moment && e.At <= at+moment && e.HTTP.Status != 0
		})
	}
	if len(asked) < 2 || len(proxy) < 2 || c.AliveBetween(semconv.LayerAPI, t.From, t.At+recently) == nil ||
		slices.ContainsFunc(proxy, func(e *correlator.Event) bool { return told(e.At, semconv.LayerAPI) }) {
		return nil
	}
	records := append(slices.Clone(proxy[:min(len(proxy), ownWords)]), asked[:min(len(asked), ownWords)]...)
	slices.SortStableFunc(records, correlator.CompareEvents)
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: proxy[0].At, Records: records,
		Summary: "the calls are unknown to the proxy, and the API heard of none of them" + quote(proxy[0]),
	}}
}

// answeredElsewhere needs the proxy's own records of both: of the step's calls, all unknown at one address (404, 405 or 421: RFC 9110, 15.5), and of others' to the same part of the API, answered
// at another address, with none answered at the first one.
func answeredElsewhere(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var own []*correlator.Event
	for _, e := range unknownAt(c) {
		if e.At >= t.From-moment && e.At <= t.At+moment {
			own = append(own, e)
		}
	}
	if len(own) == 0 || slices.ContainsFunc(own, func(e *correlator.Event) bool { return e.HTTP.Upstream != own[0].HTTP.Upstream }) {
		return nil
	}
	var well *correlator.Event
	served := false
	look := func(e *correlator.Event) {
		switch {
		case e.Layer != semconv.LayerIngress || e.HTTP.Upstream == "" || e.HTTP.Status < 200 || e.HTTP.Status >= 400 || firstPart(e) != firstPart(own[0]):
		case e.HTTP.Upstream == own[0].HTTP.Upstream:
			served = true
		case correlator.EveryReaderHas(e) || closeTo(t, e):
			well = e
		}
	}
	c.EachIn(semconv.LayerIngress, t.From-recently, t.At, look)
	c.EachOther(t.From-recently, t.At, look)
	if served || well == nil {
		return nil
	}
	c.Borrow(well)
	records := append(slices.Clone(own[:min(len(own), ownWords)]), well)
	slices.SortStableFunc(records, correlator.CompareEvents)
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: own[0].At, Records: records,
		Summary: "the proxy sends the calls to " + own[0].HTTP.Upstream + ", and those of others to " + well.HTTP.Upstream + ", where they are answered" + quote(own[0]),
	}}
}

// unknownAt lists the answers of a back end to the allocation's own calls by which it does not know them, or not by that method, as proxies tell them.
func unknownAt(c *correlator.Case) []*correlator.Event {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []*correlator.Event
		for _, e := range c.Events {
			if e.Layer == semconv.LayerIngress && e.HTTP.Upstream != "" && (e.HTTP.Status == 404 || e.HTTP.Status == 405 || e.HTTP.Status == 421) && firstPart(e) != "" {
				out = append(out, e)
			}
		}
		return out
	}).([]*correlator.Event)
}

// aVersion finds that the first part of a path is an API's version alone.
var aVersion = regexp.MustCompile(`^v\d+[a-z0-9]*$`)

// firstPart is the first part of the path that a proxy was asked for, with what follows a version; "" where it does not tell.
func firstPart(e *correlator.Event) string {
	path := e.HTTP.Path
	if at := requestLine.FindStringIndex(e.Text); path == "" && at != nil {
		path = strings.FieldsFunc(e.Text[at[1]-1:], func(r rune) bool { return r == ' ' || r == '"' })[0]
	}
	part, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if aVersion.MatchString(part) {
		resource, _, _ := strings.Cut(rest, "/")
		part += "/" + resource
	}
	return part
}

// agentUnknownToProxy is the same of an agent that asks for its task, where the proxy names its machine and says that it has no route.
func agentUnknownToProxy(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Node == "" || !t.NeverTaken() {
		return nil
	}
	var asked, proxy []*correlator.Event
	c.EachIn(semconv.LayerNodeAgent, t.From-recently, t.At, func(e *correlator.Event) {
		if e.Node == t.Node && e.Failed() && strings.Contains(e.Text, "404") {
			asked = append(asked, e)
		}
	})
	c.EachIn(semconv.LayerIngress, t.From-recently, t.At, func(e *correlator.Event) {
		if e.Failed() && e.HTTP.Upstream == "" && correlator.Names(e, t.Node) && strings.Contains(e.Text, "404") && !e.IsEvent() {
			proxy = append(proxy, e)
		}
	})
	if len(asked) < 2 || len(proxy) == 0 || c.AliveBetween(semconv.LayerAPI, t.From, t.At+recently) == nil {
		return nil
	}
	records := append(slices.Clone(proxy[:min(len(proxy), ownWords)]), asked[:min(len(asked), ownWords)]...)
	slices.SortStableFunc(records, correlator.CompareEvents)
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: proxy[0].At, Records: records,
		Summary: "what the agent asks for is unknown to the proxy" + quote(proxy[0]),
	}}
}
