package incident_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/story"
)

// silentNodes is a platform on which tasks of some nodes were never claimed, though the nodes are alive.
func silentNodes(t *testing.T, nodes int, apart int) []correlator.Allocation {
	t.Helper()
	var b strings.Builder
	for i := range nodes {
		at := func(s int) string { s += i * apart; return fmt.Sprintf("10:%02d:%02d", s/60, s%60) }
		fmt.Fprintf(&b, "%s provisioner allocation.state allocation_id=a-%d from=reserved to=provisioning\n", at(0), i)
		fmt.Fprintf(&b, "09:59:00 node-agent info resource.node_id=n-%d | polling\n", i)
		fmt.Fprintf(&b, "%s provisioner task.state allocation_id=a-%d task_id=k-%d node_id=n-%d type=wipe to=queued\n", at(1), i, i, i)
		fmt.Fprintf(&b, "%s kernel info resource.node_id=n-%d | eth0: link is up\n", at(30), i)
		fmt.Fprintf(&b, "%s provisioner task.state allocation_id=a-%d task_id=k-%d node_id=n-%d type=wipe to=lost\n", at(120), i, i, i)
	}
	records, err := story.Parse(b.String())
	if err != nil {
		t.Fatal(err)
	}
	return query.Analyze(correlator.NewDataset(records, nil, profileOf(t), correlator.AsOf{}), rules.All()).Allocations
}

// One agent that is silent while its node is alive is that agent's fault. Three at once share a reason that
// nobody has told of: no agent is blamed, and what stands between is suspected.
func TestNodesThatFallSilentTogether(t *testing.T) {
	for _, c := range []struct {
		nodes, apart int
		want         string
	}{{1, 0, correlator.Attributed}, {2, 10, correlator.Attributed}, {3, 10, correlator.Undetermined}, {3, 600, correlator.Attributed}} {
		for _, a := range silentNodes(t, c.nodes, c.apart) {
			if a.Verdict.Outcome != c.want || c.want == correlator.Attributed && a.Verdict.Faults[0].Layer != "node_agent" {
				t.Errorf("%d nodes %d s apart: %s: %s: %s", c.nodes, c.apart, a.ID, a.Verdict.Outcome, a.Verdict.Explanation)
			}
			if c.want != correlator.Undetermined {
				continue
			}
			if !slices.ContainsFunc(a.Verdict.Candidates, func(x correlator.Candidate) bool { return x.Layer == "ingress" }) ||
				!slices.ContainsFunc(a.Verdict.Findings, func(f correlator.Finding) bool { return f.Kind == "blast_radius" }) {
				t.Errorf("%+v", a.Verdict)
			}
		}
	}
}

// Of two causes with equal evidence, what two others suffer too is preferred; where both are shared, or neither is,
// it stays contested.
func TestEqualEvidenceIsDecidedByReach(t *testing.T) {
	p := profileOf(t)
	fault := func(layer string) correlator.Fault {
		return correlator.Fault{Layer: layer, Mechanism: "m", Rule: layer + ".m", Onset: 1e9, Evidence: []string{"e-" + layer}}
	}
	hit := func(layer, subject string) correlator.FaultOccurrence {
		return correlator.FaultOccurrence{Layer: layer, Mechanism: "m", Rule: layer + ".m", Onset: 1e9, Evidence: []string{"e-" + layer}, Subject: correlator.Subject{Kind: correlator.SubjectComponent, IDs: []string{subject}}}
	}
	for _, c := range []struct {
		name          string
		others        map[string][]correlator.FaultOccurrence
		outcome, kept string
		reason        incident.Reason
	}{
		{"nobody else", nil, correlator.Contested, "", incident.Alone},
		{"one other", map[string][]correlator.FaultOccurrence{"b": {hit("db", "db")}}, correlator.Contested, "", incident.Alone},
		{"two others", map[string][]correlator.FaultOccurrence{"b": {hit("db", "db")}, "c": {hit("db", "db")}}, correlator.Attributed, "db", incident.SharedWins},
		{"two others elsewhere", map[string][]correlator.FaultOccurrence{"b": {hit("db", "db-2")}, "c": {hit("db", "db-3")}}, correlator.Contested, "", incident.Alone},
		{"both shared", map[string][]correlator.FaultOccurrence{"b": {hit("db", "db"), hit("api", "api")}, "c": {hit("db", "db")}}, correlator.Contested, "", incident.SharedCause},
	} {
		faults := incident.NewFaultIndex()
		for id, hits := range c.others {
			faults.Add(&correlator.Assessment{ID: id, Occurrences: hits})
		}
		s := correlator.Assessment{ID: "a", Occurrences: []correlator.FaultOccurrence{hit("api", "api"), hit("db", "db")}}
		s.Verdict.Outcome, s.Verdict.Faults = correlator.Contested, []correlator.Fault{fault("api"), fault("db")}
		faults.Add(&s)
		before := s.Fingerprint()
		alone := s
		s, reason := faults.ApplyBlastRadius(alone, p)
		if alone.Fingerprint() != before {
			t.Errorf("%s: the assessment that was given has changed", c.name)
		}
		if reason != c.reason {
			t.Errorf("%s: because %q, want %q", c.name, reason, c.reason)
		}
		if s.Verdict.Outcome != c.outcome || c.kept != "" && (len(s.Verdict.Faults) != 1 || s.Verdict.Faults[0].Layer != c.kept) {
			t.Errorf("%s: %s, %d faults", c.name, s.Verdict.Outcome, len(s.Verdict.Faults))
		}
		if got := incident.Group([]correlator.Assessment{s}, 0, incident.Window); len(got) != len(s.Verdict.Faults) {
			t.Errorf("%s: %d incidents of %d faults", c.name, len(got), len(s.Verdict.Faults))
		}
		faults.Drop("a")
		for f := range faults.Of(incident.Cause{Layer: "api", Mechanism: "m", To: 2e9}) {
			if f.Allocation == "a" {
				t.Errorf("%s: dropped, and still there", c.name)
			}
		}
	}
}
