package correlator

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// requestTroubles finds the user's requests that failed and were not made good by a later one. What a
// client merely says, without telling of a request, is a complaint: a trouble only where nothing deeper
// explains it.
func requestTroubles(c *Case) (requests, complaints []*Trouble) {
	type call struct {
		first, last *Event
		failed      []*Event
	}
	calls := map[string]*call{}
	var keys []string
	for _, e := range c.Events {
		if !isUserCall(e) {
			continue
		}
		key := c.keyOf(e)
		k := calls[key]
		if k == nil {
			k = &call{first: e}
			calls[key] = k
			keys = append(keys, key)
		}
		k.last = e
		if callFailed(e) && !c.expected(e) {
			k.failed = append(k.failed, e)
		}
	}
	for _, key := range keys {
		k := calls[key]
		if len(k.failed) == 0 {
			continue
		}
		end, cleared := k.failed[len(k.failed)-1], int64(0)
		if e := c.answeredAfter(end); e != nil && e.EndAt()-k.failed[0].At <= int64(c.Profile.Budgets().Request) {
			continue // so did the retry of which who answered tells
		}
		if !callFailed(k.last) && k.last.At > end.At {
			if k.last.At-k.failed[0].At <= int64(c.Profile.Budgets().Request) {
				continue // the retry succeeded in time
			}
			cleared = k.last.EndAt()
		}
		t := &Trouble{
			Kind: RequestTrouble, From: k.failed[0].At, At: end.EndAt(), Call: key, What: "the request " + key + " failed",
			Cites: distinct(k.failed[0], end), Cleared: cleared,
		}
		if cleared != 0 {
			t.At = max(t.At, cleared-1) // it lasted until it worked again
		}
		state, _ := c.Lifecycle.stateAt(end.At)
		switch {
		case tellsOfRequest(end):
			c.widen(t, k.failed)
			if late := end.Observed - end.EndAt(); late > misdated && late <= misdatedAtMost {
				t.At = max(t.At, end.Observed)
			}
			requests = append(requests, t)
		case !terminal(state) || state == semconv.Active && (c.failuresAround(end.At) > 1 || answered.MatchString(end.Text) || waitedInVain.MatchString(end.Text) || end.At-k.failed[0].At >= persistsFor && !repeated(k.failed) || c.severalComplain(end)): // whoever has what he asked for complains of his own affairs
			t.From, t.Complaint = c.Events[0].At, true // it may be about anything that went before
			if late := end.Observed - end.At; late > misdated && late <= misdatedAtMost {
				t.At = end.Observed // his clock is behind: those who answered him tell of another hour
			}
			if at := c.Lifecycle.activeAfter(end.At); at != 0 {
				t.Cleared = at // he gave up waiting, and got it all the same
				t.At = max(t.At, at-1)
			}
			complaints = append(complaints, t)
		}
	}
	return requests, complaints
}

// misdated is by how much a client's record must be older than its being seen until that is no delay but a clock; misdatedAtMost is how long
// records are kept back by who could not deliver them.
const misdated, misdatedAtMost = int64(5 * time.Minute), int64(2 * time.Hour)

// severalComplain says whether another program of a client's complained some minutes before this one did: it is no affair of the program's own.
func (c *Case) severalComplain(complaint *Event) bool {
	return slices.ContainsFunc(c.Events, func(e *Event) bool {
		return isUserCall(e) && !tellsOfRequest(e) && callFailed(e) && e.Service != complaint.Service && complaint.At-e.At >= int64(5*time.Minute)
	})
}

// repeated says whether somebody says the same often enough to be heard for that (see persistentTroubles).
func repeated(failed []*Event) bool {
	times := map[string]int{}
	for _, e := range failed {
		if times[pattern(e.Text)]++; times[pattern(e.Text)] >= persistsTimes {
			return true
		}
	}
	return false
}

// widen has a request's trouble reach over all that its calls' traces hold: a caller whose clock is wrong tells of another hour than
// those who answered it.
func (c *Case) widen(t *Trouble, calls []*Event) {
	traces := map[string]bool{}
	for _, e := range calls {
		traces[e.TraceID] = e.TraceID != ""
	}
	for _, e := range c.Events {
		if traces[e.TraceID] && (e.At < t.From-lookback || e.At > t.At+lookback) {
			t.From, t.At = min(t.From, e.At), max(t.At, e.EndAt())
		}
	}
}

// failuresAround counts the allocation's own records that tell of a failure around a time.
func (c *Case) failuresAround(at int64) int { return len(c.ownFailures().around(at-lookback, at+skew)) }

// tellsOfRequest says whether a record is about one request, not just about how things stand.
func tellsOfRequest(e *Event) bool {
	return e.HTTP.Method != "" || e.HTTP.Status != 0 || e.SpanKind == "client" || e.GRPCFailed()
}

// answered finds the status of a server's failure as clients word it: it is no affair of the client's own.
var answered = regexp.MustCompile(`\b50[0234][ :]+(?:internal server error|bad gateway|service unavailable|gateway time-?out)|\b(?:status|code|error|http)[ :=]+50[0234]\b`)

// waitedInVain finds that a client tells for how many minutes, or longer, what it asked for was not acknowledged or answered.
var waitedInVain = regexp.MustCompile(`\bnot (?:acknowledged|answered|accepted|confirmed|ready)\b.*\bafter \d+ ?(?:m|h)`)

// isUserCall says whether a record tells of a request made by a client, by the one who made it. The
// lines of proxies and services on its way are evidence, not trouble of their own.
func isUserCall(e *Event) bool {
	return e.Layer == semconv.LayerClient && !e.IsEvent() && (tellsOfRequest(e) || e.Failed())
}

// callKey is a call by its method and path; by a span's name where that begins with the method and the path is not stated.
func callKey(e *Event) string {
	if e.HTTP.Path == "" && e.HTTP.Method != "" && strings.HasPrefix(e.Name, e.HTTP.Method+" /") {
		return e.Name
	}
	if e.HTTP.Method != "" || e.HTTP.Path != "" {
		return join(e.HTTP.Method, e.HTTP.Path)
	}
	return firstOf(e.Name, "of "+e.Service)
}

// keyOf is callKey, of a line that does not say what was asked that of the same program's span of the same request.
func (c *Case) keyOf(e *Event) string {
	if e.TraceID == "" || e.HTTP.Method != "" || e.HTTP.Path != "" || e.Name != "" {
		return callKey(e)
	}
	if c.asked == nil {
		c.asked = map[string]string{}
		for _, o := range c.Events {
			if o.TraceID != "" && o.SpanKind == "client" && isUserCall(o) {
				c.asked[o.Service+" "+o.TraceID] = callKey(o)
			}
		}
	}
	return firstOf(c.asked[e.Service+" "+e.TraceID], callKey(e))
}

// callNamed is a call for people.
func (c *Case) callNamed(e *Event) string {
	if key := c.keyOf(e); key != callKey(e) {
		return key
	}
	if e.HTTP.Method == "" && e.HTTP.Path == "" && e.Name == "" {
		return "the same call of " + e.Service
	}
	return callKey(e)
}

func callFailed(e *Event) bool {
	return e.HTTP.Status >= 400 || e.HTTP.Status == 0 && (e.Status == "error" || e.GRPCFailed() || e.Severity >= severityError)
}

// expected says whether a client's failure is what its own doing looks like: it hung up, it asked for an
// end, or it asks for what is gone by its own wish.
func (c *Case) expected(e *Event) bool {
	if (hungUp(e) || c.hangups()[e.TraceID] || c.hangups()[e.Own(identity.Request)] || c.interrupted(e)) && !outOfTime.Any(e.Text) {
		return true
	}
	if c.misrouted(e) {
		return false
	}
	if c.canceledBefore(e.At) && afterCancel(e) {
		return true
	}
	state, since := c.Lifecycle.stateAt(e.At)
	gone := (state == semconv.Released || state == semconv.Canceled || state == semconv.Releasing) && e.At >= since
	if given := state == semconv.Released || state == semconv.Releasing; given && e.At >= since && (e.HTTP.Status == http.StatusConflict || e.HTTP.Status == 0 && strings.Contains(e.Text, "409 conflict")) {
		return true // he asks again for what was done, or for more of what ends as ordered
	}
	return gone && (e.HTTP.Status == 404 || e.HTTP.Status == 410 || e.HTTP.Status == 0 && strings.Contains(e.Text, "not found"))
}

// misrouted says whether a record is of a request that a proxy had no route for.
func (c *Case) misrouted(e *Event) bool { return e.TraceID != "" && c.misroutes()[e.TraceID] }

// misroutes holds the traces in which a proxy said by itself that it knows no such path: nobody was asked whether the
// thing is gone.
func (c *Case) misroutes() map[string]bool {
	if c.lost != nil {
		return c.lost
	}
	c.lost = map[string]bool{}
	for _, e := range c.Events {
		if x := e.HTTP; e.TraceID != "" && x.Status == http.StatusNotFound && x.Upstream == "" && (x.Proxied || strings.Contains(x.Flags, "NR")) {
			c.lost[e.TraceID] = true
		}
	}
	return c.lost
}

// afterCancel says whether a failure is what a cancellation looks like.
func afterCancel(e *Event) bool {
	switch e.HTTP.Status {
	case 404, 405, 409, 410, 499:
		return true
	}
	return slices.ContainsFunc([]string{"canceled", "cancelled", "499", "already terminal"}, func(words string) bool {
		return strings.Contains(e.Text, words)
	})
}

// unheardOf says whether a user's request failed again and again for long, and somebody on its way who was heard of before and after was not heard of
// meanwhile: that it passes now explains nothing of it.
func (c *Case) unheardOf(t *Trouble) bool {
	if t.Kind != RequestTrouble || t.Complaint || c.Profile.FirstFailure() {
		return false
	}
	first, last, times := int64(0), int64(0), 0
	for _, e := range c.Events {
		if isUserCall(e) && callFailed(e) && c.keyOf(e) == t.Call && e.At >= t.From && e.At < t.Cleared {
			if times++; first == 0 {
				first = e.At
			}
			last = e.EndAt()
		}
	}
	if times < persistsTimes || last-first < int64(c.Profile.Budgets().Request) || last-first < unheardFor {
		return false
	}
	return slices.ContainsFunc([]string{semconv.LayerIngress, semconv.LayerAPI}, func(layer string) bool {
		heard := func(from, to int64) bool { return c.AliveBetween(layer, from, to) != nil }
		return heard(first-int64(time.Hour), first-1) && heard(t.Cleared-lookback, t.Cleared+int64(time.Hour)) && !heard(first, last)
	})
}

// unheardFor is for how long a request must fail, nobody on its way being heard of, until that is more than a telemetry that pauses.
const unheardFor = int64(10 * time.Minute)

// servedAfter is the same call, answered well by the same service after a failure, nil where it was not.
func (c *Case) servedAfter(failed *Event) *Event {
	key := c.keyOf(failed)
	for _, e := range c.Events {
		if e.At > failed.At && e.Service == failed.Service && e.HTTP.Status > 0 && e.HTTP.Status < 400 && c.keyOf(e) == key {
			return e
		}
	}
	return nil
}

// answeredAfter is the same call, answered well by the API after a failure that its caller tells of, nil where it was not.
func (c *Case) answeredAfter(failed *Event) *Event {
	if failed.HTTP.Method == "" || failed.HTTP.Path == "" {
		return nil
	}
	for _, e := range c.Events {
		if e.At > failed.At && e.Layer == semconv.LayerAPI && e.HTTP.Status >= 200 && e.HTTP.Status < 400 && callKey(e) == callKey(failed) {
			return e
		}
	}
	return nil
}

// someOf gives the first and the last of a list, and so many in all, evenly from between.
func someOf(events []*Event, n int) []*Event {
	if len(events) <= n {
		return events
	}
	out := make([]*Event, n)
	for i := range out {
		out[i] = events[i*(len(events)-1)/(n-1)]
	}
	return out
}
