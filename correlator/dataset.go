package correlator

import (
	"cmp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

// Dataset is a set of records, each once, resolved by all that the whole set says.
type Dataset struct {
	Profile *profile.Profile
	Index   *identity.Index
	Events  []*Event // in the order of their keys
	Now     int64    // the newest observed time
	Stats   Stats
	// Durations are what steps take, as AsOf gave them; nil where the input is to tell.
	Durations Durations
	// Doubtful lists the refs of records that arrived with one key and different contents.
	Doubtful []string
	// Refused counts statements that could not be believed, by reason.
	Refused map[string]int

	keys []string // by input record
}

// AsOf says from when one looks. The zero value is the newest observed time of the input.
type AsOf struct {
	// AsOf leaves out what was observed later, and is "now". 0 takes all.
	Until int64
	// Now is the time of whoever judges a running platform; 0 is the newest observed time.
	Now int64
	// Durations are what steps take on this platform; nil learns them from the allocations of the input, where
	// there are enough.
	Durations Durations
}

// keyed is a record with its key, worked out once.
type keyed struct {
	*record.Record
	key     string
	derived bool
}

// NewDataset merges duplicates, learns who belonged to whom, and resolves every record. links are bindings
// that are known from elsewhere (the links table). The order of records does not matter.
func NewDataset(records []*record.Record, links []identity.Link, p *profile.Profile, m AsOf) *Dataset {
	g := &Dataset{
		Profile: p, Index: identity.New(identity.Options{SharedNodes: p.SharedNodes}),
		Refused: map[string]int{}, keys: make([]string, len(records)), Durations: m.Durations,
	}
	byKey := make(map[string]*record.Record, len(records))
	taken := make([]*record.Record, 0, len(records))
	for i, r := range records {
		if m.Until != 0 && r.Observed > m.Until {
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
	read := make([]keyed, 0, len(byKey))
	for key, r := range byKey {
		read = append(read, keyed{r, key, false})
	}
	// What watched Kubernetes objects mean, where no Collector has said it already.
	for _, r := range p.Objects().Expand(taken) {
		if key := r.Key(); byKey[key] == nil {
			read = append(read, keyed{r, key, true})
		}
	}
	slices.SortFunc(read, func(a, b keyed) int { return cmp.Or(cmp.Compare(a.Time, b.Time), strings.Compare(a.key, b.key)) })
	side := make([]Event, len(read)) // side by side in memory: all that follows goes through them in about this order
	for i, k := range read {
		side[i] = Event{Record: k.Record, event: k.IsEvent(), Key: k.key, Ref: record.Ref(k.key), derived: k.derived}
		g.Events = append(g.Events, &side[i])
	}
	slices.Sort(g.Doubtful)
	g.Doubtful = slices.Compact(g.Doubtful)
	for _, f := range links {
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

func (g *Dataset) resolve(m AsOf) {
	g.Now = cmp.Or(m.Until, m.Now, newest(g.Events))
	for _, e := range g.Events {
		e.Resolve(g.Index, g.Profile, g.Now)
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
func (g *Dataset) Attributions() []Attribution {
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

// Cases groups a dataset by allocation, in order of their ids.
func (g *Dataset) Cases() []*Case {
	own := buckets{}
	var unattributed []*Event
	last := &bucket{}
	for _, e := range g.Events {
		switch e.Allocation {
		case "":
			unattributed = append(unattributed, e)
		case last.name: // mostly they are one's
			last.events = append(last.events, e)
		default:
			last = own.add(e.Allocation, e)
		}
	}
	env := &Env{Profile: g.Profile, Index: g.Index, Now: g.Now, Durations: g.Durations, Unattributed: inTime(unattributed)}
	out := make([]*Case, 0, len(own.all))
	for _, b := range own.all {
		out = append(out, NewCase(b.name, b.events, env))
	}
	slices.SortFunc(out, func(a, b *Case) int { return strings.Compare(a.ID, b.ID) })
	if env.Durations == nil && len(out) >= enough {
		env.Durations = durationsOf(out)
	}
	env.Liveness, env.Others = livenessOf(out), othersOf(out)
	return out
}

// livenessOf collects the signs of all cases of a dataset. One allocation alone needs none: its own records tell.
func livenessOf(cases []*Case) *Liveness {
	if len(cases) < 2 {
		return nil
	}
	s := NewLiveness()
	for _, c := range cases {
		for _, e := range c.Events {
			if e.Layer != "" && !e.fails && !e.inferred {
				s.byLayer[e.Layer] = append(s.byLayer[e.Layer], e)
			}
		}
	}
	for layer, list := range s.byLayer {
		s.byLayer[layer] = inTime(list)
	}
	return s
}

// durationsOf learns what steps took from the cases themselves.
func durationsOf(cases []*Case) Durations {
	here := &Learnt{}
	for _, c := range cases {
		for _, s := range c.CompletedSteps() {
			here.Add(s.Step, s.Took)
		}
	}
	return here
}
