package rules

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
)

// overslept finds whoever gave up far later than its own limit says: a process that ran would have given up in time.
func overslept() []correlator.Rule {
	return []correlator.Rule{{
		ID: "party.overslept", Mechanism: "stalled",
		Looks:      "a wait that lasted far longer than the limit at which its own words say that it ended: who waited did not run meanwhile",
		NextCheck:  "what held that process still meanwhile: a pause of its runtime, of its machine, or a stop signal",
		SafeAction: "whom it waited for needs nothing; look at the process before it is restarted",
		Find:       overslepts,
	}}
}

func overslepts(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	ev := correlator.Evidence{Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Mechanism: "stalled"}
	for _, e := range slices.Concat(c.Failures(t), c.Quiet(t)) {
		if !sleptThrough(e) {
			continue
		}
		if layer := correlator.LayerOfName(c.Profile, e.Service); layer != "" && (ev.Layer == "" || ev.Layer == layer) {
			ev.Layer = layer
			ev.Records = append(ev.Records, e)
		}
	}
	if len(ev.Records) == 0 {
		return nil
	}
	first := ev.Records[0]
	ev.Rule = ev.Layer + ".overslept"
	ev.Summary = first.Service + " gave up after " + time.Duration(first.EndAt()-first.At).Round(time.Second).String() + " what it gives up after " + limitOf(first.Text).String() + quote(first)
	return []correlator.Evidence{ev}
}

// statedLimit finds the limit that a text names for a wait: "none within 7s", "timed out after 30s".
var statedLimit = regexp.MustCompile(`(?:none within|not within|timed out after|timeout of|timeout after|gave up after) (\d+(?:\.\d+)?)(ms|s|m)\b`)

// limitOf is the limit that a text names, 0 where it names none.
func limitOf(text string) time.Duration {
	if !strings.Contains(text, "within ") && !strings.Contains(text, "time") && !strings.Contains(text, "gave up") {
		return 0
	}
	m := statedLimit.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	d, err := time.ParseDuration(m[1] + m[2])
	if err != nil {
		return 0
	}
	return d
}

// ofSleeper says whether a record, or a span of the same service and request, lasted far longer than a limit that it names.
func ofSleeper(c *correlator.Case, e *correlator.Event) bool {
	if sleptThrough(e) {
		return true
	}
	return e.Failed() && e.TraceID != "" && limitOf(e.Text) > 0 && slices.ContainsFunc(spansByTrace(c)[e.TraceID], func(s *correlator.Event) bool {
		return s.Service == e.Service && sleptThrough(s)
	})
}

// sleptThrough says whether a span lasted far longer than the limit that it names.
func sleptThrough(e *correlator.Event) bool {
	if e.Signal != record.Span {
		return false
	}
	limit := limitOf(e.Text)
	return limit > 0 && time.Duration(e.EndAt()-e.At) > 3*limit+5*time.Second
}
