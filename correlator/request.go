package correlator

import (
	"net/http"
	"slices"
	"strings"

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
		key := callKey(e)
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
		state, _ := c.Lifecycle.StateAt(end.At)
		switch {
		case tellsOfRequest(end):
			requests = append(requests, t)
		case !terminal(state) || state == semconv.Active && c.failuresAround(end.At) > 1: // whoever has what he asked for complains of his own affairs
			t.From, t.Complaint = c.Events[0].At, true // it may be about anything that went before
			if at := c.Lifecycle.activeAfter(end.At); at != 0 {
				t.Cleared = at // he gave up waiting, and got it all the same
				t.At = max(t.At, at-1)
			}
			complaints = append(complaints, t)
		}
	}
	return requests, complaints
}

// failuresAround counts the allocation's own records that tell of a failure around a time.
func (c *Case) failuresAround(at int64) int { return len(c.ownFailures().around(at-lookback, at+skew)) }

// tellsOfRequest says whether a record is about one request, not just about how things stand.
func tellsOfRequest(e *Event) bool {
	return e.HTTP.Method != "" || e.HTTP.Status != 0 || e.SpanKind == "client" || e.GRPCFailed()
}

// isUserCall says whether a record tells of a request made by a client, by the one who made it. The
// lines of proxies and services on its way are evidence, not trouble of their own.
func isUserCall(e *Event) bool {
	return e.Layer == semconv.LayerClient && !e.IsEvent() && (tellsOfRequest(e) || e.Failed())
}

func callKey(e *Event) string {
	if e.HTTP.Method != "" || e.HTTP.Path != "" {
		return join(e.HTTP.Method, e.HTTP.Path)
	}
	return firstOf(e.Name, "of "+e.Service)
}

func callFailed(e *Event) bool {
	return e.HTTP.Status >= 400 || e.HTTP.Status == 0 && (e.Status == "error" || e.GRPCFailed() || e.Severity >= severityError)
}

// expected says whether a client's failure is what its own doing looks like: it hung up, it asked for an
// end, or it asks for what is gone by its own wish.
func (c *Case) expected(e *Event) bool {
	if hungUp(e) || c.hangups()[e.TraceID] {
		return true
	}
	if c.misrouted(e) {
		return false
	}
	if c.canceledBefore(e.At) && afterCancel(e) {
		return true
	}
	state, since := c.Lifecycle.StateAt(e.At)
	gone := (state == semconv.Released || state == semconv.Canceled || state == semconv.Releasing) && e.At >= since
	if state == semconv.Released && e.HTTP.Status == 409 && e.At >= since {
		return true // he asks again for what was done
	}
	return gone && (e.HTTP.Status == 404 || e.HTTP.Status == 410 || e.HTTP.Status == 0 && strings.Contains(e.Text, "not found"))
}

// hungUp says whether a record tells that the caller itself ended the request.
func hungUp(e *Event) bool {
	if e.HTTP.Status == 499 {
		return true
	}
	return slices.ContainsFunc([]string{"keyboardinterrupt", "sigint", "interrupted by user", "signal: interrupt"}, func(words string) bool {
		return strings.Contains(e.Text, words)
	})
}

// hangups holds the traces in which the caller hung up, as anyone on the way saw it.
func (c *Case) hangups() map[string]bool {
	if c.hung != nil {
		return c.hung
	}
	out := map[string]bool{}
	c.hung = out
	for _, e := range c.Events {
		if e.TraceID != "" && hungUp(e) {
			out[e.TraceID] = true
		}
	}
	return out
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
