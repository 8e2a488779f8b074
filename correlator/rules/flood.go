package rules

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// How a limiter tells whom it counts and by how much he is above it: Envoy's descriptors with a count of a limit or their counters (over_limit, total_hits), and nginx's zones, by
// their names (https://nginx.org/en/docs/http/ngx_http_limit_req_module.html).
var (
	overLimit = regexp.MustCompile(`\b(?:tenant|client|consumer|user|token|api_?key|account|project|org|remote_address|subject)["]?[=:]\s*["]?[\w.@-]+.{0,40}?\b(\d+)/(\d+)\b`)
	overBy    = regexp.MustCompile(`\b(?:tenant|client|consumer|user|token|api_?key|account|project|org|remote_address|subject)["]?[=:,]\s*["]?[\w.@-]+.{0,40}?\bover_limit=(\d+)\S* total_hits=(\d+)`)
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
	if len(counted) < 2 || served == nil {
		return ev
	}
	c.Borrow(served)
	ev.Rule, ev.Layer, ev.Mechanism, ev.Weight, ev.Directness, ev.Certain = "client.request_rate", semconv.LayerClient, "limit", correlator.Telling, correlator.Caller, true
	ev.Records = append(append(ev.Records, counted[:min(len(counted), ownWords)]...), served)
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	ev.Records = slices.Compact(ev.Records)
	ev.Summary = "one caller asks far more often than he may, and others are served" + quote(counted[0])
	ev.NextCheck, ev.SafeAction = "which of the caller's programs asks, and how often", "have it ask less often; neither the limit nor what is behind it needs anything"
	return ev
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
	return perCaller.MatchString(e.Text)
}
