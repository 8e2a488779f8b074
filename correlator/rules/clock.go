package rules

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// currentTime is how Go's crypto/x509 words an expiry, or a beginning that lies ahead, and others in its way: the checking side's own clock stands in it.
var currentTime = regexp.MustCompile(`(?:current|local|system|own|my) (?:time|clock)(?: is| says|:)? (\d{4}-\S+?) is (after|before) (?:not ?(?:after|before) )?(\d{4}-[^\s)]+)`)

// clockSlack is how far a checker's clock may be off before the clock, not the certificate, is the news.
const clockSlack = 10 * time.Minute

// clockOrExpiry tells an expired certificate from a clock that runs ahead: the checker names its own
// time, and the record says when it was really seen.
func clockOrExpiry(ev correlator.Evidence) []correlator.Evidence {
	for _, e := range ev.Records {
		m := currentTime.FindStringSubmatch(e.Text)
		if m == nil {
			continue
		}
		claimed, err := time.Parse(time.RFC3339, upper(m[1]))
		bound, err2 := time.Parse(time.RFC3339, upper(m[3]))
		if err != nil || err2 != nil {
			continue
		}
		seen := time.Unix(0, e.Observed)
		ahead := m[2] == "after" && claimed.Sub(seen) > clockSlack && bound.After(seen)
		behind := m[2] == "before" && seen.Sub(claimed) > clockSlack && bound.Before(seen)
		if ahead || behind {
			ev.Rule, ev.Layer, ev.Mechanism = "node.clock", semconv.LayerNode, "clock"
			ev.Summary = "the checker's clock is wrong: " + claimed.UTC().Format(time.RFC3339) + " at " + seen.UTC().Format(time.RFC3339) + quote(e)
			ev.NextCheck, ev.SafeAction = "the node's time synchronisation", "correct the clock, then retry"
			return []correlator.Evidence{ev}
		}
	}
	return []correlator.Evidence{ev}
}

// upper restores the letters of RFC 3339 that lower-casing took.
func upper(s string) string {
	b := []byte(s)
	for i := range b {
		if b[i] == 't' || b[i] == 'z' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

// saysOwnClock says whether a refusal tells the signer's time and the judge's (AWS: "Signature expired: T is now earlier than T").
func saysOwnClock(e *correlator.Event) bool {
	return strings.Contains(e.Text, "is now earlier than") || strings.Contains(e.Text, "is still later than")
}

// signedAt finds when a request was signed and when it came, by who refused it.
var signedAt = regexp.MustCompile(`\b(?:signed|issued|dated) (?:at )?(\d{4}-\d\d-\d\dt\S+?z)[,;]? .{0,24}?\b(?:received|arrived|checked|now|here)(?: at)? (\d{4}-\d\d-\d\dt\S+?z)`)

// issuedAt finds the same of a token, in the words of libraries that check one: "(iat: 2026-03-02 10:04:12 +0000 UTC, now with offset: 2026-03-02 10:00:06 +0000 UTC)".
var issuedAt = regexp.MustCompile(`\biat[:=] ?(\d{4}-\d\d-\d\d[t ]\d\d:\d\d:\d\d).{0,60}?\bnow[^:]{0,16}: ?(\d{4}-\d\d-\d\d[t ]\d\d:\d\d:\d\d)`)

// signedElsewhen says whether who refused a request tells two times of it, of which the later is that of his record: then it is the signer's clock that is
// wrong, or the request was long under way.
func signedElsewhen(e *correlator.Event) bool {
	if m := issuedAt.FindStringSubmatch(e.Text); m != nil {
		issued, err := time.Parse(time.DateTime, strings.Replace(m[1], "t", " ", 1))
		now, err2 := time.Parse(time.DateTime, strings.Replace(m[2], "t", " ", 1))
		return err == nil && err2 == nil && now.Sub(time.Unix(0, e.At)).Abs() <= time.Minute && issued.Sub(now).Abs() >= time.Minute
	}
	if !strings.Contains(e.Text, "signed") && !strings.Contains(e.Text, "issued") && !strings.Contains(e.Text, "dated") {
		return false
	}
	m := signedAt.FindStringSubmatch(e.Text)
	if m == nil {
		return false
	}
	signed, err := time.Parse(time.RFC3339, upper(m[1]))
	came, err2 := time.Parse(time.RFC3339, upper(m[2]))
	at := time.Unix(0, e.At)
	return err == nil && err2 == nil && came.Sub(at).Abs() <= time.Minute && signed.Sub(came).Abs() >= clockSlack/2
}

// askedByClient says whether the trouble is a request of a client's.
func askedByClient(t *correlator.Trouble) bool {
	return t.Kind == correlator.RequestTrouble && slices.ContainsFunc(t.Cites, func(e *correlator.Event) bool { return e.Layer == semconv.LayerClient })
}

// byItsClock makes what was refused for its time the node's matter where the node's own records are stamped with another time than
// they were seen at; else nobody knows which of two clocks is wrong.
func byItsClock(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	var off *correlator.Event
	c.Each(math.MinInt64, c.Now, func(e *correlator.Event) {
		mine := e.Node != "" || e.Layer == semconv.LayerClient
		if d := e.Observed - e.Time; !e.IsEvent() && c.Own(e, t) && mine && e.Observed >= t.From && (d > int64(clockSlack)/2 || d < -int64(clockSlack)/2) {
			off = e
		}
	})
	if off == nil {
		if free := unsynchronised(c, t, ev.Records); free != nil {
			ev.Weight, ev.Certain, ev.Records = correlator.Specific, false, append([]*correlator.Event{free}, ev.Records...)
			ev.Summary = "the clock of " + cmp.Or(free.Node, free.Service) + " is not synchronised, and what it signs is refused for its time" + quote(free)
			if free.Node == "" {
				ev.Rule, ev.Layer = free.Layer+".clock", free.Layer
			}
			return ev
		}
		if i := slices.IndexFunc(ev.Records, signedElsewhen); i >= 0 && askedByClient(t) {
			ev.Rule, ev.Layer, ev.Weight, ev.Certain = "client.clock", semconv.LayerClient, correlator.Specific, true
			ev.Summary = "a client's requests are signed at another time than they arrive" + quote(ev.Records[i])
			ev.NextCheck, ev.SafeAction = "the client's clock and its time synchronisation", "correct the clock, then retry; who refused needs nothing"
			return ev
		}
		if i := slices.IndexFunc(ev.Records, saysOwnClock); i >= 0 {
			if ev.Records[i].Layer == semconv.LayerClient && !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return e.Node != "" }) {
				ev.Rule, ev.Layer, ev.Summary = "client.clock", semconv.LayerClient, "a client's requests are refused for their time"+quote(ev.Records[i])
				ev.NextCheck, ev.SafeAction = "the client's clock and its time synchronisation", "correct the clock, then retry; who refused needs nothing"
			}
			ev.Weight, ev.Certain = correlator.Specific, false // whoever refused it tells both times
			return ev
		}
		ev.Weight, ev.Certain = correlator.Generic, false
		if t.Node == "" && len(c.Lifecycle.Nodes) == 0 {
			ev.Records = nil // no machine is heard of: it may be the clock of who signs, of who checks, or of the caller
		}
		return ev
	}
	ev.Weight, ev.Certain, ev.Directness = correlator.Specific, true, correlator.Itself
	ev.Records = append(ev.Records, off)
	whose := off.Node
	if off.Layer == semconv.LayerClient {
		whose, ev.Rule, ev.Layer = off.Service, "client.clock", semconv.LayerClient
	}
	ev.Summary = "the clock of " + whose + " is wrong: it says " + correlator.Time(off.Time).Milli() + " at " + correlator.Time(off.Observed).Milli() + ", and what it signs is refused"
	return ev
}

// unsynchronised is the word of the trouble's node or, where it has none, of its client, in the last two hours, that nothing sets its clock (chrony, ntpd, timesyncd).
func unsynchronised(c *correlator.Case, t *correlator.Trouble, refused []*correlator.Event) (says *correlator.Event) {
	itself := func(e *correlator.Event) bool { // the very program that is refused
		return e.Layer == semconv.LayerClient && t.Node == "" && slices.ContainsFunc(refused, func(r *correlator.Event) bool { return r.Service == e.Service && r.Layer == e.Layer })
	}

	c.Each(t.From-int64(2*time.Hour), t.At, func(e *correlator.Event) {
		if (e.Node != "" && c.Own(e, t) || itself(e)) && !e.IsEvent() && holds(e.Text, unset) {
			says = e
		}
	})
	if says == nil && t.Node == "" {
		says = setsNoClock(c, t)
	}
	return says
}

// setsNoClock is the word of the one party of the platform whose clock nothing sets, shortly before a trouble, nil where there is none, or where there are several.
func setsNoClock(c *correlator.Case, t *correlator.Trouble) (says *correlator.Event) {
	several := false
	c.Each(t.From-recently, t.At, func(e *correlator.Event) {
		if e.IsEvent() || !e.Failed() || e.Node != "" || !c.Profile.Knows(e.Layer) || e.Layer == semconv.LayerNode || !holds(e.Text, unset) {
			return
		}
		several = several || says != nil && says.Layer != e.Layer
		says = e
	})
	if several {
		return nil
	}
	return says
}

// unset are the words of a clock that nothing sets.
var unset = []string{"can't synchronise", "not synchronised", "not synchronized", "unsynchronised", "unsynchronized", "no selectable sources", "no server suitable for synchronization", "timed out waiting for reply from", "kernel reports time_error", "time sync: off", "ntp service: inactive", "leap indicator: 3"}

// wrongBy finds by how much a time daemon says that a clock is wrong (chronyd).
var wrongBy = regexp.MustCompile(`(?:wrong|stepped|slewed|adjusted) by -?(\d+(?:\.\d+)?) ?s(?:ec|econds)?\b`)

// withinSecond says whether a clock is told to be wrong by less than a second: it is being kept.
func withinSecond(line string) bool {
	if !strings.Contains(line, " by ") {
		return false
	}
	m := wrongBy.FindStringSubmatch(line)
	return m != nil && (strings.HasPrefix(m[1], "0.") || m[1] == "0")
}
