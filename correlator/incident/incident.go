package incident

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Window is how long a cause may be quiet and still be the same incident: three polls of the
// slowest view, and what a retry with back-off leaves between two tries.
const Window = 15 * time.Minute

// Incident is one cause in one window with all allocations that it hit.
type Incident struct {
	// ID follows from the layer that owns it and from whom it hit first, and stays while more is learnt of it: what exactly failed there,
	// where, and since when. Somebody who was hit earlier and is found later makes it another.
	ID         string             `json:"incident_id"`
	Layer      string             `json:"layer"`
	Mechanism  string             `json:"mechanism"`
	Rule       string             `json:"rule"` // of the earliest hit
	Subject    correlator.Subject `json:"subject"`
	Summary    string             `json:"summary"`
	Confidence string             `json:"confidence"` // the best of its hits
	Contested  bool               `json:"contested"`  // every hit has another layer with equal evidence
	FirstSeen  correlator.Time    `json:"first_seen"`
	LastSeen   correlator.Time    `json:"last_seen"`
	Open       bool               `json:"open"`
	NextCheck  string             `json:"next_check"`
	SafeAction string             `json:"safe_action"`
	Owner      profile.Owner      `json:"owner"`
	Victims    []Victim           `json:"victims"` // by onset
}

// Victim is one allocation that an incident hit.
type Victim struct {
	ID        string           `json:"allocation_id"`
	State     *string          `json:"state"`
	Onset     correlator.Time  `json:"onset"`
	ClearedAt *correlator.Time `json:"cleared_at"`
	Open      bool             `json:"open"` // not cleared, and the cause is not proven gone either
	Contested bool             `json:"contested"`
	Evidence  []string         `json:"evidence"` // the first few
}

// List answers "what is going on".
type List struct {
	AsOf      correlator.Time `json:"as_of"`
	Examined  int             `json:"examined"` // allocations that were looked at
	Incidents []Incident      `json:"incidents"`
}

// victimEvidence bounds how much an incident repeats of a victim's verdict.
const victimEvidence = 5

// occurrenceSpan is one occurrence of one allocation with the stretch of time in which it counts.
type occurrenceSpan struct {
	assessment *correlator.Assessment
	hit        *correlator.FaultOccurrence
	open       bool
	end        int64
}

// Group groups the faults of many allocations by cause: the same layer and mechanism, a subject in
// common, and no longer quiet between them than the window, as of now, Unix nanoseconds (0: when the last of them was judged). It is a
// function of the set of assessments and of that alone: their order changes nothing. Those still open come first, then the most recent.
func Group(assessments []correlator.Assessment, now int64, window time.Duration) []Incident {
	now = max(now, newestOf(assessments))
	var all []occurrenceSpan
	for i := range assessments {
		s := &assessments[i]
		for k := range s.Occurrences {
			h := &s.Occurrences[k]
			if h.Aside {
				continue
			}
			one := occurrenceSpan{assessment: s, hit: h, open: goesOn(s, h, now), end: int64(h.Last)}
			switch {
			case h.ClearedAt == nil && h.GoneAt != nil:
				one.end = max(one.end, int64(*h.GoneAt))
			case one.open:
				one.end = max(one.end, now) // it goes on
			}
			all = append(all, one)
		}
	}
	slices.SortFunc(all, compareSpans)
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
	closeProven(all, groups)
	members := map[int][]occurrenceSpan{}
	for i := range all {
		root := groups.root(i)
		members[root] = append(members[root], all[i])
	}
	out := make([]Incident, 0, len(members))
	for _, m := range members {
		out = append(out, incident(m))
	}
	name(out)
	slices.SortFunc(out, func(a, b Incident) int {
		return cmp.Or(openFirst(a, b), cmp.Compare(b.LastSeen, a.LastSeen), cmp.Compare(len(b.Victims), len(a.Victims)),
			cmp.Compare(a.FirstSeen, b.FirstSeen), strings.Compare(a.Victims[0].ID, b.Victims[0].ID), strings.Compare(a.ID, b.ID))
	})
	return out
}

// goesOn says whether what hit an allocation may hit others now: it was not made good, and its cause not proven gone. Of an allocation that
// failed of it, or was refused and never was, nothing follows that could prove that: it counts for as long as a cause may be quiet and still be
// the same. Who came to its proper end did so in spite of it.
func goesOn(a *correlator.Assessment, h *correlator.FaultOccurrence, now int64) bool {
	switch {
	case h.ClearedAt != nil || h.GoneAt != nil:
		return false
	case a.State == nil && a.Stuck == nil, a.State != nil && *a.State == semconv.Failed:
		return int64(h.Last) >= now-int64(Window)
	}
	return !a.AtRest()
}

// closeProven ends what is open though its cause is proven gone: another one that the same cause hit, at the same subject, got through after
// the last record of it, and the allocation waits for nothing: nobody repeats its call, and nobody need.
func closeProven(all []occurrenceSpan, groups sets) {
	type place struct {
		group int
		id    string
	}
	cleared, last := map[place]int64{}, map[place]int64{}
	for i, s := range all {
		for _, id := range s.hit.Subject.IDs {
			at := place{groups.root(i), id}
			if s.hit.ClearedAt != nil {
				cleared[at] = max(cleared[at], int64(*s.hit.ClearedAt))
			} else {
				last[at] = max(last[at], int64(s.hit.Last))
			}
		}
	}
	for i := range all {
		s := &all[i]
		if !s.open || s.assessment.Stuck != nil {
			continue
		}
		for _, id := range s.hit.Subject.IDs {
			at := place{groups.root(i), id}
			if over := cleared[at]; over > last[at] {
				s.open, s.end = false, over
			}
		}
	}
}

// NewList lists the incidents of at least so many victims, as of now; see Group.
func NewList(assessments []correlator.Assessment, now int64, window time.Duration, victims int) List {
	now = max(now, newestOf(assessments))
	list := List{AsOf: correlator.Time(now), Examined: len(assessments), Incidents: []Incident{}}
	for _, in := range Group(assessments, now, window) {
		if len(in.Victims) >= victims {
			list.Incidents = append(list.Incidents, in)
		}
	}
	return list
}

// compareSpans is a total order of hits, whatever order they came in.
func compareSpans(a, b occurrenceSpan) int {
	return cmp.Or(
		cmp.Compare(a.hit.Onset, b.hit.Onset), strings.Compare(a.assessment.ID, b.assessment.ID), strings.Compare(a.hit.Layer, b.hit.Layer),
		strings.Compare(a.hit.Mechanism, b.hit.Mechanism), strings.Compare(a.hit.Rule, b.hit.Rule),
		slices.Compare(a.hit.Subject.IDs, b.hit.Subject.IDs), cmp.Compare(a.end, b.end), slices.Compare(a.hit.Evidence, b.hit.Evidence),
		strings.Compare(stateOf(a.assessment), stateOf(b.assessment)), strings.Compare(a.hit.Confidence, b.hit.Confidence),
	)
}

// bySubject lists the hits of every cause at every name of its subject, in order of onset. A component is known by its hosts too,
// unless several components are dialled under one name: a gateway's name says nothing of who stands behind it.
func bySubject(all []occurrenceSpan) map[[4]string][]int {
	behind := map[string]string{} // host → the component dialled so, "" where there are several
	for _, s := range all {
		for _, host := range s.hit.Subject.Hosts {
			component := strings.Join(s.hit.Subject.IDs, "\x00")
			if known, ok := behind[host]; ok && known != component {
				component = ""
			}
			behind[host] = component
		}
	}
	out := map[[4]string][]int{}
	add := func(i int, kind, id string) {
		key := [4]string{all[i].hit.Layer, all[i].hit.Mechanism, kind, id}
		out[key] = append(out[key], i)
	}
	for i, s := range all {
		for _, id := range s.hit.Subject.IDs {
			add(i, s.hit.Subject.Kind, id)
		}
		for _, host := range s.hit.Subject.Hosts {
			if behind[host] != "" {
				add(i, correlator.SubjectHost, host)
			}
		}
	}
	return out
}

// incident adds up the hits of one cause, earliest first.
func incident(hits []occurrenceSpan) Incident {
	first := hits[0].hit
	in := Incident{
		Layer: first.Layer, Mechanism: first.Mechanism, Rule: first.Rule, Summary: first.Summary, Confidence: correlator.Low, Contested: true,
		FirstSeen: first.Onset, LastSeen: first.Last, NextCheck: first.NextCheck, SafeAction: first.SafeAction,
		Subject: subjectOf(hits), Victims: []Victim{},
	}
	place := map[string]int{}
	for _, s := range hits {
		h := s.hit
		in.LastSeen = max(in.LastSeen, correlator.Time(s.end))
		in.Open = in.Open || s.open
		in.Contested = in.Contested && h.Contested
		if confidenceRank(h.Confidence) < confidenceRank(in.Confidence) {
			in.Confidence = h.Confidence
		}
		for _, f := range s.assessment.Verdict.Faults {
			if f.Layer == h.Layer {
				in.Owner = f.Owner
			}
		}
		v := Victim{
			ID: s.assessment.ID, State: s.assessment.State, Onset: h.Onset, ClearedAt: h.ClearedAt, Open: s.open, Contested: h.Contested,
			Evidence: h.Evidence[:min(len(h.Evidence), victimEvidence)],
		}
		at, again := place[v.ID]
		if !again {
			place[v.ID] = len(in.Victims)
			in.Victims = append(in.Victims, v)
			continue
		}
		before := &in.Victims[at] // it was hit twice, say on two of its nodes
		before.Open, before.Contested = before.Open || v.Open, before.Contested && v.Contested
		if before.ClearedAt == nil || v.ClearedAt == nil {
			before.ClearedAt = nil
		} else if *v.ClearedAt > *before.ClearedAt {
			before.ClearedAt = v.ClearedAt
		}
	}
	return in
}

// subjectOf adds up the names of one party: a component and its hosts where both are known.
func subjectOf(hits []occurrenceSpan) correlator.Subject {
	out := correlator.Subject{Kind: hits[0].hit.Subject.Kind}
	for _, s := range hits {
		if s.hit.Subject.Kind == correlator.SubjectComponent {
			out.Kind = correlator.SubjectComponent
		}
	}
	for _, s := range hits {
		if s.hit.Subject.Kind == out.Kind {
			out.IDs = append(out.IDs, s.hit.Subject.IDs...)
		} else {
			out.Hosts = append(out.Hosts, s.hit.Subject.IDs...)
		}
		out.Hosts = append(out.Hosts, s.hit.Subject.Hosts...)
	}
	slices.Sort(out.IDs)
	slices.Sort(out.Hosts)
	out.IDs, out.Hosts = slices.Compact(out.IDs), slices.Compact(out.Hosts)
	return out
}

// name gives incidents their identifiers: those of one layer that hit the same allocation first are told apart by their order.
func name(all []Incident) {
	slices.SortFunc(all, func(a, b Incident) int {
		return cmp.Or(cmp.Compare(a.FirstSeen, b.FirstSeen), strings.Compare(a.Mechanism, b.Mechanism), strings.Compare(a.Subject.Kind, b.Subject.Kind),
			slices.Compare(a.Subject.IDs, b.Subject.IDs), strings.Compare(a.Victims[0].ID, b.Victims[0].ID))
	})
	type place struct{ layer, first string }
	nth := map[place]int{}
	for i := range all {
		at := place{all[i].Layer, all[i].Victims[0].ID}
		nth[at]++
		sum := sha256.Sum256([]byte(strings.Join([]string{at.layer, at.first, strconv.Itoa(nth[at])}, "\x00")))
		all[i].ID = "i-" + hex.EncodeToString(sum[:8])
	}
}

func confidenceRank(c string) int {
	return slices.Index([]string{correlator.High, correlator.Medium, correlator.Low}, c)
}

// newestOf is the newest moment that any of the assessments was judged at.
func newestOf(assessments []correlator.Assessment) int64 {
	now := int64(0)
	for i := range assessments {
		now = max(now, int64(assessments[i].Verdict.AsOf))
	}
	return now
}

func openFirst(a, b Incident) int {
	switch {
	case a.Open == b.Open:
		return 0
	case a.Open:
		return -1
	}
	return 1
}

// stateOf is the allocation's state, "" where none was seen.
func stateOf(a *correlator.Assessment) string {
	if a.State == nil {
		return ""
	}
	return *a.State
}
