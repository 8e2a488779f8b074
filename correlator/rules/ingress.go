package rules

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// ingress reads what proxies say of their back ends (docs/domain.md §4.10, rule 5). The words differ by
// product; what counts is the status and whether a back end was reached.
func ingress() []correlator.Rule {
	return []correlator.Rule{
		{
			ID: "ingress.no_backend", Layer: semconv.LayerIngress, Mechanism: "no_backend",
			Looks:      "a proxy that answers 502, 503 or 504 and had no back end to ask",
			NextCheck:  "the route's endpoints: is a back end registered, and why is it not ready?",
			SafeAction: "restore the back end or the route; do not retry the allocation before",
			Find: noBackend(proxied("the ingress has no back end for", func(x correlator.Exchange) bool {
				// A back end that is known and refuses is dead for reasons of its own: nobody can tell from here.
				unreached := x.Upstream == "" && (x.Proxied || flagged(x, "UH", "NC") || flagged(x, "UF") && !flagged(x, "UC"))
				return unreached && (x.Status == 502 || x.Status == 503 || x.Status == 504 || x.Status == 0 && flagged(x, "UH", "UF"))
			})),
		},
		{
			ID: "ingress.route", Layer: semconv.LayerIngress, Mechanism: "route",
			Looks:      "a proxy that answers 404 itself, without a back end",
			NextCheck:  "the route for this host and path",
			SafeAction: "apply the route again",
			Find: proxied("the ingress has no route for", func(x correlator.Exchange) bool {
				return x.Status == 404 && x.Upstream == "" && (x.Proxied || flagged(x, "NR"))
			}),
		},
		{
			ID: "ingress.limited", Layer: semconv.LayerIngress, Mechanism: "limit",
			Looks:      "a proxy that refuses by a limit of its own: 413, 414, 429 or 431 without a back end",
			NextCheck:  "the proxy's limit, and whether what was asked for is legitimate",
			SafeAction: "raise the limit or lower the rate; nothing behind the proxy was asked",
			Find:       limited,
		},
		{
			ID: "api.reset", Layer: semconv.LayerAPI, Mechanism: "crash",
			Looks:      "a proxy whose back end ended the connection in the middle of a request",
			NextCheck:  "restarts and memory of the back end at that time",
			SafeAction: "verify that a request that was sent twice made one allocation",
			Find: proxied("the back end ended the connection for", func(x correlator.Exchange) bool {
				return (x.Status == 502 || x.Status == 503) && x.Upstream != "" && flagged(x, "UC", "UPE", "UR")
			}),
		},
		{
			ID: "api.timeout", Layer: semconv.LayerAPI, Mechanism: "slow",
			Looks:      "a proxy whose back end was reached and did not answer in time",
			NextCheck:  "what the back end waited for",
			SafeAction: "do not repeat what may have been done; look at what the back end waits for",
			Find: reached(proxied("the back end did not answer in time for", func(x correlator.Exchange) bool {
				return x.Status == 504 && x.Upstream != "" || flagged(x, "UT") && x.Upstream != ""
			})),
		},
		{
			ID: "api.error", Layer: semconv.LayerAPI, Mechanism: "error",
			Looks:      "an API that answers 500 or worse, by its own record",
			NextCheck:  "the API's own error at that time",
			SafeAction: "do not retry blindly: the same request meets the same error",
			Find:       apiErrors,
		},
	}
}

// requested names what was asked for, where the record says it.
func requested(path string) string {
	if path == "" {
		return "a request"
	}
	return path
}

func flagged(x correlator.Exchange, flags ...string) bool {
	for _, have := range strings.Split(x.Flags, ",") {
		for _, f := range flags {
			if have == f {
				return true
			}
		}
	}
	return false
}

// proxied makes a rule's Find of a test on what a proxy saw.
func proxied(what string, is func(correlator.Exchange) bool) func(*correlator.Case, *correlator.Trouble) []correlator.Evidence {
	return func(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
		ev := correlator.Evidence{Weight: correlator.Telling, Directness: correlator.Itself, Certain: true}
		for _, e := range slices.Concat(c.Failures(t), byPath(c, t)) {
			if (e.Layer == semconv.LayerIngress || e.HTTP.Proxied) && is(e.HTTP) && named(e) == nil {
				ev.Records = append(ev.Records, e)
			}
		}
		ev.Records = withPeers(ev.Records, c.Failures(t))
		if len(ev.Records) == 0 || cameThroughAgain(c, t, ev.Records) {
			return nil
		}
		first := ev.Records[0]
		ev.Summary = fmt.Sprintf("%s %s (by %s)", what, requested(first.HTTP.Path), first.Service)
		if first.HTTP.Status != 0 {
			ev.Summary = fmt.Sprintf("%s %s (%d by %s)", what, requested(first.HTTP.Path), first.HTTP.Status, first.Service)
		}
		return []correlator.Evidence{ev}
	}
}

// cameThroughAgain says whether a step's calls that failed at a proxy were made again at once, and answered, before the step went wrong: it went wrong without them.
func cameThroughAgain(c *correlator.Case, t *correlator.Trouble, failed []*correlator.Event) (again bool) {
	last := failed[len(failed)-1]
	if t.Kind != correlator.TaskTrouble || last.HTTP.Path == "" || last.At > t.At-moment {
		return false
	}
	c.EachIn(last.Layer, last.At+1, min(last.At+int64(time.Minute), t.At-moment), func(e *correlator.Event) {
		again = again || e.HTTP.Path == last.HTTP.Path && e.HTTP.Status >= 200 && e.HTTP.Status < 300 && (closeTo(t, e) || correlator.EveryReaderHas(e))
	})
	return again
}

// limited are refusals of a proxy by a limit of its own, or what one caller did to come to it.
func limited(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	found := proxied("the ingress refused by its own limit", func(x correlator.Exchange) bool {
		own := x.Status == 413 || x.Status == 414 || x.Status == 429 || x.Status == 431
		return own && x.Upstream == "" && x.Proxied || flagged(x, "RL") && x.Upstream == "" || flagged(x, "UO") // it named a server and did not ask it
	})(c, t)
	for i, ev := range found {
		found[i] = byOneCaller(c, t, ev)
	}
	return found
}

// byPath are a proxy's lines, around a trouble, of answers to calls whose path names the allocation, or which one of its own failures
// names: they carry no identifier.
func byPath(c *correlator.Case, t *correlator.Trouble) (out []*correlator.Event) {
	var named []*correlator.Event
	for _, e := range c.Failures(t) {
		if e.Layer != semconv.LayerIngress && !e.IsEvent() && strings.Contains(e.Text, "://") {
			named = append(named, e)
		}
	}
	for _, e := range c.UnattributedBetween(t.From-moment, t.At+moment) {
		answered := e.HTTP.Status != 0 && e.HTTP.Status < 400
		if e.Layer != semconv.LayerIngress || e.HTTP.Path == "" || answered || e.HTTP.Status == 0 && !e.Failed() {
			continue
		}
		path := strings.ToLower(e.HTTP.Path)
		asked := func(own *correlator.Event) bool { return len(path) >= longPath && strings.Contains(own.Text, path) }
		if t.Kind == correlator.RequestTrouble && len(c.ID) >= shortestID && strings.Contains(e.HTTP.Path, c.ID) || ofTask(t, e.HTTP.Path) || slices.ContainsFunc(named, asked) {
			out = append(out, e)
		}
	}
	return out
}

// ofTask says whether a path has the task of a trouble for one of its parts.
func ofTask(t *correlator.Trouble, path string) bool {
	if t.Attempt == nil || len(t.Attempt.Task) < shortestID {
		return false
	}
	return slices.Contains(strings.Split(path, "/"), t.Attempt.Task)
}

// shortestID is how short an identifier may be and still be told from other words of a path, longPath how long a path is that many callers
// do not share.
const shortestID, longPath = 4, 16

// unconnected are the words of proxies whose connection to a back end never came about (Go, nginx, Envoy).
var unconnected = []string{"dial tcp", "while connecting to upstream", "delayed connect error", "connection timeout"}

// reached holds a finding about a back end back where the proxy itself says that it never got there: an address in
// its line is the one that it tried.
func reached(find func(*correlator.Case, *correlator.Trouble) []correlator.Evidence) func(*correlator.Case, *correlator.Trouble) []correlator.Evidence {
	return func(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
		for _, e := range c.Failures(t) {
			if e.Layer == semconv.LayerIngress && (holds(e.Text, unconnected) || flagged(e.HTTP, "UF")) {
				return nil
			}
		}
		found := find(c, t)
		for i := range found {
			found[i].Records = slices.DeleteFunc(found[i].Records, func(e *correlator.Event) bool {
				return pending(c, semconv.LayerAPI, e) || mayTakeLong(c, t, e) || answeredInTime(c, t, e) || e.Layer == semconv.LayerIngress && deniesRequest(c, t, e) != nil
			})
		}
		found = slices.DeleteFunc(found, func(ev correlator.Evidence) bool { return len(ev.Records) == 0 })
		if len(found) > 0 && (len(noAnswer(c, t)) > 0 || waits(c, t) || goneQuiet(c, t)) {
			return nil // it says itself whom it waited for
		}
		if len(found) > 0 && (c.AliveBetween(semconv.LayerAPI, t.From-recently, t.At+recently) == nil || onlyBeats(c, found[0].Records)) {
			return nil // of the back end nothing is heard: what it did with the request nobody knows
		}
		for i := range found { // it took the request and owes the answer: what it waited for it does not say
			found[i].Weight, found[i].Directness = correlator.Generic, correlator.Caller
		}
		return found
	}
}

// onlyBeats says whether of the API nothing but signs of life is on record while requests failed, and so of who stands behind it: what it waited for was
// not kept.
func onlyBeats(c *correlator.Case, failed []*correlator.Event) bool {
	from, to := failed[0].At-recently, failed[0].EndAt()+moment
	for _, e := range failed[1:] {
		from, to = min(from, e.At-recently), max(to, e.EndAt()+moment)
	}
	words := false
	for _, layer := range []string{semconv.LayerAPI, semconv.LayerDB, semconv.LayerAPIAuth} {
		c.EachIn(layer, from, to, func(e *correlator.Event) { words = words || !e.Is(semconv.EventHeartbeat) })
	}
	return !words
}

// waits says whether the API itself tells whom behind it it could not use.
func waits(c *correlator.Case, t *correlator.Trouble) bool {
	return slices.ContainsFunc(c.Failures(t), func(e *correlator.Event) bool {
		return e.Layer == semconv.LayerAPI && behindAPI(callee(c, e))
	})
}

// behindAPI says whether an API asks a layer before it can answer.
func behindAPI(layer string) bool {
	return layer == semconv.LayerAPIAuth || correlator.Onward(semconv.LayerAPI, layer)
}

func apiErrors(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	ev := correlator.Evidence{Weight: correlator.Slight, Directness: correlator.Hearsay} // why it answered so it does not say
	unreached := map[string]bool{}                                                       // requests of which the API says that it could not reach somebody
	gone := refusing(c.Failures(t))
	cannot := slices.ContainsFunc(c.Failures(t), func(e *correlator.Event) bool { // it says of somebody, whom it does not name, that he could not be used
		return e.Layer == semconv.LayerAPI && e.HTTP.Status == 0 && !e.IsEvent() && e.Severity >= 17 && holds(e.Text, []string{"code = unavailable", "error reading from server"})
	})
	for _, e := range c.Failures(t) {
		if e.Layer == semconv.LayerAPI && e.TraceID != "" && (strings.Contains(e.Text, "connection refused") || strings.Contains(e.Text, "dial ") || broken(e, gone) || behindAPI(callee(c, e))) {
			unreached[e.TraceID] = true
		}
	}
	for _, e := range c.Failures(t) {
		if e.HTTP.Status < 500 || e.HTTP.Status == http.StatusGatewayTimeout || cannot && e.HTTP.Status == http.StatusServiceUnavailable || unreached[e.TraceID] || broken(e, gone) || named(e) != nil || strings.Contains(e.Text, "connection refused") || strings.Contains(e.Text, "dial ") || behindAPI(callee(c, e)) {
			continue // it names what it could not reach, or says that another one did not answer it (RFC 9110, 15.6.5)
		}
		// Only the API's own word: that a proxy was given a 500 says who answered, not whose fault it was.
		if e.Layer != semconv.LayerAPI {
			continue
		}
		ev.Directness = correlator.Itself
		ev.Records = append(ev.Records, e)
	}
	if len(ev.Records) == 0 || muteAPI(c, t, ev.Records) {
		return nil
	}
	first := ev.Records[0]
	ev.Summary = fmt.Sprintf("the API answered %d to %s", first.HTTP.Status, requested(first.HTTP.Path))
	if said := saidBeside(c, t, first); said != nil {
		ev.Summary += quote(said)
		if !slices.Contains(ev.Records, said) {
			ev.Records = append(ev.Records, said)
		}
	}
	return []correlator.Evidence{ev}
}

// saidBeside is what who answered a request said of it in plain words, in the same moment; nil where it said nothing but which request it was.
func saidBeside(c *correlator.Case, t *correlator.Trouble, answered *correlator.Event) *correlator.Event {
	var said []*correlator.Event
	for _, e := range c.Failures(t) {
		if e.Service == answered.Service && e.Signal == record.Log && !e.IsEvent() && e.Body != "" && !requestLine.MatchString(e.Text) && max(e.At, answered.EndAt())-min(e.At, answered.EndAt()) <= moment && c.Own(e, t) {
			said = append(said, e)
		}
	}
	if len(said) == 0 {
		return nil
	}
	return witness(said)
}

// withPeers adds what others saw of the same requests: it ties a proxy's line to whoever asked.
func withPeers(records, failures []*correlator.Event) []*correlator.Event {
	type answer struct {
		path   string
		status int
	}
	seen, known := map[answer]bool{}, map[*correlator.Event]bool{}
	for _, r := range records {
		known[r] = true
		if r.HTTP.Path != "" {
			seen[answer{r.HTTP.Path, r.HTTP.Status}] = true
		}
	}
	for _, e := range failures {
		if !known[e] && seen[answer{e.HTTP.Path, e.HTTP.Status}] {
			records = append(records, e)
		}
	}
	return records
}
