package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// ownProxies finds users who go by a proxy of their own that does not get through to the platform.
func ownProxies() []correlator.Rule {
	return []correlator.Rule{{
		ID: "client.own_proxy", Layer: semconv.LayerClient, Mechanism: "request",
		Looks:      "a user's calls of which nobody on the platform heard, and his word that they go by a proxy of his own, which fails them itself",
		NextCheck:  "the caller's proxy settings, and what that proxy says of the platform's host",
		SafeAction: "except the platform's host from the proxy; nothing reached it",
		Find:       byOwnProxy,
	}}
}

// byOwnProxy needs failures that the caller alone tells of, his word by which proxy he goes, and that proxy's own word of such a failure.
func byOwnProxy(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind != correlator.RequestTrouble {
		return nil
	}
	failures := slices.DeleteFunc(slices.Clone(c.Failures(t)), func(e *correlator.Event) bool { return ofForwardProxy(e.Text) })
	if len(failures) == 0 || slices.ContainsFunc(failures, func(e *correlator.Event) bool { return e.Layer != semconv.LayerClient }) {
		return nil
	}
	says := ownProxyRefused(c, t, failures)
	if says == nil {
		return nil
	}
	var failed *correlator.Event
	for _, e := range c.Events {
		if e.Layer == semconv.LayerIngress && c.Own(e, t) && e.At >= t.From-moment && e.At <= t.At+moment {
			return nil // it came that far
		}
	}
	c.Each(t.From-moment, t.At+moment, func(e *correlator.Event) {
		if failed == nil && ofForwardProxy(e.Text) && (closeTo(t, e) || correlator.EveryReaderHas(e)) {
			failed = e
		}
	})
	if failed == nil {
		return nil
	}
	records := append([]*correlator.Event{says, failed}, failures...)
	slices.SortStableFunc(records, correlator.CompareEvents)
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Records: records, Certain: c.AliveBetween(semconv.LayerIngress, t.From-recently, t.At+recently) != nil,
		Summary: "the caller goes by a proxy of its own, which does not get through" + quote(failed),
	}}
}

// ofForwardProxy says whether an access line is of a proxy that callers are sent by, which answered a call itself: it reached nobody, or let it not
// through (Squid's result codes and hierarchy).
func ofForwardProxy(text string) bool {
	return (strings.Contains(text, "hier_none") || strings.Contains(text, "tcp_denied") || strings.Contains(text, "err_")) && (strings.Contains(text, " connect ") || wholeAddress.MatchString(text))
}

// wholeAddress finds a request for a whole address, scheme and host with it: only a proxy that callers are sent by is asked so (RFC 9112, 3.2.2).
var wholeAddress = regexp.MustCompile(` (?:get|head|post|put|patch|delete) https?://`)
