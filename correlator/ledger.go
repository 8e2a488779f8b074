package correlator

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Ledger keeps what was said of allocations, each time that it changed.
type Ledger interface {
	// Write appends revisions. One that is written twice counts once.
	Write(ctx context.Context, revisions []Revision) error
	// Standings gives the last word on every allocation with something to tell (a verdict other than none,
	// drift, something stuck, an orphan) as of a time, 0 for now; examined counts all that have a word at all.
	Standings(ctx context.Context, asOf int64) (list []Standing, examined int, err error)
	// History gives the revisions of one allocation, oldest first; the newest ones where there are more than
	// most. Empty where nothing was ever said.
	History(ctx context.Context, allocation string, most int) ([]Revision, error)
	// Last gives the newest revision of each of these allocations, by id.
	Last(ctx context.Context, allocations []string) (map[string]Revision, error)
}

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
	ChangedBy []Arrival `json:"changed_by"`
	Standing  Standing  `json:"standing"`
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

// Essence is what a standing says, without what moves while nothing changes: "now", how long something
// has lasted, and the growing list of records that say the same. Two standings of one essence are no
// change.
func (s *Standing) Essence() string {
	type fault struct {
		Layer, Mechanism, Rule, Confidence string
		Onset                              Time
		Cleared                            *Time
	}
	type drift struct{ Projection, Field, Shown, Truth string }
	e := struct {
		State                *string
		Since                *Time
		Outcome              string
		Faults               []fault
		Candidates, Findings []string
		Drift                []drift
		Stuck, Orphans       []string
	}{State: s.State, Since: s.Since, Outcome: s.Verdict.Outcome}
	for _, f := range s.Verdict.Faults {
		e.Faults = append(e.Faults, fault{f.Layer, f.Mechanism, f.Rule, f.Confidence, f.Onset, f.ClearedAt})
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

// Revise gives the revision that leads from one standing to another, ok false where it is none. before is nil where
// nothing was said yet. arrived are the records since, in any order.
func Revise(before *Standing, after Standing, arrived []*Event) (r Revision, ok bool) {
	c := Revision{ID: after.ID, Differs: []string{}, ChangedBy: []Arrival{}, Standing: after, Why: BecauseRecords}
	switch {
	case before == nil:
		c.Why = BecauseFirst
	case before.Essence() == after.Essence():
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
		return cmp.Or(falseFirst(!cited[a.Ref], !cited[b.Ref]), falseFirst(!a.tells(), !b.tells()), compareEvents(a, b))
	})
	for _, e := range sorted[:min(len(sorted), maxArrivals)] {
		c.ChangedBy = append(c.ChangedBy, Arrival{e.Ref, e.Summary()})
	}
	return c, true
}

// Condense leaves out revisions that say what the one before said: while replicas hand over, two may say the
// same. The order is that of the history.
func Condense(revisions []Revision) []Revision {
	return slices.CompactFunc(revisions, func(a, b Revision) bool { return a.Standing.Essence() == b.Standing.Essence() })
}

// tells says whether a record is a lifecycle event or tells of a failure: the likelier reason for a change.
func (e *Event) tells() bool { return e.IsEvent() && isLifecycle(e.Name) || tellsOfFailure(e) }

// differences says in words what is not as it was.
func differences(a, b *Standing) []string {
	out := []string{}
	moved := func(what, from, to string) {
		if from != to {
			out = append(out, fmt.Sprintf("%s: %s → %s", what, firstOf(from, "none"), firstOf(to, "none")))
		}
	}
	causes := func(s *Standing) string {
		var all []string
		for _, f := range s.Verdict.Faults {
			all = append(all, f.Layer+"."+f.Mechanism)
		}
		return strings.Join(all, ", ")
	}
	cleared := func(s *Standing) string {
		var all []string
		for _, f := range s.Verdict.Faults {
			if f.ClearedAt != nil {
				all = append(all, f.Layer+"."+f.Mechanism)
			}
		}
		return strings.Join(all, ", ")
	}
	stuck := func(s *Standing) string {
		if s.Stuck == nil {
			return ""
		}
		return s.Stuck.What
	}
	drift := func(s *Standing) string {
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
	moved("stuck", stuck(a), stuck(b))
	moved("drift", drift(a), drift(b))
	moved("rules", a.Verdict.RulesVersion, b.Verdict.RulesVersion)
	if len(out) == 0 {
		out = append(out, "evidence, confidence or findings")
	}
	return out
}
