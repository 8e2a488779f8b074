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

// answer compares what a caller got with what the called says that it gave, in one trace.
func answer() []correlator.Rule {
	return []correlator.Rule{{
		ID: "ingress.answer_lost", Layer: semconv.LayerIngress, Mechanism: "answer_lost",
		Looks:      "a call that the called answered, and that the proxy in between made an error of",
		NextCheck:  "what the proxy says of the back end's answer: its size, its headers, its protocol",
		SafeAction: "correct the proxy's limit or protocol; what was asked for was done",
		Find:       answerLost,
	}, {
		ID: "ingress.cuts_wait", Layer: semconv.LayerIngress, Mechanism: "patience",
		Looks:      "a call that may wait for its answer, and a proxy that ends it sooner",
		NextCheck:  "the proxy's time-out for this route, beside how long such calls may wait",
		SafeAction: "raise the proxy's time-out for this route; the called needs nothing",
		Find:       cutsWait,
	}, {
		ID: "caller.patience", Mechanism: "patience",
		Looks:      "a caller that hung up before the called was done, which then was done without an error",
		NextCheck:  "the caller's own time-out, beside what such calls take",
		SafeAction: "raise the caller's time-out; what was asked for was done",
		Find:       hungUpEarly,
	}}
}

// call is what one trace shows of one call.
type call struct {
	caller *correlator.Event // the failure of who asked
	proxy  *correlator.Event // an error that a proxy gave
	done   *correlator.Event // the called's own success
	left   *correlator.Event // a proxy's word that the caller went away
	failed bool              // somebody behind the proxy tells of a failure: it had no answer to lose
}

// callsOf are, by trace or request, the failed calls around a trouble of which the called tells that they went well.
func callsOf(c *correlator.Case, t *correlator.Trouble) []*call {
	w := wordsOf(c, t)
	if !w.called {
		w.calls, w.called = gatherCalls(c, t), true
	}
	return w.calls
}

func gatherCalls(c *correlator.Case, t *correlator.Trouble) []*call {
	by := map[string]*call{}
	var out []*call
	for _, e := range c.Failures(t) {
		trace, request := e.TraceID, e.Own(identity.Request)
		if trace == "" && request == "" || e.IsEvent() {
			continue
		}
		k := by[trace]
		if k == nil {
			k = by[request]
		}
		if k == nil {
			k = &call{}
			out = append(out, k)
		}
		for _, id := range []string{trace, request} {
			if id != "" {
				by[id] = k
			}
		}
		k.failed = k.failed || correlator.Onward(semconv.LayerIngress, e.Layer) && e.Layer != semconv.LayerNodeAgent // an agent asks
		switch {
		case e.Layer == semconv.LayerIngress && leftBy(e):
			k.left = e
		case e.Layer == semconv.LayerIngress && (e.HTTP.Status >= 500 || e.HTTP.Status == 0 && flagged(e.HTTP, "UT")): // an error line has no status
			k.proxy = e
		case e.Signal == record.Span && (e.SpanKind == "client" || e.Layer == semconv.LayerClient), e.TraceID == "" && e.Layer == semconv.LayerClient:
			if k.caller == nil || e.At < k.caller.At {
				k.caller = e
			}
		}
	}
	for _, e := range c.Quiet(t) {
		k := by[e.TraceID]
		if k == nil || e.TraceID == "" {
			k = by[e.Own(identity.Request)]
		}
		if k != nil && e.Layer == semconv.LayerIngress && leftBy(e) {
			k.left = e
		}
		if k == nil || e.SpanKind == "client" || e.Status == "error" || e.HTTP.Status >= 400 || e.GRPCFailed() {
			continue
		}
		if e.Signal != record.Span && (e.TraceID != "" || e.HTTP.Status < 200) {
			continue // a line tells that a call was answered by the answer's status alone
		}
		if k.caller != nil && correlator.Onward(k.caller.Layer, e.Layer) && e.Layer != semconv.LayerIngress {
			k.done = e
		}
	}
	return out
}

// leftBy says whether a proxy tells that the caller went away.
func leftBy(e *correlator.Event) bool { return flagged(e.HTTP, "DC") || e.HTTP.Status == 499 }

func answerLost(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	ev := correlator.Evidence{Weight: correlator.Specific, Directness: correlator.Itself, Certain: true}
	for _, k := range callsOf(c, t) {
		if k.proxy != nil && k.done != nil && !k.failed && k.done.EndAt() <= k.proxy.EndAt()+moment && !flagged(k.proxy.HTTP, "UT", "DC") && k.proxy.HTTP.Status != 504 &&
			!strings.Contains(k.proxy.Text, "via_upstream") { // by its own word the called answered so
			ev.Records = append(ev.Records, k.caller, k.done, k.proxy)
		}
	}
	if len(ev.Records) == 0 {
		return nil
	}
	ev.Summary = ev.Records[1].Layer + " answered, and the proxy in between made an error of it" + quote(ev.Records[2])
	return []correlator.Evidence{ev}
}

// answeredInTime says whether the called tells of the very request that it answered it, before a proxy gave up waiting for it: where the answer was lost,
// neither of them knows.
func answeredInTime(c *correlator.Case, t *correlator.Trouble, given *correlator.Event) bool {
	return given.Layer == semconv.LayerIngress && slices.ContainsFunc(callsOf(c, t), func(k *call) bool {
		return k.proxy != nil && k.done != nil && k.done.EndAt() < k.proxy.EndAt()-moment && (k.proxy == given || given.TraceID != "" && k.proxy.TraceID == given.TraceID)
	})
}

// tooLate are the words of a caller whose own time was over.
var tooLate = []string{"deadline", "timeout", "timed out", "time-out", "hung up", "context canceled", "gave up after"}

// endedByPeer are the words of a caller whose connection the other end broke: he did not hang up.
var endedByPeer = []string{"connection reset by peer", "econnreset"}

// addresses finds what was asked for, in which a time-out may stand that is the called's.
var addresses = regexp.MustCompile(`https?://[^\s"]+`)

func hungUpEarly(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	ev := correlator.Evidence{Weight: correlator.Telling, Directness: correlator.Itself, Certain: false}
	for _, k := range callsOf(c, t) {
		if k.caller == nil || k.proxy != nil || k.caller.HTTP.Status != 0 || holds(k.caller.Text, overAtOnce) || holds(k.caller.Text, endedByPeer) {
			continue
		}
		// The called was done later, or a proxy saw the caller go after a time in which nobody answers.
		proof := k.done
		if slower := patientPeer(c, t, k); proof == nil && slower != nil {
			proof = k.left
			ev.Records = append(ev.Records, slower)
		}
		if atOnce := k.caller.Signal == record.Span && k.caller.EndAt()-k.caller.At < int64(2*time.Second); k.left != nil && atOnce {
			proof = k.left
		}
		if proof == nil || proof == k.done && proof.EndAt() <= k.caller.EndAt() {
			continue
		}
		code := strings.ToLower(k.caller.Attr(semconv.RPCGRPCStatus))
		if code != "4" && code != "deadline_exceeded" && code != "1" && !holds(addresses.ReplaceAllString(k.caller.Text, ""), tooLate) {
			continue
		}
		ev.Layer = k.caller.Layer
		ev.Records = append(ev.Records, k.caller, proof)
	}
	if len(ev.Records) == 0 || !c.Profile.Knows(ev.Layer) {
		return nil
	}
	ev.Rule = ev.Layer + ".patience"
	said := slices.IndexFunc(ev.Records, func(e *correlator.Event) bool { return e.Layer == ev.Layer })
	ev.Summary = ev.Layer + " hung up before it could be answered" + quote(ev.Records[max(said, 0)])
	return []correlator.Evidence{ev}
}

// patientPeer is an answer that somebody else waited for, longer than a caller did who went away, to the same call through the same proxy; nil
// where there is none.
func patientPeer(c *correlator.Case, t *correlator.Trouble, k *call) (answer *correlator.Event) {
	if k.left == nil {
		return nil
	}
	method, path := askedOf(k.left)
	patience := max(tookOf(k.caller), tookOf(k.left))
	c.EachIn(semconv.LayerIngress, t.From-recently, t.At, func(e *correlator.Event) {
		if e.Service != k.left.Service || e.HTTP.Status < 200 || e.HTTP.Status >= 300 || tookOf(e) <= patience {
			return
		}
		if m, p := askedOf(e); method != "" && m == method && sameCall(p, path) {
			answer = e
		}
	})
	return answer
}

// quotedRequest finds what was asked for in a proxy's line of any form that quotes it.
var quotedRequest = regexp.MustCompile(`"(get|head|post|put|patch|delete) (\S+) http/`)

// askedOf is the method, in lower case, and the path of a proxy's line, "" where it has none.
func askedOf(e *correlator.Event) (method, path string) {
	if e.HTTP.Method != "" {
		return strings.ToLower(e.HTTP.Method), strings.ToLower(e.HTTP.Path)
	}
	if m := quotedRequest.FindStringSubmatch(e.Text); m != nil {
		return m[1], m[2]
	}
	return "", ""
}

// sameCall says whether two paths differ in one part at most, which names what is asked for.
func sameCall(a, b string) bool {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	if len(x) != len(y) {
		return false
	}
	differ := 0
	for i := range x {
		if x[i] != y[i] {
			differ++
		}
	}
	return differ <= 1
}

// mayWait finds how long a caller lets a call wait, in seconds; waits are the last parts of paths whose calls wait by their nature.
var (
	mayWait = regexp.MustCompile(`[?&](?:timeout|timeoutseconds|wait|wait_time)=(\d+)s?\b`)
	waiting = []string{"wait", "watch", "poll", "events", "stream", "subscribe"}
)

// cutsWait needs a proxy's own time-out of a call that was meant to wait, and longer than the proxy does where the call says how long; and
// more than one of those, or the called's answer after it.
func cutsWait(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	ev := correlator.Evidence{Weight: correlator.Specific, Directness: correlator.Itself, Certain: true}
	answered, sooner, served := false, 0, false
	for _, e := range c.Failures(t) {
		if e.Layer == semconv.LayerIngress && (e.HTTP.Status == 504 || flagged(e.HTTP, "UT")) && meantToWait(e) {
			ev.Records = append(ev.Records, e)
			if mayWait.MatchString(e.Text) {
				sooner++
			}
			for _, o := range c.Events {
				if e.TraceID != "" && o.TraceID == e.TraceID && o.Signal == record.Span && o.Layer != semconv.LayerIngress && o.HTTP.Status > 0 && o.HTTP.Status < 300 && o.EndAt() > e.At {
					ev.Records, answered = append(ev.Records, o), true
				}
			}
		}
	}
	if len(ev.Records) == 0 {
		return nil
	}
	if len(ev.Records) >= cuts { // whoever is called answers others through the same proxy
		if e := servedOthers(c, t, ev.Records[0].HTTP.Upstream); e != nil {
			ev.Records, served = append(ev.Records, e), true
		}
	}
	if late := closedOn(c, t, ev.Records[0].At); late != nil && !answered && !served {
		ev.Records, answered = append(ev.Records, late), true
	}
	if sooner < 2 && !answered && !served {
		return nil
	}
	ev.Summary = "a proxy ends a call that waits for its answer" + quote(ev.Records[0])
	return []correlator.Evidence{ev}
}

// closedOn is the called's own word, after a proxy ended its call, that it had an answer and found the connection closed; nil where there is none.
func closedOn(c *correlator.Case, t *correlator.Trouble, since int64) (late *correlator.Event) {
	c.EachIn(semconv.LayerAPI, since, t.At, func(e *correlator.Event) {
		if late == nil && !e.IsEvent() && c.Own(e, t) && holds(e.Text, closedWords) {
			late = e
		}
	})
	return late
}

// closedWords are the words of a server whose caller is gone when it answers (Go, Java, Python, Node.js).
var closedWords = []string{"broken pipe", "client disconnected", "clientabortexception", "clientdisconnect", "write after end", "response already closed", "connection closed by client", "epipe"}

// servedOthers is an answer that a proxy had from a back end around a trouble, nil where there is none.
func servedOthers(c *correlator.Case, t *correlator.Trouble, called string) (answer *correlator.Event) {
	c.EachIn(semconv.LayerIngress, t.From-recently, t.At, func(e *correlator.Event) {
		if answer == nil && called != "" && e.HTTP.Upstream == called && e.HTTP.Status >= 200 && e.HTTP.Status < 300 {
			answer = e
		}
	})
	return answer
}

// mayTakeLong says whether a proxy ended a call that is meant to wait, to somebody who answers others: that it took its time was in order.
func mayTakeLong(c *correlator.Case, t *correlator.Trouble, e *correlator.Event) bool {
	return e.Layer == semconv.LayerIngress && meantToWait(e) && servedOthers(c, t, e.HTTP.Upstream) != nil
}

// cuts is how often a proxy ends such calls until it is no accident.
const cuts = 3

func meantToWait(e *correlator.Event) bool {
	if m := mayWait.FindStringSubmatch(e.Text); m != nil {
		seconds, err := strconv.Atoi(m[1])
		took := tookOf(e)
		return err == nil && (took == 0 || took < time.Duration(seconds)*time.Second)
	}
	path, _, _ := strings.Cut(e.HTTP.Path, "?")
	last := lastPart(path)
	return slices.Contains(waiting, last) || slices.ContainsFunc(waiting, func(w string) bool { return waitsByName(last, w) })
}

// waitsByName says whether a method of a remote call is called after what it does: PollWorkflowTaskQueue, WatchPods.
func waitsByName(method, word string) bool {
	rest, ok := strings.CutPrefix(strings.ToLower(method), word)
	return ok && rest != "" && len(method) > len(word) && method[len(word)] >= 'A' && method[len(word)] <= 'Z'
}
