package rules

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// How a limiter tells whom it counts and by how much he is above it: Envoy's descriptors with a count of a limit or their counters (over_limit, total_hits), and nginx's zones, by
// their names (https://nginx.org/en/docs/http/ngx_http_limit_req_module.html).
var (
	overLimit = regexp.MustCompile(`\b(?:tenant|client|consumer|user|token|api_?key|account|project|org|remote_address|subject)["]?[=:]\s*["]?[\w.@-]+.{0,40}?\b(\d+)/(\d+)\b`)
	overBy    = regexp.MustCompile(`\b(?:tenant|client|consumer|user|token|api_?key|account|project|org|remote_address|subject)["]?[=:,]\s*["]?[\w.@-]+.{0,40}?\bover_limit=(\d+)\S* total_hits=(\d+)`)
	overCount = regexp.MustCompile(`\b(?:tenant|client|consumer|user|token|api_?key|account|project|org|subject)["]?[=:]\s*["]?([\w.@-]+).{0,40}?\blimit=(\d+)\S* hits=(\d+)`)
	perCaller = regexp.MustCompile(`\bexcess: (\d+)\.\d+ by zone "[\w-]*(?:per_?)?(?:tenant|client|consumer|user|token|key|account|project|addr|ip)[\w-]*"`)
)

// byOneCaller hands a limit over to the one caller whom a limiter counts far above it, again and again, while others are served: he asks too often,
// and what else he asks for is refused with it.
func byOneCaller(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	var counted []*correlator.Event
	var served *correlator.Event
	c.EachIn(semconv.LayerIngress, t.From-recently, t.At+recently, func(e *correlator.Event) {
		switch {
		case e.IsEvent():
		case farAbove(e):
			counted = append(counted, e)
		case served == nil && e.HTTP.Status >= 200 && e.HTTP.Status < 300 && e.Allocation != c.ID && (closeTo(t, e) || correlator.EveryReaderHas(e)):
			served = e
		}
	})
	if served == nil {
		served = servesOthers(c, t, ev.Records[0])
	}
	switch {
	case len(counted) >= 2 && served != nil:
		c.Borrow(served)
	case len(counted) >= 2 && refusesHim(counted[0], c.Failures(t)):
		served = counted[1] // his own limit: whoever else is served, it is not by this one
	default:
		return ev
	}
	ev.Rule, ev.Layer, ev.Mechanism, ev.Weight, ev.Directness, ev.Certain = "client.request_rate", semconv.LayerClient, "limit", correlator.Telling, correlator.Caller, true
	ev.Records = append(append(ev.Records, counted[:min(len(counted), ownWords)]...), served)
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	ev.Records = slices.Compact(ev.Records)
	ev.Summary = "one caller asks far more often than he may, and others are served" + quote(counted[0])
	ev.NextCheck, ev.SafeAction = "which of the caller's programs asks, and how often", "have it ask less often; neither the limit nor what is behind it needs anything"
	return ev
}

// refusesHim says whether a limiter counts, far above what he may, the very caller whom a step's refusals name.
func refusesHim(counted *correlator.Event, refusals []*correlator.Event) bool {
	m := overCount.FindStringSubmatch(counted.Text)
	return m != nil && slices.ContainsFunc(refusals, func(e *correlator.Event) bool { return holdsWord(e.Text, m[1]) })
}

// holdsWord says whether a word stands in a text by itself.
func holdsWord(text, word string) bool {
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789.@-_", r) }), word)
}

// farAbove says whether a limiter tells that one caller asked at least twice as often as he may.
func farAbove(e *correlator.Event) bool {
	if m := overLimit.FindStringSubmatch(e.Text); m != nil {
		n, _ := strconv.Atoi(m[1])
		limit, _ := strconv.Atoi(m[2])
		return limit > 0 && n >= 2*limit
	}
	if m := overBy.FindStringSubmatch(e.Text); m != nil {
		over, _ := strconv.Atoi(m[1])
		hits, _ := strconv.Atoi(m[2])
		return over > 0 && 2*over >= hits
	}
	if m := overCount.FindStringSubmatch(e.Text); m != nil {
		limit, _ := strconv.Atoi(m[2])
		hits, _ := strconv.Atoi(m[3])
		return limit > 0 && hits >= 2*limit
	}
	return perCaller.MatchString(e.Text)
}
