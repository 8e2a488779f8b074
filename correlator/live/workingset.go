package live

import (
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// WorkingSet keeps the records of many allocations in memory, each read once, so that a case can be judged
// again whenever something arrives. It gives the verdict that reading the whole record set would give, as far as
// its bounds reach: a record that arrives late, twice, or before anyone knew whose it was changes what is
// judged next, whatever the order. One goroutine at a time.
type WorkingSet struct {
	profile *profile.Profile
	rules   []correlator.Rule
	words   *needles.Set // what makes a record of any severity worth keeping
	bounds  Bounds
	index   *identity.Index
	now     int64

	events  map[string]*correlator.Event // by key
	entries map[string]*entry            // by allocation

	unclaimed   []*correlator.Event // not attributed to an allocation yet; in order of arrival
	context     []*correlator.Event // unattributed, and may be cited anywhere; in order of time
	ordinary    ordinaryLines
	answers     ordinaryLines                  // what allocations were answered (see correlator.Event.Answers), whoever judges them
	nodeLines   map[string][]*correlator.Event // unattributed, what a node said; in order of arrival
	heartbeats  map[heartbeat]int              // signs of life that were kept, by component and minute
	allocations map[string]map[string]bool     // node, in lower case: allocations with records of it

	touched      map[string]bool
	hints        map[string]bool
	ahead        map[string]int // see Ahead
	invalidation Invalidation
	high         int64 // the newest time of arrival
	durations    correlator.Durations
	liveness     *correlator.Liveness
}

// entry is one allocation of the working set.
type entry struct {
	events   []*correlator.Event
	arrived  []*correlator.Event // since the last judgement
	heard    int64               // the newest time of arrival
	foreign  []*correlator.Event // stamped with it, and not its own
	moved    bool                // see Judged.Moved
	begun    bool                // its beginning is here
	judged   int64               // the newest time of arrival of anything, when it was last judged
	grounded grounded
}

// NewWorkingSet gives an empty working set.
func NewWorkingSet(p *profile.Profile, rules []correlator.Rule, bounds Bounds) *WorkingSet {
	return &WorkingSet{
		profile: p, rules: rules, words: tellingWords(rules), bounds: bounds,
		index:  identity.New(identity.Options{SharedNodes: p.SharedNodes, MaxSubjects: bounds.Subjects, Forget: true}),
		events: map[string]*correlator.Event{}, entries: map[string]*entry{}, nodeLines: map[string][]*correlator.Event{}, heartbeats: map[heartbeat]int{},
		touched: map[string]bool{}, hints: map[string]bool{}, ahead: map[string]int{}, liveness: correlator.NewLiveness(),
		allocations: map[string]map[string]bool{}, invalidation: Invalidation{Named: map[string]bool{}},
	}
}

// tellingWords are those that make a record of any severity worth keeping.
func tellingWords(rules []correlator.Rule) *needles.Set {
	var words []string
	for _, r := range rules {
		words = append(words, r.Words...)
	}
	return needles.Of(words...)
}

// Add takes records and links in and gives the allocations that they concern, sorted. A record that is there
// already changes nothing.
func (w *WorkingSet) Add(records []*record.Record, links []identity.Link) []string {
	before := w.index.Stats().Subjects
	for _, l := range links {
		_ = w.index.Add(l) // refused when it was learnt, if at all
	}
	fresh := w.merge(records)
	for _, e := range fresh {
		e.Resolve(w.index, w.profile, w.now)
	}
	for _, e := range fresh {
		w.place(e)
	}
	if len(fresh) > 0 || w.index.Stats().Subjects != before {
		w.reattribute()
	}
	w.bound()
	out := make([]string, 0, len(w.touched))
	for id := range w.touched {
		out = append(out, id)
	}
	clear(w.touched)
	slices.Sort(out)
	return out
}

// merge gives the events that are new, or are not as they were, and learns the links that they state.
func (w *WorkingSet) merge(records []*record.Record) (fresh []*correlator.Event) {
	for _, r := range records {
		key := r.Key()
		if e := w.events[key]; e != nil {
			if merged, conflict := record.Merge(e.Record, r); conflict {
				w.remove(e)
				*e = *correlator.NewEvent(merged, key, w.profile)
				_ = e.Learn(w.index)
				fresh = append(fresh, e)
			}
			continue
		}
		e := correlator.NewEvent(r, key, w.profile)
		_ = e.Learn(w.index) // what is refused is counted by whoever reads the whole record set
		w.events[key] = e
		w.now, w.high = max(w.now, w.seen(r)), max(w.high, r.Ingested)
		fresh = append(fresh, e)
	}
	return fresh
}

// claimSlack is how far the clock of who observed a record may be ahead of the clock of who brought it to the store.
const claimSlack = int64(time.Minute)

// seen is when a record was observed, as far as that can be: nobody brings to the store what is yet to be seen. What claims more
// would make everybody late for good; it is counted by its emitter.
func (w *WorkingSet) seen(r *record.Record) int64 {
	if r.Ingested == 0 || r.Observed <= r.Ingested+claimSlack {
		return r.Observed
	}
	w.ahead[r.Service]++
	return r.Ingested
}

// Ahead gives, and forgets, how many records claimed to be observed after they were brought to the store, by emitter.
func (w *WorkingSet) Ahead() map[string]int {
	out := w.ahead
	w.ahead = map[string]int{}
	return out
}

// place puts an event where it belongs.
func (w *WorkingSet) place(e *correlator.Event) {
	if id := e.StampedAllocation(); id != e.Allocation {
		w.noteMoved(e, id)
	}
	if e.Allocation == "" {
		w.keepUnattributed(e)
		return
	}
	if e.Answers() {
		w.answers.add(e)
	}
	if w.bounds.Mine != nil && !w.bounds.Mine(e.Allocation) {
		delete(w.events, e.Key)
		return
	}
	f := w.entries[e.Allocation]
	if f == nil {
		f = &entry{}
		w.entries[e.Allocation] = f
	}
	f.heard = max(f.heard, e.Ingested, e.Observed)
	if e.Node != "" {
		w.noteNode(e.Node, e.Allocation)
	}
	f.begun = f.begun || e.Is(semconv.EventAllocationState) && e.To() == semconv.Requested
	w.touched[e.Allocation] = true
	w.liveness.Note(e)
	f.arrived = append(f.arrived, e)
	if n := len(f.events); n >= w.bounds.Own && (n >= 2*w.bounds.Own || !e.Significant()) {
		delete(w.events, e.Key)
		return
	}
	f.events = append(f.events, e)
}

// noteMoved notes that an event is not whose its stamp says.
func (w *WorkingSet) noteMoved(e *correlator.Event, stamped string) {
	if f := w.entries[stamped]; f != nil && !slices.Contains(f.foreign, e) {
		f.foreign, f.moved = append(f.foreign, e), true
	}
	if f := w.entries[e.Allocation]; f != nil {
		f.moved = true
	}
}

// remove takes an event away from where it was placed.
func (w *WorkingSet) remove(e *correlator.Event) {
	w.answers.remove(e)
	if f := w.entries[e.Allocation]; f != nil {
		f.events, f.arrived = without(f.events, e), without(f.arrived, e)
		w.touched[e.Allocation] = true
		return
	}
	w.unclaimed = without(w.unclaimed, e)
	w.forgetUnattributed(e)
}

// noteNode notes that a node's records are an allocation's.
func (w *WorkingSet) noteNode(node, allocation string) {
	node = strings.ToLower(node)
	if w.allocations[node] == nil {
		w.allocations[node] = map[string]bool{}
	}
	w.allocations[node][allocation] = true
}

// UseDurations takes what steps took lately; nil forgets it.
func (w *WorkingSet) UseDurations(d correlator.Durations) { w.durations = d }

// Now is the newest time that anything was observed.
func (w *WorkingSet) Now() int64 { return w.now }
