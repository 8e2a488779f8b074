package query

import (
	"cmp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
)

// Listed is one allocation in a list: where it stands, and in one line what was said of it.
type Listed struct {
	ID       string           `json:"allocation_id"`
	State    *string          `json:"state"`
	Since    *correlator.Time `json:"since"`
	LastSeen correlator.Time  `json:"last_seen"`
	Tenant   string           `json:"tenant,omitempty"`
	Provider string           `json:"provider,omitempty"` // several stand with commas between them
	// Outcome is "" where it was not judged yet; Layer, Confidence and Team are of the strongest fault that is open, else of the strongest.
	Outcome    string `json:"outcome,omitempty"`
	Layer      string `json:"layer,omitempty"`
	Confidence string `json:"confidence,omitempty"`
	Team       string `json:"team,omitempty"`
	Summary    string `json:"summary,omitempty"`
	Stuck      bool   `json:"stuck,omitempty"`
	// OverdueSeconds is for how long its next step has been overdue.
	OverdueSeconds int64 `json:"overdue_seconds,omitempty"`
}

// Say adds in one line what an assessment says at a time.
func (l *Listed) Say(a *correlator.Assessment, now int64) {
	l.Outcome = a.Verdict.Outcome
	if f := tellingFault(a.Verdict.Faults); f != nil {
		l.Layer, l.Confidence, l.Team, l.Summary = f.Layer, f.Confidence, f.Owner.Team, f.Summary
	}
	if a.Stuck == nil {
		return
	}
	l.Stuck, l.OverdueSeconds = true, max(0, (now-int64(a.Stuck.Deadline))/1e9)
	l.Team, l.Summary = cmp.Or(l.Team, a.Stuck.Owner.Team), cmp.Or(l.Summary, a.Stuck.What)
}

// tellingFault is the strongest fault that is open, else the strongest; nil where there is none.
func tellingFault(faults []correlator.Fault) *correlator.Fault {
	for i := range faults {
		if faults[i].ClearedAt == nil {
			return &faults[i]
		}
	}
	if len(faults) > 0 {
		return &faults[0]
	}
	return nil
}

// Orders of a list.
const (
	ByLastSeen = ""              // the most recently heard of first; one page, since what is heard of moves
	ByID       = "allocation_id" // by identifier: pages that neither skip nor repeat what was there when the first was read
)

// ListQuery narrows a list; zero values do not.
type ListQuery struct {
	State, Layer, Outcome, Owner, Provider, Tenant string
	// Text is looked for word by word in the identifier and in what is said in one line; all words, in any order and case.
	Text     string
	Stuck    *bool
	From, To int64 // heard of at or after From, and first heard of before To
	Order    string
	After    string // with ByID: the last identifier of the page before
	Limit    int
	Scope    Scope // whose may be told of
}

// Matches says whether an allocation is one that is asked for. first is when it was first heard of.
func (q *ListQuery) Matches(l *Listed, first correlator.Time) bool {
	for _, c := range [...]struct{ want, have string }{{q.Layer, l.Layer}, {q.Outcome, l.Outcome}, {q.Owner, l.Team}, {q.Tenant, l.Tenant}} {
		if c.want != "" && c.want != c.have {
			return false
		}
	}
	switch {
	case !q.Scope.Sees(l.Tenant),
		q.State != "" && (l.State == nil || *l.State != q.State),
		q.Provider != "" && !slices.Contains(strings.Split(l.Provider, ","), q.Provider),
		q.Stuck != nil && l.Stuck != *q.Stuck,
		q.From != 0 && int64(l.LastSeen) < q.From,
		q.To != 0 && int64(first) >= q.To,
		q.Order == ByID && l.ID <= q.After:
		return false
	}
	return q.Text == "" || q.says(l)
}

func (q *ListQuery) says(l *Listed) bool {
	have := strings.ToLower(l.ID + " " + l.Summary + " " + l.Layer + " " + l.Team)
	for word := range strings.FieldsSeq(strings.ToLower(q.Text)) {
		if !strings.Contains(have, word) {
			return false
		}
	}
	return true
}
