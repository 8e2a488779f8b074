package correlator

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Desk keeps the records of many allocations in memory, each read once, so that a case can be judged
// again whenever something arrives. It gives the verdict that reading the whole story would give, as far as
// its bounds reach: a record that arrives late, twice, or before anyone knew whose it was changes what is
// judged next, whatever the order. One goroutine at a time.
type Desk struct {
	profile *profile.Profile
	rules   []Rule
	opt     DeskOptions
	index   *identity.Index
	now     int64

	events    map[string]*Event // everything held, by key
	folders   map[string]*folder
	unclaimed []*Event            // whose it is, nobody knows yet; in order of arrival
	context   []*Event            // of nobody, and may be cited anywhere; in order of time
	lines     map[string][]*Event // of nobody, what a machine said; in order of arrival
	beats     map[beat]int        // signs of life that were kept, by component and minute
	touched   map[string]bool
	hints     map[string]bool
	homes     map[string]map[string]bool // machine, in lower case: allocations with records of it
	stir      Stir
	high      int64 // the newest time of arrival
	took      Durations
	signs     signs
}

// folder is one allocation on the desk.
type folder struct {
	events  []*Event
	arrived []*Event // since the last judgement
	clipped int      // records that were not kept
	heard   int64    // the newest time of arrival
	begun   bool     // its beginning is here
	judged  int64    // the newest time of arrival of anything, when it was last judged
}

// NewDesk gives an empty desk.
func NewDesk(p *profile.Profile, rules []Rule, opt DeskOptions) *Desk {
	return &Desk{
		profile: p, rules: rules, opt: opt, index: identity.New(identity.Options{SharedNodes: p.SharedNodes, MaxSubjects: opt.Subjects, Forget: true}),
		events: map[string]*Event{}, folders: map[string]*folder{}, lines: map[string][]*Event{}, beats: map[beat]int{}, touched: map[string]bool{}, hints: map[string]bool{},
		signs: signs{map[string][]*Event{}}, homes: map[string]map[string]bool{}, stir: Stir{Named: map[string]bool{}},
	}
}

// Take puts records and facts on the desk and gives the allocations that they concern, sorted. A record that is there
// already changes nothing.
func (d *Desk) Take(records []*record.Record, facts []identity.Fact) []string {
	before := d.index.Stats().Subjects
	for _, f := range facts {
		_ = d.index.Add(f) // refused when it was learnt, if at all
	}
	fresh := &Gathering{Profile: d.profile, Index: d.index}
	for _, r := range records {
		key := r.Key()
		if e := d.events[key]; e != nil {
			if merged, conflict := record.Merge(e.Record, r); conflict {
				d.replace(e, merged)
				fresh.Events = append(fresh.Events, e)
			}
			continue
		}
		e := &Event{Record: r, Key: key, Ref: record.Ref(key)}
		e.Keys = d.profile.Keys(r)
		_ = e.Learn(d.index) // what is refused is counted by whoever reads the whole story
		d.events[key] = e
		d.now, d.high = max(d.now, r.Observed), max(d.high, r.Ingested)
		fresh.Events = append(fresh.Events, e)
	}
	fresh.resolve(Moment{Now: d.now})
	for _, e := range fresh.Events {
		d.file(e)
	}
	if len(fresh.Events) > 0 || d.index.Stats().Subjects != before {
		d.claim()
	}
	d.bound()
	out := make([]string, 0, len(d.touched))
	for id := range d.touched {
		out = append(out, id)
	}
	clear(d.touched)
	slices.Sort(out)
	return out
}

// replace settles two records of one key.
func (d *Desk) replace(e *Event, merged *record.Record) {
	d.unfile(e)
	*e = Event{Record: merged, Key: e.Key, Ref: e.Ref}
	e.Keys = d.profile.Keys(merged)
	_ = e.Learn(d.index)
}

// file puts an event where it belongs.
func (d *Desk) file(e *Event) {
	if e.Allocation == "" {
		d.unowned(e)
		return
	}
	if d.opt.Mine != nil && !d.opt.Mine(e.Allocation) {
		delete(d.events, e.Key)
		return
	}
	f := d.folders[e.Allocation]
	if f == nil {
		f = &folder{}
		d.folders[e.Allocation] = f
	}
	f.heard = max(f.heard, e.Ingested, e.Observed)
	if e.Node != "" {
		d.home(e.Node, e.Allocation)
	}
	f.begun = f.begun || e.Is(semconv.EventAllocationState) && e.To() == semconv.Requested
	d.touched[e.Allocation] = true
	d.signs.note(e)
	f.arrived = append(f.arrived, e)
	if n := len(f.events); n >= d.opt.Own && (n >= 2*d.opt.Own || !e.tells()) {
		f.clipped++
		delete(d.events, e.Key)
		return
	}
	f.events = append(f.events, e)
}

func (d *Desk) unfile(e *Event) {
	if f := d.folders[e.Allocation]; f != nil {
		f.events = without(f.events, e)
		d.touched[e.Allocation] = true
		return
	}
	d.unclaimed = without(d.unclaimed, e)
	d.forgetUnowned(e)
}

// Judged is what judging an allocation on the desk gives.
type Judged struct {
	Standing Standing
	Arrived  []*Event   // since it was last judged
	Finished []Finished // its steps that came to their proper end, those given before among them
	Waits    bool       // a deadline has passed, and what met it may still be under way: judge again when that has settled
}

// Learn takes what steps took lately; nil forgets it.
func (d *Desk) Learn(took Durations) { d.took = took }

// Judge gives how things stand with an allocation. What was observed until settled (0: ever) is here or never comes: a
// deadline that passed later is not held against anybody yet. ok is false where the desk has nothing of it.
func (d *Desk) Judge(allocation string, settled int64) (out Judged, ok bool) {
	f := d.folders[allocation]
	if f == nil {
		return Judged{}, false
	}
	own := make([]*Event, 0, len(f.events))
	clock := Gathering{Now: d.now}
	for _, e := range f.events {
		e.Resolution = d.index.Resolve(e.Keys, e.Time, e.Observed)
		e.At = clock.placed(e)
		if e.Allocation == allocation {
			own = append(own, e)
			continue
		}
		d.file(e) // what is known by now says otherwise
	}
	if f.events = own; len(own) == 0 {
		delete(d.folders, allocation)
		return Judged{}, false
	}
	c := &Case{ID: allocation, Profile: d.profile, Index: d.index, Now: d.now, Durations: d.took, others: &d.signs}
	c.Events, c.families = order(own)
	c.Context = d.around(own)
	c.Lifecycle = readLifecycle(c)
	if settled != 0 {
		c.grace = max(0, d.now-settled)
	}
	c.Troubles = findTroubles(c)
	s := c.Standing(d.rules)
	arrived := f.arrived
	f.arrived = nil
	if len(s.Verdict.Faults) > 0 && f.judged != 0 {
		cited := c.eventsByRef(s.Verdict.Faults)
		for _, e := range c.Context {
			if e.Ingested > f.judged && cited[e.Ref] == e {
				arrived = append(arrived, e)
			}
		}
	}
	f.judged = d.high
	return Judged{s, arrived, c.Lifecycle.finished(allocation), c.grace > 0 && slices.ContainsFunc(c.Obligations(), c.waitsFor)}, true
}

// home notes that a machine's records are an allocation's.
func (d *Desk) home(node, allocation string) {
	node = strings.ToLower(node)
	if d.homes[node] == nil {
		d.homes[node] = map[string]bool{}
	}
	d.homes[node][allocation] = true
}

// Holds says whether an allocation lies on the desk, and whether from its beginning.
func (d *Desk) Holds(allocation string) (holds, begun bool) {
	f := d.folders[allocation]
	return f != nil, f != nil && f.begun
}

// First is the earliest time that a record of an allocation on the desk states, 0 where there is none.
func (d *Desk) First(allocation string) int64 {
	f := d.folders[allocation]
	if f == nil || len(f.events) == 0 {
		return 0
	}
	first := f.events[0].Time
	for _, e := range f.events[1:] {
		first = min(first, e.Time)
	}
	return first
}

// Whole notes that an allocation lies on the desk from its beginning.
func (d *Desk) Whole(allocation string) {
	if f := d.folders[allocation]; f != nil {
		f.begun = true
	}
}

// Begun notes that all that the store knows of an allocation has been read, and is on the desk.
func (d *Desk) Begun(allocation string) {
	if f := d.folders[allocation]; f != nil {
		f.begun, f.arrived = true, nil
	}
}

// Now is the newest time that anything was observed.
func (d *Desk) Now() int64 { return d.now }

// Heard is when an allocation's newest record arrived, 0 where the desk has none.
func (d *Desk) Heard(allocation string) int64 {
	if f := d.folders[allocation]; f != nil {
		return f.heard
	}
	return 0
}

// Tells says whether anything that arrived since an allocation was last judged is likely to change its
// verdict: a lifecycle event, or a failure.
func (d *Desk) Tells(allocation string) bool {
	f := d.folders[allocation]
	return f != nil && slices.ContainsFunc(f.arrived, (*Event).tells)
}
