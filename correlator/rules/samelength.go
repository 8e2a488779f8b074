package rules

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// sameLength finds proxies that end every long call after the same time.
func sameLength() []correlator.Rule {
	return []correlator.Rule{{
		ID: "ingress.ends_each", Layer: semconv.LayerIngress, Mechanism: "patience",
		Looks:      "calls of a step's that a proxy tells ended early (499, 408), each after the same whole number of seconds, and a caller who tells that it was not he who ended them",
		NextCheck:  "the proxy's time-outs for reading a request and for the whole of it",
		SafeAction: "raise that time-out; both ends of the call need nothing",
		Find:       endsEach,
	}}
}

// endedLine finds how a call ended and how long it took in a proxy's line that has no more than that.
var endedLine = regexp.MustCompile(`" (499|408) .* (\d{4,7})ms\b`)

// endedEarly lists the calls of the allocation's own that a proxy tells ended early, after ten seconds or more, with how long each took.
func endedEarly(c *correlator.Case) []endedCall {
	const least = 10 * time.Second
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []endedCall
		c.EachIn(semconv.LayerIngress, math.MinInt64, math.MaxInt64, func(e *correlator.Event) {
			status, took := e.HTTP.Status, e.HTTP.Took
			if e.IsEvent() || e.Allocation != c.ID || status != 499 && status != 408 && status != 0 {
				return
			}
			if took == 0 && (strings.Contains(e.Text, "\" 499 ") || strings.Contains(e.Text, "\" 408 ")) {
				if m := endedLine.FindStringSubmatch(e.Text); m != nil {
					status, _ = strconv.Atoi(m[1])
					took, _ = time.ParseDuration(m[2] + "ms")
				}
			}
			if (status == 499 || status == 408) && took >= least {
				out = append(out, endedCall{e, took})
			}
		})
		return out
	}).([]endedCall)
}

// endedCall is a call that a proxy tells ended early.
type endedCall struct {
	event *correlator.Event
	took  time.Duration
}

// endsEach needs two such calls, and the caller's own word of a connection that was reset.
func endsEach(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	const alike = 100 * time.Millisecond
	var ended []*correlator.Event
	after := time.Duration(0)
	for _, call := range endedEarly(c) {
		if call.event.At < t.From-recently || call.event.At > t.At+moment {
			continue
		}
		if whole := call.took.Round(time.Second); (call.took-whole).Abs() > alike || len(ended) > 0 && whole != after {
			return nil
		}
		ended, after = append(ended, call.event), call.took.Round(time.Second)
	}
	if len(ended) < 2 || !slices.ContainsFunc(c.Failures(t), func(e *correlator.Event) bool {
		return !e.IsEvent() && e.Layer != semconv.LayerIngress && e.Layer != semconv.LayerAPI && brokenOff.Any(e.Text)
	}) {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: ended[0].At, Records: ended[:min(len(ended), ownWords)],
		Summary: "the proxy ends each such call after " + after.String() + quote(ended[0]),
	}}
}
