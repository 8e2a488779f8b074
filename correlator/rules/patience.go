package rules

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// patient finds who gave up what would have come to its end.
func patient() []correlator.Rule {
	return []correlator.Rule{{
		ID: "client.patience", Layer: semconv.LayerClient, Mechanism: "patience",
		Looks:      "a caller that hangs up, again and again, sooner than anybody's such call is answered, and others that wait and are",
		NextCheck:  "the caller's own time-out, beside what such calls take",
		SafeAction: "raise the caller's time-out; the platform needs nothing",
		Find:       hangsUpFirst,
	}, {
		ID: "workflow.cuts_off", Layer: semconv.LayerWorkflow, Mechanism: "patience",
		Looks:      "a job that the platform itself called off while it was heard to progress, and that no user asked to end",
		NextCheck:  "the time-out or health check by which the platform gave up, beside what such jobs take",
		SafeAction: "raise the time-out; the provider and the machine need nothing",
		Find:       cutsOff,
	}}
}

// hangsUpFirst compares how long a caller waited with how long the same call took for others: at least two of each.
func hangsUpFirst(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind != correlator.RequestTrouble {
		return nil
	}
	ev := correlator.Evidence{Weight: correlator.Telling, Directness: correlator.Caller}
	longest, path := time.Duration(0), ""
	for _, e := range slices.Concat(c.Failures(t), c.Quiet(t)) {
		if left := e.HTTP.Status == 499 || flagged(e.HTTP, "DC"); left && e.HTTP.Path != "" {
			if took := tookOf(e); took > 0 {
				longest, path = max(longest, took), e.HTTP.Path
				ev.Records = append(ev.Records, e)
			}
		}
	}
	if len(ev.Records) < 2 {
		return nil
	}
	method, tail := ev.Records[0].HTTP.Method, lastPart(path)
	var others []*correlator.Event
	sooner := false
	c.Each(t.From-recently, t.At+recently, func(e *correlator.Event) {
		if e.Allocation == c.ID || e.HTTP.Status < 200 || e.HTTP.Status >= 300 || e.HTTP.Method != method || e.HTTP.Path == path || lastPart(e.HTTP.Path) != tail {
			return
		}
		switch took := tookOf(e); {
		case took > longest:
			others = append(others, e)
		case took > 0:
			sooner = true
		}
	})
	if len(others) < 2 || sooner {
		return nil
	}
	ev.Summary = "the caller waits " + longest.Round(time.Millisecond).String() + " at most, and such calls take others " + tookOf(others[0]).Round(time.Millisecond).String() + quote(ev.Records[0])
	ev.Records = append(ev.Records, others...)
	for _, e := range c.Failures(t) {
		if e.Layer == semconv.LayerClient && holds(e.Text, tooLate) {
			ev.Records, ev.Certain = append(ev.Records, e), true
		}
	}
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	return []correlator.Evidence{ev}
}

// lastPart is what a path asks for: its last segment that is no identifier, as far as can be told.
func lastPart(path string) string {
	path = strings.TrimSuffix(path, "/")
	last := path[strings.LastIndexByte(path, '/')+1:]
	if strings.ContainsAny(last, "0123456789") {
		return "{id}"
	}
	return last
}

// tookWords find how long a request took in an access line: nginx's request_time, and what says its unit.
var tookWords = regexp.MustCompile(`\brt=(\d+\.\d+)|\brequest_time[=: "]+(\d+\.\d+)|\b(\d+(?:\.\d+)?) ?ms\b`)

// tookOf is how long a request took, by the record that tells of it; 0 where that says nothing of it.
func tookOf(e *correlator.Event) time.Duration {
	if e.Signal == record.Span {
		return time.Duration(e.EndAt() - e.At)
	}
	if e.HTTP.Took > 0 {
		return e.HTTP.Took
	}
	m := tookWords.FindStringSubmatch(e.Text)
	if m == nil {
		return 0
	}
	if seconds, err := strconv.ParseFloat(m[1]+m[2], 64); err == nil {
		return time.Duration(seconds * float64(time.Second))
	}
	ms, _ := strconv.ParseFloat(m[3], 64)
	return time.Duration(ms * float64(time.Millisecond))
}

// cutting are the words of a platform that ends what it began.
var cutting = []string{"remediation", "remediate", "failed health check", "startup timeout", "startuptimeout", "timed out", "timeout", "deadline", "abort", "giving up", "gave up", "cancel", "terminat", "deleting"}

// cutsOff needs a job that ended as canceled, nobody's wish for that, a sign of its progress shortly before, and the platform's own word in
// the moments before its end.
func cutsOff(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Lifecycle.Cancel != nil {
		return nil
	}
	ev := correlator.Evidence{Weight: correlator.Telling, Directness: correlator.Itself}
	n := 0
	for _, j := range c.Lifecycle.Jobs {
		last := j.Last()
		if !strings.EqualFold(last.To, "canceled") && !strings.EqualFold(last.To, "cancelled") || last.At > t.At+moment {
			continue
		}
		var progress, told *correlator.Event
		for _, e := range c.Events {
			if e.At > last.At || e.IsEvent() {
				continue
			}
			switch {
			case e.Party() == semconv.LayerProvider && e.Own(identity.ProviderJob) == j.ID && !e.Failed() && e.At > last.At-int64(5*time.Minute) && !holds(e.Text, cutting):
				progress = e
			case e.Party() == semconv.LayerWorkflow && e.At > last.At-int64(30*time.Second) && holds(e.Text, cutting):
				if told == nil || told.At < last.At-int64(30*time.Second) {
					told = e
				}
			}
		}
		if progress != nil && told != nil {
			n++
			ev.Records = append(ev.Records, progress, told, last.Event)
			if n == 1 {
				ev.Onset = told.At
				ev.Summary = "the platform called job " + j.ID + " off while it was at work" + quote(told)
			}
		}
	}
	if n == 0 {
		return nil
	}
	ev.Certain = n > 1
	return []correlator.Evidence{ev}
}
