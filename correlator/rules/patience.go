package rules

import (
	"cmp"
	"math"
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

// often is how many records of a caller who hung up make one answer of another's enough, if that took twice as long.
const often = 4

// hangsUpFirst compares how long a caller waited with how long the same call took for others: at least two of each. That he left is told by a
// proxy (499, ALB's 460, Envoy's DC), or by himself.
func hangsUpFirst(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind != correlator.RequestTrouble {
		return nil
	}
	ev := correlator.Evidence{Weight: correlator.Telling, Directness: correlator.Caller}
	longest, asked := time.Duration(0), ""
	for _, e := range slices.Concat(c.Events, byPath(c, t)) {
		if e.At < t.From-moment || e.At > t.At+moment || e.IsEvent() || e.Node != "" {
			continue
		}
		switch of := operation(e); {
		case e.HTTP.Status >= 500 && e.SpanKind != "client":
			return nil // it was answered
		case leftBy(e) || e.HTTP.Status == hungUpOnBalancer, e.SpanKind == "client" && e.HTTP.Status == 0 && e.Layer == semconv.LayerClient && holds(e.Text+" "+strings.ToLower(e.Attr(semconv.ErrorType)), tooLate):
			if of != "" {
				asked = of
			}
			if e.SpanKind != "server" {
				longest = max(longest, tookOf(e))
				ev.Records = append(ev.Records, e)
			}
			ev.Certain = ev.Certain || e.SpanKind == "client"
		case e.Layer == semconv.LayerClient && e.Failed() && holds(e.Text, tooLate):
			ev.Records, ev.Certain = append(ev.Records, e), true
		case e.Layer == semconv.LayerAPI && e.Failed():
			if m := leftAfter.FindStringSubmatch(e.Text); m != nil { // by the word of who was left
				after, _ := time.ParseDuration(m[1])
				longest = max(longest, after)
				ev.Records = append(ev.Records, e)
			}
		}
	}
	if len(ev.Records) < 2 || longest == 0 || asked == "" {
		return nil
	}
	var others []*correlator.Event
	sooner := false
	compare := func(e *correlator.Event) {
		if e.Allocation == c.ID && e.At <= t.At || e.HTTP.Status < 200 || e.HTTP.Status >= 300 || operation(e) != asked {
			return
		}
		switch took := tookOf(e); {
		case took > longest:
			others = append(others, e)
		case took > 0:
			sooner = true
		}
	}
	c.Each(t.From-int64(time.Hour), t.At+int64(time.Hour), compare)
	c.EachOther(t.From-int64(time.Hour), t.At+int64(time.Hour), compare)
	away := func(e *correlator.Event) int64 { // of the closest every reader has some, by who answered and not by who passed it on
		if e.Layer == semconv.LayerIngress {
			return math.MaxInt64
		}
		return max(e.At-t.From, t.From-e.At)
	}
	slices.SortStableFunc(others, func(a, b *correlator.Event) int { return cmp.Compare(away(a), away(b)) })
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	ev.Onset = ev.Records[0].At
	ev.Summary = "the caller waits " + longest.Round(time.Millisecond).String() + " at most"
	figures, usual := usuallyTakes(c, t, asked)
	told, usually := usesShorterLimit(c, t)
	switch {
	case sooner:
		return nil
	case len(others) > 1 || len(others) == 1 && closeTo(t, others[0]) && len(ev.Records) >= often && tookOf(others[0]) > 2*longest:
		ev.Summary += ", and such calls take others " + tookOf(others[0]).Round(time.Millisecond).String()
		ev.Certain = ev.Certain && len(others) > 1
		others = others[:min(len(others), 2)]
		ev.Records = append(ev.Records, others...)
		c.Borrow(others...)
	case usual > longest:
		ev.Summary += ", and half of such calls take longer than " + usual.String()
		ev.Records = append(ev.Records, figures)
	case told != nil && usually > longest:
		ev.Summary += ", where " + usually.String() + " is usual"
		ev.Records, ev.Certain = append(ev.Records, told), false
	default:
		return nil
	}
	ev.Summary += quote(witness(ev.Records))
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	return []correlator.Evidence{ev}
}

// leftAfter finds that a caller went away, and after how long.
var leftAfter = regexp.MustCompile(`\b(?:caller|client|requester) (?:went away|has gone|disconnected|hung up|gone|left|aborted)\b.{0,24}?\bafter (\d+(?:\.\d+)?(?:ms|s|m))\b`)

// medianWords find what half of an operation's calls take, in a service's own figures; limitWords a time-out that a caller was given, beside the usual one.
var (
	medianWords = regexp.MustCompile(`\bp50[=: ]+(\d+(?:\.\d+)?(?:ms|s|m))\b`)
	limitWords  = regexp.MustCompile(`timeout\D{0,24}(\d+(?:\.\d+)?(?:ms|s|m))\b.*\bdefault\D{0,4}(\d+(?:\.\d+)?(?:ms|s|m))\b`)
)

// ownLimit finds the time-out that a caller tells it works with.
var ownLimit = regexp.MustCompile(`\btimeout[=: ]+(\d+(?:\.\d+)?(?:ms|s|m))\b`)

// usuallyTakes is what half of the calls of an operation take, by the word of who serves them.
func usuallyTakes(c *correlator.Case, t *correlator.Trouble, operation string) (says *correlator.Event, median time.Duration) {
	method, part, _ := strings.Cut(strings.ToLower(operation), " ")
	c.Each(t.From-int64(time.Hour), t.At+int64(time.Hour), func(e *correlator.Event) {
		if e.IsEvent() || e.Failed() || e.Layer != semconv.LayerAPI && e.Layer != semconv.LayerIngress || !strings.Contains(e.Text, "p50") {
			return
		}
		if m := medianWords.FindStringSubmatch(e.Text); m != nil && (strings.Contains(e.Text, part) || part == "{id}" && strings.Contains(e.Text, method)) {
			says = e
			median, _ = time.ParseDuration(m[1])
		}
	})
	return says, median
}

// usesShorterLimit is the caller's own word that it was given a shorter time-out than the usual one.
func usesShorterLimit(c *correlator.Case, t *correlator.Trouble) (says *correlator.Event, usual time.Duration) {
	before := map[string]time.Duration{} // by service, what it said of its limit
	for _, e := range c.Events {
		if e.Layer != semconv.LayerClient || e.At > t.At || e.Failed() || !strings.Contains(e.Text, "timeout") {
			continue
		}
		if m := limitWords.FindStringSubmatch(e.Text); m != nil {
			given, _ := time.ParseDuration(m[1])
			if usually, _ := time.ParseDuration(m[2]); given < usually {
				says, usual = e, usually
			}
			continue
		}
		if m := ownLimit.FindStringSubmatch(e.Text); m != nil {
			given, _ := time.ParseDuration(m[1])
			if once := before[e.Service]; once > given {
				says, usual = e, once
			}
			before[e.Service] = given
		}
	}
	return says, usual
}

// hungUpOnBalancer is how an AWS load balancer tells that the client closed the connection before it was answered.
const hungUpOnBalancer = 460

// operation is what a record's request asks for, whoever's: its method and the last part of its path, by the request or by the span's name.
func operation(e *correlator.Event) string {
	method, path := e.HTTP.Method, e.HTTP.Path
	if path == "" {
		named, rest, ok := strings.Cut(e.Name, " ")
		if !ok || !strings.HasPrefix(rest, "/") {
			return ""
		}
		method, path = named, rest
	}
	if path, _, _ = strings.Cut(path, "?"); strings.HasSuffix(path, "}") {
		path = path[:strings.LastIndexByte(path, '/')+1] + "{id}"
	}
	return strings.ToUpper(method) + " " + lastPart(path)
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
var tookWords = regexp.MustCompile(`\b(?:rt|upstream_response_time)[= ](\d+\.\d+)|\brequest_time[=: "]+(\d+\.\d+)|\b(\d+(?:\.\d+)?) ?ms\b|\b(\d+(?:\.\d+)?) ?s\b`)

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
	if seconds, err := strconv.ParseFloat(m[1]+m[2]+m[4], 64); err == nil {
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
		asked := strings.EqualFold(last.To, "canceled") || strings.EqualFold(last.To, "cancelled") || strings.EqualFold(last.To, "failed") && endedByRequest(c, last.At)
		if !asked || last.At > t.At+moment {
			continue
		}
		var progress, told *correlator.Event
		atOnce := last.At-j.Changes[0].At < int64(30*time.Second) // no job of a provider's ends so soon: it had no time to progress
		for _, e := range c.Events {
			if e.At > last.At || e.IsEvent() {
				continue
			}
			switch {
			case e.Party() == semconv.LayerProvider && (e.Own(identity.ProviderJob) == j.ID || e.Own(identity.ProviderJob) == "" && e.At > j.Changes[0].At && slices.Contains(c.Lifecycle.Nodes, e.Node)) && !e.Failed() && e.At > last.At-int64(5*time.Minute) && !holds(e.Text, cutting):
				progress = e
			case e.Party() == semconv.LayerWorkflow && e.At > last.At-int64(30*time.Second) && (holds(e.Text, cutting) || atOnce && e.Failed() && hinted(e) == nil && callee(c, e) == ""):
				if told == nil || told.At < last.At-int64(30*time.Second) {
					told = e
				}
			}
		}
		if told != nil && (progress != nil || atOnce && told.Failed()) {
			n++
			if progress != nil {
				ev.Records = append(ev.Records, progress)
			}
			ev.Records = append(ev.Records, told, last.Event)
			if n == 1 {
				ev.Onset = told.At
				ev.Summary = "the platform called job " + j.ID + " off while it was at work" + quote(told)
			}
		}
	}
	if n == 0 {
		return append(cutsTasksOff(c, t), cutsActivitiesOff(c, t)...)
	}
	ev.Certain = n > 1
	return []correlator.Evidence{ev}
}

// percentDone finds how much of something is done: "image write 58% (53.5 GiB of 92 GiB)".
var percentDone = regexp.MustCompile(`\b\d{1,2}(?:\.\d+)?%`)

// cutsTasksOff is cutsOff for tasks: the platform canceled them for their time, more than once, while whoever was at work told of progress, and nothing
// of it failed.
func cutsTasksOff(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	ev := correlator.Evidence{Weight: correlator.Telling, Directness: correlator.Itself, Certain: true}
	cut := map[string]*correlator.Event{}
	for _, a := range c.Lifecycle.Tasks {
		if a.Over != nil && a.Over.At >= t.From && a.Over.At <= t.At+moment && a.Over.To() == semconv.Canceled && holds(strings.ToLower(a.Over.Attr(semconv.Reason)), tooLate) {
			cut[a.Task] = a.Over
		}
	}
	if len(cut) < 2 {
		return nil
	}
	progress := map[string]*correlator.Event{}
	for _, e := range c.Events {
		over := cut[e.Own(identity.Task)]
		if over == nil || e.IsEvent() || e.Layer != semconv.LayerNodeAgent || e.At > over.At {
			continue
		}
		if e.Failed() {
			return nil
		}
		if (underWay.Any(e.Text) || strings.Contains(e.Text, "progress ") || percentDone.MatchString(e.Text)) && e.At > over.At-recently {
			progress[e.Own(identity.Task)] = e
		}
	}
	if len(progress) < 2 {
		return nil
	}
	for task, e := range progress {
		ev.Records = append(ev.Records, e, cut[task])
	}
	slices.SortStableFunc(ev.Records, correlator.CompareEvents)
	ev.Onset = ev.Records[0].At
	ev.Summary = "the platform called tasks off for their time, again and again, while they were at work" + quote(ev.Records[0])
	return []correlator.Evidence{ev}
}

// endedByRequest says whether a provider tells, right before a time, that what it did was ended by request (Ironic).
func endedByRequest(c *correlator.Case, at int64) bool {
	return slices.ContainsFunc(c.Events, func(e *correlator.Event) bool {
		return e.At <= at+moment && e.At >= at-int64(30*time.Second) && !e.IsEvent() && e.Party() == semconv.LayerProvider && strings.Contains(e.Text, "by request") && strings.Contains(e.Text, "abort")
	})
}
