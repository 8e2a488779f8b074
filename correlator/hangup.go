package correlator

import (
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/semconv"
)

// hungUp says whether a record tells that the caller itself ended the request.
func hungUp(e *Event) bool {
	if e.HTTP.Status == 499 {
		return true
	}
	return slices.ContainsFunc([]string{"keyboardinterrupt", "sigint", "interrupted by user", "signal: interrupt", "interrupt received", "two interrupts received", "cancelled by user", "canceled by user", "aborted by user", "^c"}, func(words string) bool {
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
		if !hungUp(e) {
			continue
		}
		for _, id := range []string{e.TraceID, e.Own(identity.Request)} {
			if id != "" {
				out[id] = true
			}
		}
	}
	if len(out) == 0 {
		return out
	}
	for _, e := range c.Events { // a proxy cannot tell a connection that broke from one that was closed; the caller can
		if e.HTTP.Status == 0 && e.Failed() && strings.Contains(e.Text, "connection reset by peer") && Onward(e.Layer, semconv.LayerIngress) {
			delete(out, e.TraceID)
			delete(out, e.Own(identity.Request))
		}
	}
	return out
}

// interrupted says whether a client tells that a call of his was given up, moments after he had told that he was interrupted by his user.
func (c *Case) interrupted(e *Event) bool {
	return e.Layer == semconv.LayerClient && e.HTTP.Status == 0 && givesUp.Any(e.Text) && slices.ContainsFunc(c.Events, func(before *Event) bool {
		return before.Layer == semconv.LayerClient && before.Service == e.Service && before.At <= e.At && before.At >= e.At-int64(time.Minute) && before.HTTP.Status == 0 && hungUp(before)
	})
}

// givesUp are the words of a client for a call that it gave up itself.
var givesUp = needles.Of("context canceled", "context cancelled", "operation canceled", "operation was canceled", "cancellederror", "canceled by", "interrupted", "aborted")

// outOfTime are the words of a client whose own patience was over: nobody wished that end.
var outOfTime = needles.Of("readtimeout", "read timed out", "timed out", "deadline exceeded", "timeoutexception", "timeouterror", "etimedout", "client.timeout")
