package correlator

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/profile"
)

// IncidentWindow is how long a cause may be quiet and still be the same incident: three polls of the
// slowest view, and what a retry with back-off leaves between two tries.
const IncidentWindow = 15 * time.Minute

// Incident is one cause in one window with all allocations that it hit.
type Incident struct {
	// ID follows from the cause and from when it was first seen; a hit that is found to have been earlier
	// is an earlier incident.
	ID         string        `json:"incident_id"`
	Layer      string        `json:"layer"`
	Mechanism  string        `json:"mechanism"`
	Rule       string        `json:"rule"` // of the earliest hit
	Subject    Subject       `json:"subject"`
	Summary    string        `json:"summary"`
	Confidence string        `json:"confidence"` // the best of its hits
	Contested  bool          `json:"contested"`  // every hit has another layer with equal evidence
	FirstSeen  Time          `json:"first_seen"`
	LastSeen   Time          `json:"last_seen"`
	Open       bool          `json:"open"`
	NextCheck  string        `json:"next_check"`
	SafeAction string        `json:"safe_action"`
	Owner      profile.Owner `json:"owner"`
	Victims    []Victim      `json:"victims"` // by onset
}

// Victim is one allocation that an incident hit.
type Victim struct {
	ID        string   `json:"allocation_id"`
	State     *string  `json:"state"`
	Onset     Time     `json:"onset"`
	ClearedAt *Time    `json:"cleared_at"`
	Open      bool     `json:"open"`
	Contested bool     `json:"contested"`
	Evidence  []string `json:"evidence"` // the first few
}

// IncidentList answers "what is going on".
type IncidentList struct {
	AsOf      Time       `json:"as_of"`
	Examined  int        `json:"examined"` // allocations that were looked at
	Incidents []Incident `json:"incidents"`
}

// victimEvidence bounds how much an incident repeats of a victim's verdict.
const victimEvidence = 5

// struck is one hit of one allocation with the stretch of time in which it counts.
type struck struct {
	standing *Standing
	hit      *Hit
	open     bool
	end      int64
}

// Incidents groups the faults of many allocations by cause: the same layer and mechanism, a subject in
// common, and no longer quiet between them than the window. It is a function of the set of standings
// alone: their order changes nothing. Those still open come first, then the most recent.
func Incidents(standings []Standing, window time.Duration) []Incident {
	now := newestOf(standings)
	var all []struck
	for i := range standings {
		s := &standings[i]
		for k := range s.Hits {
			h := &s.Hits[k]
			if h.Aside {
				continue
			}
			one := struck{standing: s, hit: h, open: h.ClearedAt == nil && !s.AtRest(), end: int64(h.Last)}
			if one.open {
				one.end = max(one.end, now) // it goes on
			}
			all = append(all, one)
		}
	}
	slices.SortFunc(all, compareStruck)
	groups := newSets(len(all))
	for _, sameSubject := range bySubject(all) {
		end, first := int64(0), -1
		for _, i := range sameSubject { // in order of onset
			if first >= 0 && int64(all[i].hit.Onset) <= end+int64(window) {
				groups.join(first, i)
				end = max(end, all[i].end)
				continue
			}
			first, end = i, all[i].end
		}
	}
	members := map[int][]struck{}
	for i := range all {
		root := groups.root(i)
		members[root] = append(members[root], all[i])
	}
	out := make([]Incident, 0, len(members))
	for _, m := range members {
		out = append(out, incident(m))
	}
	slices.SortFunc(out, func(a, b Incident) int {
		return cmp.Or(falseFirst(!a.Open, !b.Open), cmp.Compare(b.LastSeen, a.LastSeen), cmp.Compare(len(b.Victims), len(a.Victims)), strings.Compare(a.ID, b.ID))
	})
	return out
}

// ListIncidents lists the incidents of at least so many victims.
func ListIncidents(standings []Standing, window time.Duration, victims int) IncidentList {
	list := IncidentList{AsOf: Time(newestOf(standings)), Examined: len(standings), Incidents: []Incident{}}
	for _, in := range Incidents(standings, window) {
		if len(in.Victims) >= victims {
			list.Incidents = append(list.Incidents, in)
		}
	}
	return list
}

// compareStruck is a total order of hits, whatever order they came in.
func compareStruck(a, b struck) int {
	return cmp.Or(
		cmp.Compare(a.hit.Onset, b.hit.Onset), strings.Compare(a.standing.ID, b.standing.ID), strings.Compare(a.hit.Layer, b.hit.Layer),
		strings.Compare(a.hit.Mechanism, b.hit.Mechanism), strings.Compare(a.hit.Rule, b.hit.Rule),
		slices.Compare(a.hit.Subject.IDs, b.hit.Subject.IDs), cmp.Compare(a.end, b.end), slices.Compare(a.hit.Evidence, b.hit.Evidence),
		strings.Compare(a.standing.state(), b.standing.state()), strings.Compare(a.hit.Confidence, b.hit.Confidence),
	)
}

// bySubject lists the hits of every cause at every name of its subject.
func bySubject(all []struck) map[[4]string][]int {
	out := map[[4]string][]int{}
	for i, s := range all {
		for _, id := range s.hit.Subject.IDs {
			key := [4]string{s.hit.Layer, s.hit.Mechanism, s.hit.Subject.Kind, id}
			out[key] = append(out[key], i)
		}
	}
	return out
}

// incident adds up the hits of one cause, earliest first.
func incident(hits []struck) Incident {
	first := hits[0].hit
	in := Incident{
		Layer: first.Layer, Mechanism: first.Mechanism, Rule: first.Rule, Summary: first.Summary, Confidence: Low, Contested: true,
		FirstSeen: first.Onset, LastSeen: first.Last, NextCheck: first.NextCheck, SafeAction: first.SafeAction,
		Subject: Subject{Kind: first.Subject.Kind}, Victims: []Victim{},
	}
	place := map[string]int{}
	for _, s := range hits {
		h := s.hit
		in.Subject.IDs = append(in.Subject.IDs, h.Subject.IDs...)
		in.LastSeen = max(in.LastSeen, Time(s.end))
		in.Open = in.Open || s.open
		in.Contested = in.Contested && h.Contested
		if confidenceRank(h.Confidence) < confidenceRank(in.Confidence) {
			in.Confidence = h.Confidence
		}
		for _, f := range s.standing.Verdict.Faults {
			if f.Layer == h.Layer {
				in.Owner = f.Owner
			}
		}
		v := Victim{
			ID: s.standing.ID, State: s.standing.State, Onset: h.Onset, ClearedAt: h.ClearedAt, Open: s.open, Contested: h.Contested,
			Evidence: h.Evidence[:min(len(h.Evidence), victimEvidence)],
		}
		at, again := place[v.ID]
		if !again {
			place[v.ID] = len(in.Victims)
			in.Victims = append(in.Victims, v)
			continue
		}
		before := &in.Victims[at] // it was hit twice, say on two of its machines
		before.Open, before.Contested = before.Open || v.Open, before.Contested && v.Contested
		if before.ClearedAt == nil || v.ClearedAt == nil {
			before.ClearedAt = nil
		} else if *v.ClearedAt > *before.ClearedAt {
			before.ClearedAt = v.ClearedAt
		}
	}
	slices.Sort(in.Subject.IDs)
	in.Subject.IDs = slices.Compact(in.Subject.IDs)
	sum := sha256.Sum256([]byte(strings.Join([]string{in.Layer, in.Mechanism, in.Subject.Kind, first.Subject.IDs[0], in.FirstSeen.String()}, "\x00")))
	in.ID = "i-" + hex.EncodeToString(sum[:8])
	return in
}

func confidenceRank(c string) int { return slices.Index([]string{High, Medium, Low}, c) }

// newestOf is the newest moment that any of the standings was judged at.
func newestOf(standings []Standing) int64 {
	now := int64(0)
	for i := range standings {
		now = max(now, int64(standings[i].Verdict.AsOf))
	}
	return now
}

// sets are disjoint sets of positions.
type sets []int

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// root is the set's smallest position, so that it does not depend on who joined whom first.
func (s sets) root(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

func (s sets) join(a, b int) {
	a, b = s.root(a), s.root(b)
	s[max(a, b)] = min(a, b)
}
