package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// recently is how long before a failure a peer's end may lie and still be why.
const recently = int64(10 * time.Minute)

// peer finds the service behind a dial that failed, where that service's own last words are known.
func peer() []correlator.Rule {
	return []correlator.Rule{{
		ID: "peer.died", Looks: "a dial that failed, and the last words of the very service that was dialled",
		NextCheck:  "why that service ended, and whether it is up again",
		SafeAction: "restore that service; its callers need nothing",
		Find:       diedPeer,
	}, {
		ID: "peer.unreachable", Looks: "a layer that could not reach another one, by the port that it dialled, where layers call each other as peers",
		NextCheck:  "whether that service listens, and what it logged last",
		SafeAction: "start that service; its callers need nothing",
		Find:       unreachablePeer,
	}}
}

// ports are where the services of a cloud listen unless somebody moved them (their own documentation).
var ports = []struct{ port, layer string }{
	{":9696/", "neutron"}, {":8776/", "cinder"}, {":9292/", "glance"}, {":5000/", "keystone"}, {":35357/", "keystone"},
	{":8774/", "nova"}, {":8775/", "nova"}, {":8778/", "nova"}, {":8004/", "heat"},
}

var undialled = []string{"unable to establish connection to", "connection refused", "econnrefused", "failed to establish a new connection", "connection aborted", "max retries exceeded"}

// unreachablePeer reads who was dialled in vain, where no answer came at all: an answer, even an error, is the
// callee's own matter and stands in its own log.
func unreachablePeer(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if !c.Profile.FirstFailure() {
		return nil
	}
	for _, e := range c.Failures(t) {
		if e.Severity < 17 || !holds(e.Text, undialled) {
			continue
		}
		for _, p := range ports {
			if strings.Contains(e.Text, p.port) && p.layer != e.Layer && c.Profile.Knows(p.layer) {
				return []correlator.Evidence{{
					Rule: p.layer + ".unreachable", Layer: p.layer, Mechanism: "unreachable", Weight: correlator.Telling, Directness: correlator.Caller,
					Records: []*correlator.Event{e}, Summary: e.Layer + " could not reach " + p.layer + quote(e),
				}}
			}
		}
	}
	return nil
}

var unreachable = []string{"connection refused", "connection reset", "eof", "no healthy upstream", "unavailable", "no live upstreams", "no servers available"}

var lastWords = []string{"out of memory", "oom", "panic:", "fatal error", "segmentation fault", "terminated by signal", "killed process", "shutting down", "exit status", "crashloop"}

func diedPeer(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	for _, e := range c.Failures(t) {
		if !on(e, themeUnreachable) {
			continue
		}
		named := e.Text + " " + strings.ToLower(e.Attr(semconv.ServerAddress)+" "+e.HTTP.Upstream)
		var died *correlator.Event
		for _, x := range c.UnattributedBetween(e.At-recently, t.At+1) {
			// A name such as "db" or "api" stands in too many words to be one.
			if x.Severity >= 17 && x.Service != e.Service && len(x.Service) > 3 && strings.Contains(named, strings.ToLower(x.Service)) && holds(x.Text, lastWords) && c.Profile.Knows(x.Layer) {
				died = x
				break
			}
		}
		if died == nil {
			continue
		}
		return []correlator.Evidence{{
			Rule: died.Layer + ".crash", Layer: died.Layer, Mechanism: "crash", Weight: correlator.Specific, Directness: correlator.Itself, Certain: true,
			Records: []*correlator.Event{died, e}, Onset: died.At, Summary: died.Service + " ended" + quote(died) + ", and " + e.Service + " could not reach it",
		}}
	}
	return nil
}

func holds(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// notStarted are the words of a platform that could not start what was rolled out.
var notStarted = []string{"imagepullbackoff", "errimagepull", "failed to pull image", "createcontainerconfigerror", "back-off pulling image", "manifest unknown"}

// notReady are the words of a service that runs and serves nobody.
var notReady = []string{"readiness", "not ready", "unready", "failed to start", "cannot start", "startup failed", "not serving", checkAnswered}

// checkAnswered are HAProxy's words for a server that answered its check, with a failure.
const checkAnswered = "layer7 wrong status, code: 5"

// probesTimedOut are the words of probes that wait for an answer in vain (HAProxy's checks, kubelet's).
var probesTimedOut = []string{"layer7 timeout", "l7tout", "probe failed: get", "health check timed out"}

// tellsWhileProbesTimeOut lists the own word of a back end, right before a proxy had nobody to ask, and a probe that had no answer from it; nil where one of
// them is not there. A back end that complains of somebody else is another matter.
func tellsWhileProbesTimeOut(c *correlator.Case, at int64) []*correlator.Event {
	var own, probe *correlator.Event
	for _, e := range c.UnattributedBetween(at-recently, at+moment) {
		switch {
		case e.IsEvent():
		case e.Layer == semconv.LayerAPI && e.Party() == e.Layer && e.Severity >= 13 && e.HTTP.Status == 0:
			if callee(c, e) != "" || hinted(e) != nil {
				return nil
			}
			if own == nil {
				own = e
			}
		case e.Severity >= 13 && holds(e.Text, probesTimedOut) && (!strings.Contains(e.Text, "probe failed") || strings.Contains(e.Text, "deadline exceeded") || strings.Contains(e.Text, "timeout")):
			probe = e
		}
	}
	if own == nil || probe == nil {
		return nil
	}
	return inOrder(own, probe)
}

// noBackend hands a proxy's finding over to whatever keeps its back end away, where that is on record
// (docs/domain.md §4.10, rule 5: the owner is why the back end is dead).
func noBackend(find func(*correlator.Case, *correlator.Trouble) []correlator.Evidence) func(*correlator.Case, *correlator.Trouble) []correlator.Evidence {
	return func(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
		found := find(c, t)
		for i := range found {
			ev := &found[i]
			if hungOwn := tellsWhileProbesTimeOut(c, ev.Records[0].At); hungOwn != nil {
				ev.Rule, ev.Layer, ev.Mechanism, ev.Weight = "api.hung", semconv.LayerAPI, "stuck", correlator.Specific
				ev.Records, ev.Onset = append(slices.Clone(hungOwn), ev.Records...), hungOwn[0].At
				ev.Summary = "the back end answers no probe, and tells of trouble in itself" + quote(hungOwn[0])
				ev.NextCheck, ev.SafeAction = "what its handlers wait for: its own dump of goroutines or threads", "save its state, then restart it; the route is as it should be"
				continue
			}
			for _, e := range c.UnattributedBetween(ev.Records[0].At-recently, t.At+1) {
				if e.Severity >= 13 && holds(e.Text, notStarted) {
					ev.Rule, ev.Layer, ev.Mechanism, ev.Weight = "deploy.image", semconv.LayerDeploy, "image", correlator.Specific
					ev.Records, ev.Onset = append([]*correlator.Event{e}, ev.Records...), e.At
					ev.Summary = "the back end could not be started" + quote(e)
					ev.NextCheck, ev.SafeAction = "the image and version of the last rollout", "roll back"
					break
				}
				// Whoever is on record as killed is why nobody listens.
				if e.Severity >= 17 && e.Layer == semconv.LayerAPI && e.At <= t.At && holds(e.Text, processEnd) {
					ev.Rule, ev.Layer, ev.Mechanism, ev.Weight = "api.crash", semconv.LayerAPI, "crash", correlator.Specific
					ev.Records, ev.Onset = append([]*correlator.Event{e}, ev.Records...), e.At
					ev.Summary = "the back end ended" + quote(e)
					ev.NextCheck, ev.SafeAction = "its last words and its memory limit", "restore it; the route is as it should be"
					break
				}
				// Whoever says that he is at a limit of his own is why the proxy has nobody to ask.
				if s := hinted(e); s != nil && s.ID == "process.limit" && e.Severity >= 17 && e.Layer == semconv.LayerAPI && e.Party() == e.Layer && e.At <= ev.Records[0].At+moment {
					ev.Rule, ev.Layer, ev.Mechanism, ev.Weight = "api.limit", semconv.LayerAPI, s.Mechanism, correlator.Specific
					ev.Records, ev.Onset = append([]*correlator.Event{e}, ev.Records...), e.At
					ev.Summary = "the back end is at a limit of its own" + quote(e)
					ev.NextCheck, ev.SafeAction = s.NextCheck, s.SafeAction
					break
				}
				// A proxy that cannot look its back ends up has none, whatever their health.
				if s := named(e); s != nil && s.Layer == semconv.LayerNetwork && s.Mechanism == "dns" && e.Layer == semconv.LayerIngress && e.Service == ev.Records[0].Service && e.Failed() {
					ev.Rule, ev.Layer, ev.Mechanism, ev.Weight = s.ID, s.Layer, s.Mechanism, correlator.Specific
					ev.Records, ev.Onset = append([]*correlator.Event{e}, ev.Records...), min(ev.Onset, e.At)
					ev.Summary = "the proxy cannot look its back end up, for " + s.Summary + quote(e)
					ev.NextCheck, ev.SafeAction = s.NextCheck, s.SafeAction
					break
				}
				// Whoever says of itself why it is not ready owns that the proxy has nobody to ask.
				watched := e.Layer != semconv.LayerAPI && e.Severity >= 13 && e.Party() == semconv.LayerAPI && e.At <= ev.Records[0].At+moment
				itself := e.Layer == semconv.LayerAPI && (e.Severity >= 17 || e.Severity >= 13 && e.Party() == e.Layer && e.At <= ev.Records[0].At+moment && holds(e.Text, []string{"not ready", "unready", "not serving"}) && hinted(e) == nil && callee(c, e) == "")
				if (itself || watched) && e.At <= t.At && holds(e.Text, notReady) {
					ev.Rule, ev.Layer, ev.Mechanism, ev.Weight = "api.not_ready", semconv.LayerAPI, "not_ready", correlator.Specific
					ev.Records, ev.Onset = append([]*correlator.Event{e}, ev.Records...), e.At
					ev.Summary = "the back end is not ready, by its own word" + quote(e)
					if watched && strings.Contains(e.Text, checkAnswered) { // of what it answered so, itself or for whom it asked, its own words tell
						ev.Weight, ev.Directness, ev.Certain = correlator.Generic, correlator.Caller, false
					}
					if watched {
						ev.Summary = "the back end is not ready, by the word of who watches it" + quote(e)
					}
					ev.NextCheck, ev.SafeAction = "what it waits for, in its own log", "remove that; the route is as it should be"
					break
				}
			}
		}
		for i := range found {
			if found[i].Rule == "" {
				found[i] = endedBehind(c, t, found[i])
			}
		}
		return slices.DeleteFunc(found, func(ev correlator.Evidence) bool {
			// Of a back end of which nothing is heard nobody can say whether it is the route that is missing.
			return ev.Rule == "" && (c.AliveBetween(semconv.LayerAPI, t.From-recently, t.At+recently) == nil || silentMeanwhile(c, ev))
		})
	}
}

// endedBehind hands a proxy's finding over to the process that ended behind it before, by its own word or by who watches it, or to the rollout
// with which that one never ran.
func endedBehind(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	var ended []*correlator.Event
	for _, e := range c.Beside(t, telling) {
		if s := hinted(e); s != nil && s.Mechanism == "crash" && s.owner(c, e) == semconv.LayerAPI && e.At >= ev.Records[0].At-recently && e.At <= t.At && !elsewhere(c, t, e) {
			ended = append(ended, e)
		}
	}
	if len(ended) == 0 || ended[0].At > ev.Records[0].At+moment {
		return ev
	}
	ev.Rule, ev.Layer, ev.Mechanism, ev.Onset = "api.crash", semconv.LayerAPI, "crash", ended[0].At
	ev.Records = append(ended[:min(len(ended), ownWords)], ev.Records...)
	ev.Summary = "the back end ended" + quote(witness(ended))
	ev.NextCheck, ev.SafeAction = "its last words and its memory limit", "restore it; the route is as it should be"
	return bornBroken(c, ev)
}

// silentMeanwhile says whether nothing was heard of the API for as long as a proxy had no back end, and for long: it may have been away itself.
func silentMeanwhile(c *correlator.Case, ev correlator.Evidence) bool {
	first, last := ev.Records[0].At, ev.Records[len(ev.Records)-1].At
	return last-first >= int64(5*time.Minute) && c.AliveBetween(semconv.LayerAPI, first+1, last-1) == nil
}
