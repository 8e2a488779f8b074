package rules

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// idleConnections finds connections that a proxy keeps longer, or less long, than who is at their other end.
func idleConnections() []correlator.Rule {
	return []correlator.Rule{{
		ID: "ingress.keepalive", Layer: semconv.LayerIngress, Mechanism: "keepalive",
		Looks:      "a proxy that sends a request over a connection that the called closes at that moment as idle, and passes on that as the called's failure",
		NextCheck:  "how long the proxy keeps idle connections, beside how long the called does",
		SafeAction: "have the proxy keep them shorter than the called does; the called needs nothing",
		Find:       reusedWhenClosed,
	}, {
		ID: "ingress.idle_timeout", Layer: semconv.LayerIngress, Mechanism: "idle_timeout",
		Looks:      "a proxy of plain connections that ends those on which nothing comes for a time, and an agent whose connection broke",
		NextCheck:  "the proxy's time-out of idle connections, beside how often its user sends anything",
		SafeAction: "raise the time-out above that; the agent and who it talks to need nothing",
		Find:       endedWhenIdle,
	}}
}

// brokeSending are nginx's words for a connection that was closed while it was idle: who ends, or is ended, resets it.
const brokeSending = "broken pipe) while sending request to upstream"

// idleWords are what proxies tell of connections that broke as they sent a request, and what an API tells of idle connections that it closes.
type idleWords struct{ broken, closed []*correlator.Event }

func idleWordsOf(c *correlator.Case) idleWords {
	type key struct{}
	return c.Memo(key{}, func() any {
		var told idleWords
		c.EachIn(semconv.LayerIngress, math.MinInt64, math.MaxInt64, func(e *correlator.Event) {
			if on(e, themeSending) && e.Failed() {
				told.broken = append(told.broken, e)
			}
		})
		c.EachIn(semconv.LayerAPI, math.MinInt64, math.MaxInt64, func(e *correlator.Event) {
			if on(e, themeIdle) && !e.IsEvent() && strings.Contains(e.Text, "clos") {
				told.closed = append(told.closed, e)
			}
		})
		return told
	}).(idleWords)
}

// reusedWhenClosed needs both words, within a second of each other: the called's, that it closes an idle connection, and the proxy's, that the request had no answer.
func reusedWhenClosed(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	const apart = moment / 5
	told := idleWordsOf(c)
	if len(told.broken)+len(told.closed) == 0 {
		return nil
	}
	near := func(a, b *correlator.Event) bool { return max(a.At, b.At)-min(a.At, b.At) <= apart }
	ev := correlator.Evidence{Weight: correlator.Specific, Directness: correlator.Itself}
	var broken []*correlator.Event
	for _, e := range c.Failures(t) {
		for _, sent := range told.broken {
			if near(sent, e) {
				broken = append(broken, sent)
			}
		}
		if e.Layer != semconv.LayerIngress || e.HTTP.Status != 502 && !flagged(e.HTTP, "UC") {
			continue
		}
		for _, closed := range told.closed {
			if near(closed, e) && (closeTo(t, closed) || correlator.EveryReaderHas(closed)) {
				ev.Records = append(ev.Records, closed, e)
			}
		}
	}
	if len(ev.Records) == 0 && len(broken) > 0 && c.AliveBetween(semconv.LayerAPI, t.From, t.At+recently) != nil {
		slices.SortStableFunc(broken, correlator.CompareEvents)
		ev.Weight, ev.Records = correlator.Telling, slices.Compact(broken)
	}
	if len(ev.Records) == 0 {
		return nil
	}
	ev.Onset = ev.Records[0].At
	ev.Summary = "the proxy sent the request over a connection that the called had closed as idle" + quote(ev.Records[0])
	return []correlator.Evidence{ev}
}

// endedWhenIdle needs the proxy's own word (nginx's stream module, ngx_stream_proxy_module: proxy_timeout), and an agent that tells of a broken connection.
func endedWhenIdle(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind == correlator.RequestTrouble {
		return sessionsEnded(c, t)
	}
	var records []*correlator.Event
	c.EachIn(semconv.LayerIngress, t.From, t.At, func(e *correlator.Event) {
		if !e.IsEvent() && (strings.Contains(e.Text, "while proxying connection") || strings.Contains(e.Text, "while proxying upgraded connection")) && strings.Contains(e.Text, "timed out") && (closeTo(t, e) || correlator.EveryReaderHas(e)) {
			records = append(records, e)
		}
	})
	if len(records) == 0 {
		return nil
	}
	broke := false
	c.EachIn(semconv.LayerNodeAgent, t.From, t.At, func(e *correlator.Event) {
		if e.Failed() && !e.IsEvent() && correlator.EveryReaderHas(e) && holds(e.Text, brokenChannel) {
			records, broke = append(records, e), true
		}
	})
	if !broke {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Specific, Directness: correlator.Itself, Onset: records[0].At, Records: records,
		Summary: "the proxy ended the agent's connection, on which nothing came for a time" + quote(records[0]),
	}}
}

// brokenChannel are the words of an agent whose connection broke.
var brokenChannel = []string{"connection reset", "connection error", "connection closed", "connection lost", "broken pipe", "unexpected eof", "channel closed"}

// sessionsEnded finds a proxy that ends a user's sessions, one after the other, since the user's side sent nothing for a time: by the proxy's own mark (HAProxy's cD, Envoy's SI), after
// the same time each.
func sessionsEnded(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	const sessions, alike = 3, int64(time.Second)
	var records []*correlator.Event
	for _, e := range c.Events {
		if e.Layer != semconv.LayerIngress || e.At < t.From-recently || e.At > t.At+moment || !flagged(e.HTTP, "SI") || e.HTTP.Took == 0 {
			continue
		}
		if len(records) > 0 && max(int64(e.HTTP.Took), int64(records[0].HTTP.Took))-min(int64(e.HTTP.Took), int64(records[0].HTTP.Took)) > alike {
			return nil
		}
		records = append(records, e)
	}
	if len(records) < sessions {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: records[0].At, Records: records[:min(len(records), ownWords)],
		Summary: "the proxy ends each session on which nothing came for " + records[0].HTTP.Took.Round(time.Second).String() + quote(records[0]),
	}}
}
