package correlator

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// FaultOccurrence is one fault of one allocation by what others may share with it: the same layer, the same
// mechanism, and a subject in common.
type FaultOccurrence struct {
	Layer      string  `json:"layer"`
	Mechanism  string  `json:"mechanism"`
	Rule       string  `json:"rule"`
	Subject    Subject `json:"subject"`
	Confidence string  `json:"confidence"`
	Contested  bool    `json:"contested"` // another layer has equal evidence
	Onset      Time    `json:"onset"`
	Last       Time    `json:"last"` // the newest record of it, or when it was made good
	ClearedAt  *Time   `json:"cleared_at"`
	// GoneAt is when calls like its own got through for others, after none had while it failed: the cause is gone, and nobody has made
	// good what it did to this allocation. Set where allocations are judged among others.
	GoneAt *Time `json:"gone_at,omitempty"`
	// Failed are its calls that failed.
	Failed     []FailedCall `json:"failed_calls,omitempty"`
	Summary    string       `json:"summary"`
	NextCheck  string       `json:"next_check"`
	SafeAction string       `json:"safe_action"`
	Evidence   []string     `json:"evidence"`
	// Aside says that the verdict left it out, because of how far it and others reach.
	Aside bool `json:"aside,omitempty"`
}

// Subject is the party that a cause lies with, as narrowly as the evidence says: one node, one
// certificate, one host that was dialled, one provider, one component. Where it has several names (a
// host and its address), any of them in common makes it the same.
type Subject struct {
	Kind string   `json:"kind"` // node certificate host provider component layer allocation
	IDs  []string `json:"ids"`
	// Hosts are the names under which those who asked a component dialled it; of a component only. Who was answered by nobody knows
	// no component: for such an allocation the same party is a host.
	Hosts []string `json:"hosts,omitempty"`
}

// Shares says whether two subjects have a name in common.
func (s Subject) Shares(o Subject) bool {
	return s.Kind == o.Kind && overlaps(s.IDs, o.IDs) || overlaps(s.hosts(), o.hosts()) && s.Kind != o.Kind
}

// hosts are the names of a host, or of a component's.
func (s Subject) hosts() []string {
	if s.Kind == SubjectHost {
		return s.IDs
	}
	return s.Hosts
}

func overlaps(a, b []string) bool {
	return slices.ContainsFunc(a, func(one string) bool { return slices.Contains(b, one) })
}

// Kinds of a subject.
const (
	SubjectNode        = "node"
	SubjectCertificate = "certificate"
	SubjectHost        = "host"
	SubjectProvider    = "provider"
	SubjectComponent   = "component"
	SubjectLayer       = "layer"
	SubjectAllocation  = "allocation"
)

func (c *Case) occurrence(f Fault, byRef map[string]*Event, contested bool) FaultOccurrence {
	var evidence, symptoms []*Event
	last := int64(f.Onset)
	for _, ref := range f.Evidence {
		if e := byRef[ref]; e != nil {
			evidence = append(evidence, e)
			last = max(last, e.EndAt())
		}
	}
	for _, ref := range f.Symptoms {
		if e := byRef[ref]; e != nil {
			symptoms = append(symptoms, e)
			last = max(last, e.EndAt())
		}
	}
	h := FaultOccurrence{
		Layer: f.Layer, Mechanism: f.Mechanism, Rule: f.Rule, Confidence: f.Confidence, Contested: contested, Onset: f.Onset, Last: Time(last),
		ClearedAt: f.ClearedAt, Summary: f.Summary, NextCheck: f.NextCheck, SafeAction: f.SafeAction, Evidence: f.Evidence,
		Subject: c.subject(f, evidence, symptoms), Failed: failedCalls(evidence),
	}
	switch {
	case h.Subject.Kind == SubjectNode: // what others ask of other nodes tells nothing of this one
		h.Failed = slices.DeleteFunc(failedCalls(slices.Concat(evidence, symptoms)), func(f FailedCall) bool { return !OfOneNode(f.Call) })
	case h.Layer == semconv.LayerAPIAuth: // what others may tells nothing of who was refused
		h.Failed = slices.DeleteFunc(failedCalls(slices.Concat(evidence, symptoms)), func(f FailedCall) bool { return !OfOneSubject(f.Call) })
	case len(h.Failed) == 0:
		h.Failed = failedCalls(symptoms) // what proves the cause is somebody's own words
	}
	if f.ClearedAt != nil {
		h.Last = *f.ClearedAt
	}
	return h
}

// subject narrows a cause down by blast radius (docs/domain.md §4.10, rule 7): what is a node's own
// stays with the node, what is a user's with the allocation; everything else is shared by whoever uses
// the same host, provider or component.
func (c *Case) subject(f Fault, evidence, symptoms []*Event) Subject {
	named := func(kind string, of func(*Event) string) (Subject, bool) {
		s := Subject{Kind: kind, IDs: namesOf(evidence, of)}
		return s, len(s.IDs) > 0
	}
	whole := Subject{Kind: SubjectLayer, IDs: []string{f.Layer}}
	firstNamed := func(all ...func() (Subject, bool)) Subject {
		for _, one := range all {
			if s, ok := one(); ok {
				return s
			}
		}
		return whole
	}
	node := func() (Subject, bool) {
		// Peers that are cited because they do well are no part of it.
		if s, ok := named(SubjectNode, func(e *Event) string {
			if n := nodeOf(e); slices.Contains(c.Lifecycle.Nodes, n) {
				return n
			}
			return ""
		}); ok {
			return s, ok
		}
		return named(SubjectNode, nodeOf)
	}
	host := func() (Subject, bool) {
		s, ok := named(SubjectHost, dialled)
		if !ok { // those who suffer from it say whom they asked
			s = Subject{Kind: SubjectHost, IDs: namesOf(symptoms, dialled)}
		}
		return s, len(s.IDs) > 0
	}
	own := func() (Subject, bool) {
		s, ok := named(SubjectComponent, func(e *Event) string {
			if e.Layer != f.Layer {
				return ""
			}
			return e.Service
		})
		s.Hosts = namesOf(slices.Concat(evidence, symptoms), func(e *Event) string {
			if e.Layer == f.Layer {
				return "" // whom the component itself dialled
			}
			return dialled(e)
		})
		return s, ok
	}
	witness := func() (Subject, bool) {
		return named(SubjectComponent, func(e *Event) string {
			if e.IsEvent() {
				return ""
			}
			return e.Service
		})
	}
	switch f.Layer {
	case semconv.LayerClient:
		return Subject{Kind: SubjectAllocation, IDs: []string{c.ID}}
	case semconv.LayerNode, semconv.LayerNodeAgent:
		if s, ok := node(); ok {
			return s
		}
		return Subject{Kind: SubjectAllocation, IDs: []string{c.ID}} // nobody knows which node: it is nobody else's either
	case semconv.LayerCert:
		peer := func() (Subject, bool) { return named(SubjectCertificate, peerOf) }
		if slices.ContainsFunc(evidence, refusedUs) {
			return firstNamed(peer, node, host, witness)
		}
		return firstNamed(peer, host, own, witness)
	case semconv.LayerNetwork:
		return firstNamed(host, own, witness)
	case semconv.LayerProvider:
		return firstNamed(func() (Subject, bool) { return named(SubjectProvider, providerOf) }, own)
	case semconv.LayerDeploy:
		rolledOut := func() (Subject, bool) {
			return named(SubjectComponent, func(e *Event) string {
				if !e.Is(semconv.EventDeploy) {
					return ""
				}
				return e.Attr(semconv.Component)
			})
		}
		return firstNamed(rolledOut, own, host, witness)
	}
	return firstNamed(own, host, witness)
}

// namesOf are the different names that records give, in order.
func namesOf(events []*Event, of func(*Event) string) (out []string) {
	for _, e := range events {
		if id := of(e); id != "" && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// nodeOf is the node that a record speaks of.
func nodeOf(e *Event) string {
	return firstOf(e.Node, e.Own(identity.Node), e.Attr(semconv.HostName))
}

// peerOf is the certificate that a proxy names.
func peerOf(e *Event) string { return e.Attr(semconv.TLSPeerSubject) }

// refusedUs says whether the other side refused the certificate of the one who speaks, and who speaks is the one that dialled: a client's
// own, one node's matter (docs/domain.md §4.10, rule 3). Whoever was dialled says the same where its own was refused, which is everybody's.
func refusedUs(e *Event) bool {
	return strings.Contains(e.Text, "remote error: tls") && e.Layer != semconv.LayerIngress && !strings.Contains(e.Text, "handshake error from")
}

// providerOf is the provider's instance: "aap/prod" of "aap/prod/job/4201".
func providerOf(e *Event) string {
	parts := strings.Split(e.Own(identity.ProviderJob), "/")
	if len(parts) < 2 {
		return e.Attr(semconv.Provider)
	}
	return parts[0] + "/" + parts[1]
}

// target finds the host in the words of an error: a dial, a look-up, a URL.
var target = regexp.MustCompile(`(?:dial (?:tcp|udp)[46]? |lookup |https?://)(\[[0-9a-f:]+\]|[a-z0-9._-]+)`)

// dialled is the host that a record's caller wanted, "" where it names none.
func dialled(e *Event) string {
	if a := e.Attr(semconv.ServerAddress); a != "" {
		return strings.ToLower(a)
	}
	if m := target.FindStringSubmatch(e.Text); m != nil {
		return strings.Trim(m[1], "[].")
	}
	return ""
}
