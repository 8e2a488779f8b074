package rules

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// words are the records around a trouble, by the cause that they name.
type words struct {
	failures, quiet, beside map[*signature][]*correlator.Event
	named                   []bool          // which signatures any of them holds, by their places
	answered                map[string]bool // services and parties that had to do with the step's own failures, the callers left out
	holds                   map[string]bool // parties between which the order lay
	statements              []statement     // see statements
	stated                  bool            // whether they were read
	calls                   []*call         // see callsOf
	called                  bool            // whether they were gathered
}

// linked says whether one of the records comes from a service that the step's own records lead to, or is about an address that they name.
func (w *words) linked(c *correlator.Case, records []*correlator.Event) bool {
	return slices.ContainsFunc(records, func(e *correlator.Event) bool {
		return w.answered[e.Service] || w.answered["layer "+e.Party()] || c.Mentions(e.Attr(semconv.ServerAddress)) ||
			e.Party() == semconv.LayerNetwork && (c.Mentions(hardwareAddress.FindString(e.Text)) || slices.ContainsFunc(networkAddress.FindAllString(e.Text, 4), c.Mentions))
	})
}

// hardwareAddress finds the address of a network card (IEEE 802).
var hardwareAddress = regexp.MustCompile(`\b[0-9a-f]{2}(?::[0-9a-f]{2}){5}\b`)

// networkAddress finds IPv4 addresses.
var networkAddress = regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}\b`)

// all are the records that name any cause.
func (w *words) all() (out []*correlator.Event) {
	for _, by := range []map[*signature][]*correlator.Event{w.failures, w.quiet, w.beside} {
		for _, list := range by {
			out = append(out, list...)
		}
	}
	return out
}

// betweenOutboxAndWorkflow says whether an order lay, for as long as its step stood still, where it had been published and nobody had begun
// with it: who speaks of himself there has to do with it.
func betweenOutboxAndWorkflow(c *correlator.Case, t *correlator.Trouble) bool {
	if t.Kind != correlator.OverdueTrouble || t.Owes != "" {
		return false
	}
	published := false
	for _, o := range c.Lifecycle.Outbox {
		for _, change := range o.Changes {
			published = published || change.To == semconv.Published && change.At >= t.From-moment && change.At < t.At
		}
	}
	began := slices.ContainsFunc(c.Lifecycle.Workflows, func(w *correlator.Run) bool {
		first := w.Changes[0].At
		return first >= t.From && first < t.At-int64(30*time.Second)
	})
	return published && !began
}

func wordsOf(c *correlator.Case, t *correlator.Trouble) *words {
	return t.Memo(func() any {
		w := &words{named: make([]bool, len(table().signatures)), failures: map[*signature][]*correlator.Event{}, quiet: map[*signature][]*correlator.Event{}, beside: map[*signature][]*correlator.Event{}, answered: map[string]bool{}, holds: map[string]bool{}}
		failures, quiet := c.Failures(t), c.Quiet(t)
		known := make(map[*correlator.Event]bool, len(failures)+len(quiet))
		for _, e := range t.Cites {
			if e.Layer == t.Owes && t.Owes != "" {
				w.answered[e.Service] = true // who owes the step says what keeps it
			}
		}
		if betweenOutboxAndWorkflow(c, t) {
			for _, layer := range []string{semconv.LayerOutbox, semconv.LayerWorkflow} {
				w.answered["layer "+layer], w.holds[layer] = true, true
			}
		}
		for _, e := range failures {
			known[e] = true
			if l := callee(c, e); l != "" {
				w.answered["layer "+l] = true
			}
			if s := hinted(e); s != nil {
				w.failures[s], w.named[s.place] = append(w.failures[s], e), true
			}
		}
		for _, e := range quiet {
			known[e] = true
			if e.Layer != semconv.LayerClient && e.Layer != semconv.LayerIngress {
				w.answered[e.Service] = true
			}
			if s := hinted(e); s != nil {
				w.quiet[s], w.named[s.place] = append(w.quiet[s], e), true
			}
		}
		for _, e := range c.Beside(t, telling) {
			if elsewhere(c, t, e) {
				continue
			}
			if s := hinted(e); !known[e] && s != nil && (s.Info || e.Failed() || c.Own(e, t) && holds(e.Text, failed)) {
				w.beside[s], w.named[s.place] = append(w.beside[s], e), true
			}
		}
		return w
	}).(*words)
}

// elsewhere says whether a record is a machine's that does not work for the allocation: of the ways that lead over it, it may
// tell, not of itself. So is one about a caller who showed a certificate and is none of the allocation's machines: how others
// were received says nothing of this one's calls.
func elsewhere(c *correlator.Case, t *correlator.Trouble, e *correlator.Event) bool {
	if !c.Own(e, t) && (e.Attr(semconv.TLSPeerSubject) != "" || ofStranger(c, e)) {
		return true
	}
	if e.Party() != semconv.LayerNode && e.Party() != semconv.LayerNodeAgent || c.Own(e, t) {
		return false
	}
	s := hinted(e)
	return s == nil || s.Layer == semconv.LayerNode || s.Layer == semconv.LayerNodeAgent || s.Layer == byParty
}

// named components of a watcher's word, the likeliest first.
var componentKeys = []string{"k8s.deployment.name", "k8s.statefulset.name", "k8s.daemonset.name", "k8s.pod.name", "k8s.container.name", "container", "container.name"}

// ofStranger says whether a watcher speaks of a component that is no layer's: it is not on any way of this platform.
func ofStranger(c *correlator.Case, e *correlator.Event) bool {
	for _, key := range componentKeys {
		if name := e.Attr(key); name != "" {
			return e.Service != name && correlator.LayerOfName(c.Profile, name) == "" && correlator.LayerOfName(c.Profile, e.Service) != semconv.LayerDeploy
		}
	}
	return false
}

// afterIt says whether something was said beside a request only after it had failed: a cause begins before its effect.
func afterIt(t *correlator.Trouble, e *correlator.Event) bool {
	return t.Kind == correlator.RequestTrouble && !t.Complaint && e.At > t.From+moment
}

// telling says whether a record is looked at beside a trouble: it tells of a failure, names a cause, or holds a word that some rule
// reads.
func telling(e *correlator.Event) bool {
	return (e.Failed() || hinted(e) != nil || on(e, themeRead)) && !carriesTelemetry(e)
}

// carriesTelemetry says whether a record is of a program that carries what others tell: no order leads over it.
func carriesTelemetry(e *correlator.Event) bool {
	return slices.ContainsFunc(carriers, func(name string) bool { return strings.Contains(e.Service, name) })
}

// carriers are such programs, by their names.
var carriers = []string{"otel", "opentelemetry", "fluent-bit", "fluentd", "filebeat", "promtail", "logstash", "telegraf", "grafana-alloy"}

// alike is a record by which another machine meets the same as the allocation's does, in the same words, or fails in the same step of a
// service's; nil where there is none.
func alike(c *correlator.Case, t *correlator.Trouble, s *signature, records []*correlator.Event) (peer *correlator.Event) {
	steps := stepsOf(c, t)
	said := map[string]bool{}
	for _, e := range ofOtherMachines(c) {
		if e.At < t.From-int64(time.Hour) || e.At > t.At+int64(time.Hour) || c.Own(e, t) {
			continue
		}
		if slices.ContainsFunc(steps, func(own *correlator.Event) bool { return beginAlike(own, e) }) {
			return e // it says more: whose that is
		}
		if peer != nil || hinted(e) != s {
			continue
		}
		if len(said) == 0 {
			for _, own := range records {
				said[correlator.Template(own.Text)] = own.Failed()
			}
		}
		if said[correlator.Template(e.Text)] {
			peer = e
		}
	}
	return peer
}

// ofOtherMachines are, in order, the records that tell of failures on machines that are not the allocation's own records. They are sorted out once.
func ofOtherMachines(c *correlator.Case) []*correlator.Event {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []*correlator.Event
		c.Each(math.MinInt64, math.MaxInt64, func(e *correlator.Event) {
			if e.Node != "" && e.Allocation != c.ID && !e.IsEvent() && e.Failed() {
				out = append(out, e)
			}
		})
		return out
	}).([]*correlator.Event)
}

// heardBack are the words by which a probe tells that something came back from where it asked: the way there carries.
var heardBack = []string{"answered", "pong received", "replied", " 0% loss", "loss 0%"}

// ofTheirNet hands management controllers that do not answer over to the network: of several machines, where that has a complaint of its own, for
// what they have in common is the way to them; of one, where it complains of that controller's address.
func ofTheirNet(c *correlator.Case, t *correlator.Trouble, s *signature, ev correlator.Evidence) correlator.Evidence {
	var other, net, named *correlator.Event
	for _, e := range ofOtherMachines(c) {
		if other == nil && e.At >= t.From-int64(time.Hour) && e.At <= t.At+int64(time.Hour) && !c.Own(e, t) && hinted(e) == s {
			other = e
		}
	}
	addresses := map[string]bool{}
	for _, e := range ev.Records {
		for _, a := range networkAddress.FindAllString(e.Text, -1) {
			addresses[a] = true
		}
	}
	for _, e := range c.Beside(t, telling) {
		if e.Party() != semconv.LayerNetwork || !e.Failed() || holds(e.Text, heardBack) {
			continue
		}
		if slices.ContainsFunc(append(networkAddress.FindAllString(e.Text, -1), e.Attr(semconv.ServerAddress)), func(a string) bool { return addresses[a] }) {
			named = e
		}
		if e.Node == "" {
			net = e
		}
	}
	ev.Rule, ev.Mechanism = "network.management", "unreachable"
	switch {
	case named != nil:
		ev.Records = append(ev.Records, named)
		ev.Summary = "a management controller does not answer, and the network complains of the way to it" + quote(named)
	case other != nil && net != nil:
		ev.Records = append(ev.Records, other, net)
		ev.Summary = "management controllers of several machines do not answer, and the network complains of itself" + quote(net)
	default:
		ev.Rule, ev.Mechanism = s.ID, s.Mechanism
		return ev
	}
	ev.Layer, ev.Directness = semconv.LayerNetwork, correlator.Itself
	ev.NextCheck, ev.SafeAction = "the network of the management controllers: its VLANs, its routes, its switches", "the machines and their controllers need nothing"
	return ev
}

// stepsOf is what a provider says of its steps that failed on the trouble's machine.
func stepsOf(c *correlator.Case, t *correlator.Trouble) (out []*correlator.Event) {
	for _, e := range c.Failures(t) {
		if e.Layer == semconv.LayerProvider && !e.IsEvent() && len(out) < ownWords {
			out = append(out, e)
		}
	}
	return out
}

// beginAlike says whether a service says two things that begin with the same words, more of them than a prefix of its log has.
func beginAlike(a, b *correlator.Event) bool {
	const long = 80
	return a.Service == b.Service && len(a.Text) >= long && len(b.Text) >= long && a.Text[:long] == b.Text[:long]
}

// ofSeveral hands what several machines meet alike over to what they have in common: their image, where a rollout brought it, or the step of
// a provider that fails on each. Nobody is named where that is not known.
func ofSeveral(c *correlator.Case, t *correlator.Trouble, peer *correlator.Event, ev correlator.Evidence) []correlator.Evidence {
	said := quote(witness(ev.Records))
	if ev = byRollout(c, ev, "image", "image", "profile"); ev.Layer == semconv.LayerDeploy {
		ev.Summary = "several machines of one image meet the same" + said
		ev.Records = append(ev.Records, peer)
		return []correlator.Evidence{ev}
	}
	if peer.Layer != semconv.LayerProvider {
		return nil
	}
	steps := stepsOf(c, t)
	if len(steps) == 0 {
		return nil
	}
	return []correlator.Evidence{{
		Rule: "provider.step", Layer: semconv.LayerProvider, Mechanism: "step", Weight: correlator.Generic, Directness: correlator.Itself, Onset: steps[0].At,
		Records: append(steps, peer), Summary: "a step of the provider's fails on several machines" + quote(steps[0]),
		NextCheck: "what that step asks of a machine that none of them has", SafeAction: "the machines need nothing",
	}}
}
