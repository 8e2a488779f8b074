package incident_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
)

// TestOnePartyOfTwoNames: who was answered by a component knows its name, who was not knows the host that it dialled.
func TestOnePartyOfTwoNames(t *testing.T) {
	start := time.Date(2026, 10, 1, 10, 0, 0, 0, time.UTC)
	hit := func(minute int, id string, s correlator.Subject) correlator.Assessment {
		onset := correlator.Time(start.Add(time.Duration(minute) * time.Minute).UnixNano())
		return correlator.Assessment{ID: id, Occurrences: []correlator.FaultOccurrence{{
			Layer: "api", Mechanism: "crash", Rule: "api.crash", Subject: s, Confidence: correlator.High, Onset: onset, Last: onset, Evidence: []string{},
		}}}
	}
	component := func(id string, hosts ...string) correlator.Subject {
		return correlator.Subject{Kind: correlator.SubjectComponent, IDs: []string{id}, Hosts: hosts}
	}
	host := func(id string) correlator.Subject {
		return correlator.Subject{Kind: correlator.SubjectHost, IDs: []string{id}}
	}
	f := func(name, want string, all ...correlator.Assessment) {
		t.Helper()
		got := told(incident.Group(all, 0, incident.Window))
		if d := cmp.Diff(strings.TrimSpace(want), strings.TrimSpace(got)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	f("a component and its host are one party", `
api.crash · component · node-api · open · a-1 a-2 a-3`,
		hit(0, "a-1", host("api.internal")), hit(1, "a-2", component("node-api", "api.internal")), hit(2, "a-3", host("api.internal")))
	f("a component that nobody dialled by that name is another one", `
api.crash · component · node-api · open · a-2
api.crash · host · api.internal · open · a-1`,
		hit(0, "a-1", host("api.internal")), hit(1, "a-2", component("node-api", "other.internal")))
	f("two components behind one gateway stay two", `
api.crash · component · control-api · open · a-2
api.crash · component · node-api · open · a-1`,
		hit(0, "a-1", component("node-api", "gateway")), hit(1, "a-2", component("control-api", "gateway")))
	f("long after is another incident", `
api.crash · component · node-api · open · a-2
api.crash · host · api.internal · over · a-1`,
		cleared(hit(0, "a-1", host("api.internal"))), hit(40, "a-2", component("node-api", "api.internal")))
}

func cleared(a correlator.Assessment) correlator.Assessment {
	at := a.Occurrences[0].Last
	a.Occurrences[0].ClearedAt = &at
	return a
}
