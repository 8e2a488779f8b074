package memory

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/faultline-io/faultline/correlator"
)

// Ledger keeps verdicts in memory, for tests.
type Ledger struct {
	mu   sync.Mutex
	said map[string][]correlator.Revision // by allocation, in order of JudgedAt
}

var _ correlator.Ledger = (*Ledger)(nil)

// Write implements correlator.Ledger.
func (l *Ledger) Write(_ context.Context, revisions []correlator.Revision) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.said == nil {
		l.said = map[string][]correlator.Revision{}
	}
	for _, r := range revisions {
		list := slices.DeleteFunc(l.said[r.ID], func(x correlator.Revision) bool {
			return x.JudgedAt == r.JudgedAt && x.Standing.Verdict.RulesVersion == r.Standing.Verdict.RulesVersion
		})
		list = append(list, r)
		slices.SortStableFunc(list, func(a, b correlator.Revision) int { return int(a.JudgedAt - b.JudgedAt) })
		l.said[r.ID] = list
	}
	return nil
}

// Standings implements correlator.Ledger.
func (l *Ledger) Standings(_ context.Context, asOf int64) ([]correlator.Standing, int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out, examined := []correlator.Standing{}, 0
	for _, list := range l.said {
		var last *correlator.Revision
		for i := range list {
			if asOf == 0 || int64(list[i].JudgedAt) <= asOf {
				last = &list[i]
			}
		}
		if last == nil {
			continue
		}
		examined++
		s := last.Standing
		if s.Verdict.Outcome != correlator.None || s.Stuck != nil || len(s.Verdict.Drift)+len(s.Orphans) > 0 {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b correlator.Standing) int { return strings.Compare(a.ID, b.ID) })
	return out, examined, nil
}

// History implements correlator.Ledger.
func (l *Ledger) History(_ context.Context, allocation string, most int) ([]correlator.Revision, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.said[allocation]
	return append([]correlator.Revision{}, list[max(0, len(list)-most):]...), nil
}

// Last implements correlator.Ledger.
func (l *Ledger) Last(_ context.Context, allocations []string) (map[string]correlator.Revision, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]correlator.Revision{}
	for _, id := range allocations {
		if list := l.said[id]; len(list) > 0 {
			out[id] = list[len(list)-1]
		}
	}
	return out, nil
}
