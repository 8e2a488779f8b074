package correlator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Revision is what was said of one allocation from one moment on, and what made it so.
type Revision struct {
	ID       string `json:"allocation_id"`
	JudgedAt Time   `json:"judged_at"` // rises with every change of an allocation
	// HighWater is the ingest high-water mark: the newest time of arrival among what was judged.
	HighWater Time   `json:"high_water"`
	Why       string `json:"why"` // one of the Because names
	// Differs says in words what is not as it was.
	Differs []string `json:"differs"`
	// ChangedBy are the records that arrived since the judgement before, those that the verdict cites first.
	ChangedBy  []Arrival  `json:"changed_by"`
	Assessment Assessment `json:"assessment"`
}

// Why a verdict changed.
const (
	BecauseFirst   = "first"   // nothing had been said before
	BecauseRecords = "records" // records arrived
	BecauseTime    = "time"    // nothing arrived, and a deadline passed
	BecauseRules   = "rules"   // other rules judged
)

// Arrival is a record that arrived.
type Arrival struct {
	Ref     string `json:"ref"`
	Summary string `json:"summary"`
}

// maxArrivals bounds what a revision lists of what arrived.
const maxArrivals = 20

// Fingerprint is what an assessment says, without what moves while nothing changes: "now", how long something
// has lasted, and the growing list of records that say the same. Two assessments of one essence are no
// change.
func (s *Assessment) Fingerprint() string {
	type fault struct {
		Layer, Mechanism, Rule, Confidence string
		Onset                              Time
		Cleared                            *Time
	}
	type occurrence struct {
		Subject Subject
		Gone    *Time
	}
	type drift struct{ Projection, Field, Shown, Truth string }
	e := struct {
		State                *string
		Since                *Time
		Outcome              string
		Faults               []fault
		Occurrences          []occurrence
		Candidates, Findings []string
		Drift                []drift
		Stuck, Orphans       []string
	}{State: s.State, Since: s.Since, Outcome: s.Verdict.Outcome}
	for _, f := range s.Verdict.Faults {
		e.Faults = append(e.Faults, fault{f.Layer, f.Mechanism, f.Rule, f.Confidence, f.Onset, f.ClearedAt})
	}
	for _, o := range s.Occurrences {
		e.Occurrences = append(e.Occurrences, occurrence{o.Subject, o.GoneAt})
	}
	for _, c := range s.Verdict.Candidates {
		e.Candidates = append(e.Candidates, c.Layer)
	}
	for _, f := range s.Verdict.Findings {
		e.Findings = append(e.Findings, f.Kind)
	}
	slices.Sort(e.Findings)
	e.Findings = slices.Compact(e.Findings)
	for _, d := range s.Verdict.Drift {
		e.Drift = append(e.Drift, drift{d.Projection, d.Field, d.Shown, d.Truth})
	}
	if s.Stuck != nil {
		e.Stuck = []string{s.Stuck.What, s.Stuck.Owes, s.Stuck.Deadline.String()}
	}
	for _, o := range s.Orphans {
		e.Orphans = append(e.Orphans, o.ResourceUID)
	}
	text, _ := json.Marshal(e) // strings and numbers alone
	return string(text)
}

// Revise gives the revision that leads from one assessment to another, ok false where it is none. before is nil where
// nothing was said yet. arrived are the records since, in any order.
func Revise(before *Assessment, after Assessment, arrived []*Event) (r Revision, ok bool) {
	c := Revision{ID: after.ID, Differs: []string{}, ChangedBy: []Arrival{}, Assessment: after, Why: BecauseRecords}
	switch {
	case before == nil:
		c.Why = BecauseFirst
	case before.Fingerprint() == after.Fingerprint():
		return Revision{}, false
	case len(arrived) > 0:
	case before.Verdict.RulesVersion != after.Verdict.RulesVersion:
		c.Why = BecauseRules
	default:
		c.Why = BecauseTime
	}
	if before != nil {
		c.Differs = differences(before, &after)
	}
	cited := map[string]bool{}
	for _, f := range after.Verdict.Faults {
		for _, ref := range f.Evidence {
			cited[ref] = true
		}
	}
	sorted := slices.SortedFunc(slices.Values(arrived), func(a, b *Event) int {
		return cmp.Or(falseFirst(!cited[a.Ref], !cited[b.Ref]), falseFirst(!a.Significant(), !b.Significant()), CompareEvents(a, b))
	})
	for _, e := range sorted[:min(len(sorted), maxArrivals)] {
		c.ChangedBy = append(c.ChangedBy, Arrival{e.Ref, e.Summary()})
	}
	return c, true
}

// Condense leaves out revisions that say what the one before said: while replicas hand over, two may say the
// same. The order is that of the history.
func Condense(revisions []Revision) []Revision {
	return slices.CompactFunc(revisions, func(a, b Revision) bool { return a.Assessment.Fingerprint() == b.Assessment.Fingerprint() })
}

// differences says in words what is not as it was.
func differences(a, b *Assessment) []string {
	out := []string{}
	moved := func(what, from, to string) {
		if from != to {
			out = append(out, fmt.Sprintf("%s: %s → %s", what, firstOf(from, "none"), firstOf(to, "none")))
		}
	}
	causes := func(s *Assessment) string {
		var all []string
		for _, f := range s.Verdict.Faults {
			all = append(all, f.Layer+"."+f.Mechanism)
		}
		return strings.Join(all, ", ")
	}
	cleared := func(s *Assessment) string {
		var all []string
		for _, f := range s.Verdict.Faults {
			if f.ClearedAt != nil {
				all = append(all, f.Layer+"."+f.Mechanism)
			}
		}
		return strings.Join(all, ", ")
	}
	whose := func(s *Assessment) string {
		var all []string
		for _, o := range s.Occurrences {
			all = append(all, o.Subject.Kind+" "+strings.Join(o.Subject.IDs, " "))
		}
		return strings.Join(all, ", ")
	}
	gone := func(s *Assessment) string {
		var all []string
		for _, o := range s.Occurrences {
			if o.GoneAt != nil {
				all = append(all, o.Layer+"."+o.Mechanism)
			}
		}
		return strings.Join(all, ", ")
	}
	stuck := func(s *Assessment) string {
		if s.Stuck == nil {
			return ""
		}
		return s.Stuck.What
	}
	drift := func(s *Assessment) string {
		var all []string
		for _, d := range s.Verdict.Drift {
			all = append(all, d.Projection+" "+d.Field+" "+d.Shown)
		}
		return strings.Join(all, ", ")
	}
	moved("state", a.state(), b.state())
	moved("outcome", a.Verdict.Outcome, b.Verdict.Outcome)
	moved("faults", causes(a), causes(b))
	moved("cleared", cleared(a), cleared(b))
	moved("gone for others", gone(a), gone(b))
	moved("subject", whose(a), whose(b))
	moved("stuck", stuck(a), stuck(b))
	moved("drift", drift(a), drift(b))
	moved("rules", a.Verdict.RulesVersion, b.Verdict.RulesVersion)
	if len(out) == 0 {
		out = append(out, "evidence, confidence or findings")
	}
	return out
}
