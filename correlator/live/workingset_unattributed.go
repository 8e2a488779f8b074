package live

import (
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Invalidation says which assessments unattributed records may have changed.
type Invalidation struct {
	Named   map[string]bool // allocations whose nodes are named by a failure or an audited action
	General bool            // a failure, a rollout or an audited action that names no node came
	Signs   bool            // anything came: a sign of life
}

// heartbeat is one component in one minute.
type heartbeat struct {
	service, component string
	minute             int64
}

// keepUnattributed keeps what belongs to no allocation, or to none yet.
func (w *WorkingSet) keepUnattributed(e *correlator.Event) {
	w.unclaimed = append(w.unclaimed, e)
	if id, _ := e.Stamped.Get(semconv.AllocationID); id != "" && w.entries[id] == nil && (w.bounds.Mine == nil || w.bounds.Mine(id)) {
		w.hints[id] = true
	}
	switch {
	case e.Is(semconv.EventHeartbeat):
		b := heartbeat{e.Service, e.Attr(semconv.Component), e.At / int64(time.Minute)}
		if w.heartbeats[b]++; w.heartbeats[b] <= 2 {
			w.context = append(w.context, e)
		}
	case e.TellsOfFailure(), e.Is(semconv.EventDeploy), e.Is(semconv.EventAudit), !e.IsEvent() && w.words.Any(e.Text):
		w.context = append(w.context, e)
		w.invalidate(e)
	case !e.IsEvent():
		w.ordinary.add(e)
	}
	w.invalidation.Signs = true
	if e.Node != "" {
		w.nodeLines[e.Node] = append(w.nodeLines[e.Node], e)
	}
}

// reattribute looks again at what belonged to no allocation: a link that came late may say whose it is.
func (w *WorkingSet) reattribute() {
	kept := w.unclaimed[:0]
	for _, e := range w.unclaimed {
		at := e.At
		e.ResolveAgain(w.index, w.now)
		w.ordinary.moved(e, at)
		if e.Allocation == "" {
			kept = append(kept, e)
			continue
		}
		w.forgetUnattributed(e)
		w.place(e)
	}
	clear(w.unclaimed[len(kept):])
	w.unclaimed = kept
}

func (w *WorkingSet) forgetUnattributed(e *correlator.Event) {
	w.context = without(w.context, e)
	w.ordinary.remove(e)
	if e.Node != "" {
		w.nodeLines[e.Node] = without(w.nodeLines[e.Node], e)
	}
}

// invalidate notes which allocations an unattributed record may concern: those of the nodes that it names, by
// identifier or in its words; where it names none, any.
func (w *WorkingSet) invalidate(e *correlator.Event) {
	named := false
	for word := range correlator.NodeWords(e) {
		for id := range w.allocations[word] {
			w.invalidation.Named[id], named = true, true
		}
	}
	w.invalidation.General = w.invalidation.General || !named
}

// Invalidated gives what unattributed records may have changed since it was last asked.
func (w *WorkingSet) Invalidated() Invalidation {
	out := w.invalidation
	w.invalidation = Invalidation{Named: map[string]bool{}}
	return out
}

// contextMargin is how long before and after an allocation's own records others may be cited.
const contextMargin = int64(10 * time.Minute)

// complaintMargin is how long before them a complaint may be cited that was repeated since, and whatever their nodes said.
const complaintMargin = correlator.Throughout

// changeMargin is how long before them a rollout may be cited: what it broke may be asked for late.
const changeMargin = int64(3 * time.Hour)

// around are the unattributed records that a case may cite, in order of time: what any case may, and what its nodes said.
func (w *WorkingSet) around(own []*correlator.Event) []*correlator.Event {
	from, to := own[0].At, own[0].EndAt()
	nodes := map[string]bool{}
	for _, e := range own {
		from, to = min(from, e.At), max(to, e.EndAt())
		if e.Node != "" {
			nodes[e.Node] = true
		}
	}
	from, to = from-contextMargin, max(to, w.now)+contextMargin
	seen := map[*correlator.Event]bool{}
	var out []*correlator.Event
	add := func(list []*correlator.Event, within func(e *correlator.Event) bool) {
		for _, e := range list {
			if (e.At >= from && e.At <= to || within(e)) && !seen[e] {
				seen[e] = true
				out = append(out, e)
			}
		}
	}
	before := func(e *correlator.Event) bool { return e.At >= from-changeMargin && e.At <= to }
	add(w.context, func(e *correlator.Event) bool {
		return e.Is(semconv.EventDeploy) && before(e) || !e.IsEvent() && e.At >= from+contextMargin-complaintMargin && e.At <= to
	})
	for n := range nodes {
		// It may have been broken before it was given away, and its clock may be wrong by years.
		add(w.nodeLines[n], func(e *correlator.Event) bool {
			return e.TellsOfFailure() && before(e) || e.Observed >= from && e.Observed <= to || e.At >= from+contextMargin-complaintMargin && e.At <= to
		})
	}
	slices.SortFunc(out, correlator.CompareEvents)
	return out
}

// Hints gives the allocations that a Collector has stamped on records of which nothing here says whose they
// are: their record sets would tell. Each is given once.
func (w *WorkingSet) Hints() []string {
	out := make([]string, 0, len(w.hints))
	for id := range w.hints {
		out = append(out, id)
	}
	clear(w.hints)
	slices.Sort(out)
	return out
}
