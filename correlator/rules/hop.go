package rules

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// hop is the last resort for a request: no words that name a cause, but exactly one layer behind the client
// that complains about itself. For work that nobody finished it would blame whoever is left to complain.
func hop() []correlator.Rule {
	return []correlator.Rule{{
		ID: "hop.deepest", Looks: "a request of which exactly one layer behind the client tells a failure of its own, wrappers left out",
		NextCheck:  "that layer's own records at that time",
		SafeAction: "look before anything is restarted",
		Find:       deepest,
	}}
}

func deepest(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind != correlator.RequestTrouble {
		return nil
	}
	failing := map[string][]*correlator.Event{}
	repeats := map[string]bool{} // layers that say in words of their own that something failed further on
	parents := map[string]bool{} // spans that failed because a span below them failed
	failures := c.Failures(t)
	for _, e := range failures {
		if e.ParentID != "" {
			parents[e.TraceID+"/"+e.ParentID] = true
		}
	}
	for _, e := range failures {
		if e.HTTP.Status == 0 && e.Signal == record.Log && wrapper(e) {
			repeats[e.Layer] = true
		}
		if e.Layer == "" || wrapper(e) || e.IsEvent() || named(e) != nil || e.SpanID != "" && parents[e.TraceID+"/"+e.SpanID] {
			continue
		}
		if e.HTTP.Status >= 400 && e.HTTP.Status < 500 {
			continue // the caller's mistake, or a refusal: other rules read those
		}
		if e.HTTP.Status == 0 && e.Severity < 17 && strings.HasSuffix(e.Text, "not found") {
			continue // the same, in words
		}
		if e.HTTP.Status == 0 && unusable.Any(e.Text) && callee(c, e) == "" && e.Layer != semconv.LayerIngress {
			return nil // it tells of somebody whom it does not name
		}
		if e.Layer == semconv.LayerAPI && behindAPI(callee(c, e)) {
			return nil // it names whom it waited for
		}
		failing[e.Layer] = append(failing[e.Layer], e)
	}
	if len(failing) != 1 {
		return nil
	}
	for layer, records := range failing {
		if !c.Profile.Knows(layer) || !correlator.Onward(semconv.LayerClient, layer) || layer == semconv.LayerNodeAgent || layer == semconv.LayerNode {
			return nil // it is not on the request's way; that a client saw a failure is the trouble, not its cause
		}
		if repeats[layer] && !slices.ContainsFunc(records, func(e *correlator.Event) bool { return e.HTTP.Status == 0 && e.Signal == record.Log }) {
			return nil // that it answered with a failure is all that its records add to that
		}
		if layer == semconv.LayerAPI && (muteAPI(c, t, records) || !slices.ContainsFunc(records, func(e *correlator.Event) bool { return e.HTTP.Status != 0 || !tellsOfWait.MatchString(e.Text) })) {
			return nil
		}
		if layer == semconv.LayerWorkflow && !slices.ContainsFunc(records, func(e *correlator.Event) bool {
			return e.HTTP.Status != 0 || e.Signal == record.Span || !stated(c, e).echo
		}) {
			return nil // it tells what it asked for in vain
		}
		if layer == semconv.LayerIngress && !slices.ContainsFunc(records, func(e *correlator.Event) bool { return !handsOn(e) }) {
			return nil // a proxy's own failures are 502 to 504
		}
		if layer == semconv.LayerIngress && slices.ContainsFunc(records, func(e *correlator.Event) bool {
			return e.HTTP.Upstream != "" || flagged(e.HTTP, "UF") || strings.Contains(e.Text, " uf ")
		}) {
			return nil // it passes on what its back end did, or did not get there
		}
		return []correlator.Evidence{{
			Rule: layer + ".error", Layer: layer, Mechanism: "error", Weight: correlator.Slight, Directness: correlator.Itself,
			Records: records, Summary: "only " + layer + " tells of a failure" + quote(records[0]),
		}}
	}
	return nil
}

// tellsOfWait finds that somebody tells how long an allocation has stood in a state: that is the trouble, and nobody's failure.
var tellsOfWait = regexp.MustCompile(`\b(?:requested|reserved|provisioning|releasing|canceling|pending|queued|waiting|waits|stuck)\b.{0,24}\bfor \d+|\bafter \d+ ?(?:m|min|h)\b.{0,40}\bnot (?:begun|started|taken)\b|\bnot (?:begun|started|taken)$`)

// handsOn says whether a proxy's record is of an answer that proxies do not make themselves: 500, or a gRPC status that is none of an unreachable server's (RFC 9110,
// 15.6; gRPC's status codes: 4 deadline exceeded, 14 unavailable).
func handsOn(e *correlator.Event) bool {
	if e.HTTP.Status == http.StatusInternalServerError {
		return true
	}
	code := strings.ToLower(e.Attr(semconv.RPCGRPCStatus))
	return code != "" && code != "0" && code != "4" && code != "14" && code != "deadline_exceeded" && code != "unavailable"
}
