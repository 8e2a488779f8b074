package memory

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/faultline-io/faultline/correlator"
)

// VerdictHistory keeps verdicts in memory, for tests.
type VerdictHistory struct {
	mu        sync.Mutex
	revisions map[string][]correlator.Revision // by allocation, in order of JudgedAt
}

// Write implements live.VerdictHistory.
func (l *VerdictHistory) Write(_ context.Context, revisions []correlator.Revision) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.revisions == nil {
		l.revisions = map[string][]correlator.Revision{}
	}
	for _, r := range revisions {
		list := slices.DeleteFunc(l.revisions[r.ID], func(x correlator.Revision) bool {
			return x.JudgedAt == r.JudgedAt && x.Assessment.Verdict.RulesVersion == r.Assessment.Verdict.RulesVersion
		})
		list = append(list, r)
		slices.SortStableFunc(list, func(a, b correlator.Revision) int { return int(a.JudgedAt - b.JudgedAt) })
		l.revisions[r.ID] = list
	}
	return nil
}

// Assessments implements query.Kept.
func (l *VerdictHistory) Assessments(_ context.Context, asOf int64) ([]correlator.Assessment, int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out, examined := []correlator.Assessment{}, 0
	for _, list := range l.revisions {
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
		s := last.Assessment
		if s.Notable() {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b correlator.Assessment) int { return strings.Compare(a.ID, b.ID) })
	return out, examined, nil
}

// History implements query.Kept.
func (l *VerdictHistory) History(_ context.Context, allocation string, most int) ([]correlator.Revision, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.revisions[allocation]
	return append([]correlator.Revision{}, list[max(0, len(list)-most):]...), nil
}

// Last implements live.VerdictHistory.
func (l *VerdictHistory) Last(_ context.Context, allocations []string) (map[string]correlator.Revision, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := map[string]correlator.Revision{}
	for _, id := range allocations {
		if list := l.revisions[id]; len(list) > 0 {
			out[id] = list[len(list)-1]
		}
	}
	return out, nil
}
