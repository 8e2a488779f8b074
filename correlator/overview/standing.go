package overview

import (
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Standing is where one allocation stands, for who counts them all.
type Standing struct {
	State     *string
	Since     *correlator.Time
	Last      correlator.Time
	Providers []string
	// Outcome is "" where it was not judged yet.
	Outcome string
	// Assessment is nil where there is nothing to tell. It must not be changed.
	Assessment *correlator.Assessment
}

// Each shows every allocation, in no order, until do gives false. do must ask nothing of the overview. ok is false before the first reading is
// done.
func (o *Overview) Each(do func(Standing) bool) (ok bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	for _, r := range o.byLast {
		s := Standing{State: r.head.State, Since: r.head.Since, Last: r.head.Last, Providers: r.provider}
		if r.said != nil {
			s.Outcome = r.said.Assessment.Verdict.Outcome
		}
		if r.telling() {
			s.Assessment = &r.said.Assessment
		}
		if !do(s) {
			break
		}
	}
	return o.ready
}

// Watcher is told of what changes after the first reading, while the overview is locked: it must ask nothing of it.
type Watcher interface {
	// Moved is told that an allocation is in another state than at the last look.
	Moved(Move)
	// Judged is told that another outcome is said of an allocation than before; from is "" where nothing had been said.
	Judged(from, to string)
}

// Move is a change of state between two looks. States that were passed through meanwhile are not in it.
type Move struct {
	From, To string // From is "" for an allocation that was not known
	// Stayed is how long it was in From, by what records state; negative where that is not known.
	Stayed int64
	// Operation is provision or release where the move ends one, with its outcome and how long it took; else "".
	Operation, Outcome string
	Took               int64
}

// Operations of an allocation, and how they end.
const (
	Provision = "provision" // from the first record to active
	Release   = "release"   // from releasing to released; what is released again after a failure began with the first try
	Succeeded = "succeeded"
	Failed    = "failed"
)

// WithWatcher has a watcher told of changes. It comes before Follow.
func (o *Overview) WithWatcher(w Watcher) *Overview {
	o.watcher = w
	return o
}

// move tells of a row whose state is about to become another one, and keeps when its release began.
func (o *Overview) move(r *row, h *headOf) {
	if h.state == semconv.Releasing && r.releasing == 0 {
		r.releasing = h.since
	}
	if o.watcher == nil || !o.ready || !o.whole {
		return // what was there before is no change, and what was let go of may come again
	}
	m := Move{To: h.state, Stayed: -1}
	if r.head.State != nil {
		m.From = *r.head.State
		if r.head.Since != nil && h.since >= *r.head.Since {
			m.Stayed = int64(h.since - *r.head.Since)
		}
	}
	begun := correlator.Time(0)
	switch {
	case slices.Contains(beforeActive, m.From) && h.state == semconv.Active:
		m.Operation, m.Outcome, begun = Provision, Succeeded, h.first
	case slices.Contains(beforeActive, m.From) && h.state == semconv.Failed:
		m.Operation, m.Outcome, begun = Provision, Failed, h.first
	case h.state == semconv.Released:
		m.Operation, m.Outcome, begun = Release, Succeeded, r.releasing
	case h.state == semconv.ReleaseFailed:
		m.Operation, m.Outcome, begun = Release, Failed, r.releasing
	}
	if begun == 0 || begun > h.since {
		m.Operation, m.Outcome = "", ""
	} else {
		m.Took = int64(h.since - begun)
	}
	o.watcher.Moved(m)
}

// beforeActive are the states of an allocation that is being provisioned; "" is one of which nothing was known.
var beforeActive = []string{"", semconv.Requested, semconv.Reserved, semconv.Provisioning}

// headOf is what a move needs of a head that states something.
type headOf struct {
	state        string
	since, first correlator.Time
}
