package correlator

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Gathering is a set of records, each once, resolved by all that the whole set says.
type Gathering struct {
	Profile *profile.Profile
	Index   *identity.Index
	Events  []*Event // in the order of their keys
	Now     int64    // the newest observed time
	Stats   Stats
	// Durations are what steps take, as Moment gave them; nil where the input is to tell.
	Durations Durations
	// Doubtful lists the refs of records that arrived with one key and different contents.
	Doubtful []string
	// Refused counts statements that could not be believed, by reason.
	Refused map[string]int

	keys []string // by input record
}

// Moment says from when one looks. The zero value is the newest observed time of the input.
type Moment struct {
	// AsOf leaves out what was observed later, and is "now". 0 takes all.
	AsOf int64
	// Now is the time of whoever judges a running platform; 0 is the newest observed time.
	Now int64
	// Durations are what steps take on this platform; nil learns them from the allocations of the input, where
	// there are enough.
	Durations Durations
}

// Gather merges duplicates, learns who belonged to whom, and resolves every record. facts are bindings
// that are known from elsewhere (the links table). The order of records does not matter.
func Gather(records []*record.Record, facts []identity.Fact, p *profile.Profile, m Moment) *Gathering {
	g := &Gathering{
		Profile: p, Index: identity.New(identity.Options{SharedNodes: p.SharedNodes}),
		Refused: map[string]int{}, keys: make([]string, len(records)), Durations: m.Durations,
	}
	byKey := make(map[string]*record.Record, len(records))
	taken := make([]*record.Record, 0, len(records))
	for i, r := range records {
		if m.AsOf != 0 && r.Observed > m.AsOf {
			continue
		}
		g.Stats.Records++
		taken = append(taken, r)
		key := r.Key()
		g.keys[i] = key
		before, again := byKey[key]
		if !again {
			byKey[key] = r
			continue
		}
		g.Stats.Duplicates++
		merged, conflict := record.Merge(before, r)
		if conflict {
			g.Stats.Conflicts++
			g.Doubtful = append(g.Doubtful, record.Ref(key))
		}
		byKey[key] = merged
	}
	for key, r := range byKey {
		g.Events = append(g.Events, &Event{Record: r, Key: key, Ref: record.Ref(key)})
	}
	// What watched Kubernetes objects mean, where no Collector has said it already.
	for _, r := range p.Objects().Expand(taken) {
		if key := r.Key(); byKey[key] == nil {
			g.Events = append(g.Events, &Event{Record: r, Key: key, Ref: record.Ref(key), derived: true})
		}
	}
	sortByKey(g.Events)
	slices.Sort(g.Doubtful)
	g.Doubtful = slices.Compact(g.Doubtful)
	for _, f := range facts {
		_ = g.Index.Add(f) // refused when it was learnt, if at all
	}
	for _, e := range g.Events {
		e.Keys = p.Keys(e.Record)
		if err := e.Learn(g.Index); err != nil {
			g.Refused[err.Error()]++
		}
	}
	g.resolve(m)
	return g
}

// sortByKey compares the keys' first eight bytes side by side; they are digests, so that decides.
func sortByKey(events []*Event) {
	type keyed struct {
		head uint64
		e    *Event
	}
	list := make([]keyed, len(events))
	for i, e := range events {
		var head [8]byte
		copy(head[:], e.Key)
		list[i] = keyed{binary.BigEndian.Uint64(head[:]), e}
	}
	slices.SortFunc(list, func(a, b keyed) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return cmp.Compare(a.e.Key, b.e.Key)
	})
	for i := range list {
		events[i] = list[i].e
	}
}

func (g *Gathering) resolve(m Moment) {
	g.Now = cmp.Or(m.AsOf, m.Now, newest(g.Events))
	for _, e := range g.Events {
		e.Resolution = g.Index.Resolve(e.Keys, e.Time, e.Observed)
		e.Layer = g.Profile.Layer(e.Service, e.Scope, e.Record.Attr)
		if e.Is(semconv.EventHeartbeat) {
			e.beats = g.Profile.Layer(e.Attr(semconv.Component), "", func(string) string { return "" })
		}
		e.Text = textOf(e.Record)
		e.Severity = g.Profile.Severity(e.Service, e.Body, e.Severity)
		e.HTTP = exchangeOf(e.Record)
		e.At = g.placed(e)
		e.fails = tellsOfFailure(e)
		if e.derived {
			continue // not a record of the input
		}
		if e.Allocation != "" {
			g.Stats.Resolved++
		} else {
			g.Stats.Unresolved++
		}
		g.Stats.Conflicts += min(1, len(e.Conflicts))
	}
}

// implausible is how far a stamped time may lie after the time at which the record was seen; nobody
// sees a record before it happens, and clocks of servers do not differ by days.
const implausible = int64(24 * time.Hour)

// placed is the time at which an event is put: as stamped, unless the installation did not exist then,
// or it lies in a future that nobody can have seen.
func (g *Gathering) placed(e *Event) int64 {
	if e.BeforeInstance || e.Time > e.Observed && e.Time-e.Observed > implausible || e.Time > g.Now && e.Time-g.Now > implausible {
		return min(e.Observed, g.Now)
	}
	return e.Time
}

// newest is the latest time at which a collector saw a record. A time that was never stamped by a
// collector (a span's end, a log's own time) counts only if it is no wild future, so that one broken
// clock does not make everything overdue.
func newest(events []*Event) int64 {
	var seen, claimed int64
	for _, e := range events {
		if e.Observed != e.Time && e.Observed != e.End {
			seen = max(seen, e.Observed)
		}
	}
	for _, e := range events {
		if seen == 0 || e.Observed <= seen+implausible {
			claimed = max(claimed, e.Observed)
		}
	}
	return max(seen, claimed)
}

// Attribution is whose one input record was.
type Attribution struct {
	N            int     `json:"n"`
	Ref          *string `json:"ref"`
	Allocation   *string `json:"allocation_id"`
	Node         *string `json:"node_id"`
	NodeInstance *string `json:"node_instance_id"`
	Workflow     *string `json:"workflow_id"`
	Via          *string `json:"via"`
}

// Attributions lists whose every input record was, in the order of the input, duplicates included.
func (g *Gathering) Attributions() []Attribution {
	byKey := make(map[string]*Event, len(g.Events))
	for _, e := range g.Events {
		byKey[e.Key] = e
	}
	out := make([]Attribution, 0, len(g.keys))
	for i, key := range g.keys {
		a := Attribution{N: i + 1}
		if e := byKey[key]; e != nil {
			a.Ref, a.Allocation, a.Node = known(e.Ref), known(e.Allocation), known(e.Node)
			a.NodeInstance, a.Workflow, a.Via = known(e.NodeInstance), known(e.Workflow), known(string(e.Via))
		}
		out = append(out, a)
	}
	return out
}

func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
