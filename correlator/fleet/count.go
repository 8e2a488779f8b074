package fleet

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/correlator/overview"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Layers that are none of the profile.
const (
	none          = "none"         // there is no trouble
	undetermined  = "undetermined" // it is not known whose it is
	providerLayer = semconv.LayerProvider
)

// ranks is how many of the oldest of each state are told of.
const ranks = 10

// idleAfter is how long nothing was heard of an allocation that is idle.
const idleAfter = 5 * time.Minute

var (
	states = []string{
		semconv.Requested, semconv.Reserved, semconv.Provisioning, semconv.Active, semconv.Degraded, semconv.Canceling, semconv.Canceled,
		semconv.Failed, semconv.Releasing, semconv.ReleaseFailed, semconv.Released, other,
	}
	fields = []string{"state", "message", "occupancy", "job_state", other}
)

// tally is one count.
type tally struct {
	*Fleet
	now                int64
	byOwner, stuck     map[[2]string]float64 // state, layer
	said               map[[2]string]float64 // outcome, layer
	provided           map[[2]string]float64 // provider, state
	faults             map[[2]string]float64 // provider, rule
	drift              map[[2]string]float64 // projection, field
	idle, overdue      map[string]float64    // state
	oldest             map[string][]int64    // by state, the oldest first
	incidents, victims map[string]float64    // layer
	orphans            int
	assessments        []correlator.Assessment
}

// count counts all of it anew.
func (f *Fleet) count() {
	begun := f.now()
	t := &tally{
		Fleet: f, now: begun.UnixNano(), byOwner: map[[2]string]float64{}, stuck: map[[2]string]float64{}, said: map[[2]string]float64{},
		provided: map[[2]string]float64{}, faults: map[[2]string]float64{}, drift: map[[2]string]float64{}, idle: map[string]float64{},
		overdue: map[string]float64{}, oldest: map[string][]int64{}, incidents: map[string]float64{}, victims: map[string]float64{},
	}
	if !f.board.Each(t.take) {
		return
	}
	for _, in := range incident.Group(t.assessments, t.now, incident.Window) {
		if !in.Open {
			continue
		}
		layer := t.layer(in.Layer)
		t.incidents[layer]++
		for _, v := range in.Victims {
			if v.Open {
				t.victims[layer]++
			}
		}
	}
	counted := append(t.metrics(), countedIn.of(f.now().Sub(begun).Seconds()))
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counted = counted
}

// take counts one allocation.
func (t *tally) take(s overview.Standing) bool {
	state := other
	if s.State != nil && slices.Contains(states, *s.State) {
		state = *s.State
	}
	if s.Since != nil {
		t.age(state, int64(*s.Since))
		if budget := t.profile.Budgets().States[state]; budget > 0 && t.now-int64(*s.Since) > int64(budget) && t.now-int64(s.Last) > int64(idleAfter) {
			t.idle[state]++
		}
	}
	outcome, owner, blamed := cmp.Or(s.Outcome, unjudged), none, none
	var fault *correlator.Fault
	if a := s.Assessment; a != nil {
		fault = openFault(a)
		if a.Verdict.Outcome == correlator.Undetermined || a.Verdict.Outcome == correlator.Contested {
			owner = undetermined
		}
		if fault != nil {
			blamed = t.layer(fault.Layer)
			owner = blamed
		}
		if a.Stuck != nil {
			if fault == nil {
				owner = t.layer(a.Stuck.Owes)
			}
			t.stuck[[2]string{state, owner}]++
			t.overdue[state] = max(t.overdue[state], float64(t.now-int64(a.Stuck.Deadline))/1e9)
		}
		t.orphans += len(a.Orphans)
		for _, d := range a.Verdict.Drift {
			t.drift[[2]string{t.view.of(d.Projection), known(fields, d.Field)}]++
		}
		if len(a.Occurrences) > 0 {
			t.assessments = append(t.assessments, *a)
		}
	}
	t.byOwner[[2]string{state, owner}]++
	t.said[[2]string{outcome, blamed}]++
	for _, p := range s.Providers {
		p = t.providers.of(p)
		t.provided[[2]string{p, state}]++
		if fault != nil && fault.Layer == providerLayer {
			rule := fault.Rule
			if !t.rules[rule] {
				rule = other
			}
			t.faults[[2]string{p, rule}]++
		}
	}
	return true
}

// openFault is the strongest fault that is open and has one owner; nil where there is none. One that is over because its allocation is
// asks nobody for anything.
func openFault(a *correlator.Assessment) *correlator.Fault {
	if a.Verdict.Outcome != correlator.Attributed || a.AtRest() && a.Stuck == nil {
		return nil
	}
	for i := range a.Verdict.Faults {
		if f := &a.Verdict.Faults[i]; f.ClearedAt == nil {
			return f
		}
	}
	return nil
}

// age keeps the oldest of a state.
func (t *tally) age(state string, since int64) {
	list := t.oldest[state]
	at, _ := slices.BinarySearch(list, since)
	if at == ranks {
		return
	}
	list = slices.Insert(list, at, since)
	t.oldest[state] = list[:min(len(list), ranks)]
}

// layer is a layer as a label.
func (t *tally) layer(name string) string {
	if name == "" || !slices.Contains(t.profile.Layers, name) {
		return undetermined
	}
	return name
}

// owner is who is called for a layer.
func (f *Fleet) owner(layer string) string { return cmp.Or(f.profile.Owners[layer].Team, layer) }

func known(all []string, value string) string {
	if slices.Contains(all, value) {
		return value
	}
	return other
}

// metrics are all series of a count: those of which there is nothing are 0, so that their number does not depend on what goes on.
func (t *tally) metrics() (out []prometheus.Metric) {
	add := func(m prometheus.Metric) { out = append(out, m) }
	layers := append(slices.Clone(t.profile.Layers), undetermined)
	for _, state := range states {
		for _, layer := range append(slices.Clone(layers), none) {
			add(allocations.of(t.byOwner[[2]string{state, layer}], state, layer, t.owner(layer)))
		}
		for _, layer := range layers {
			add(stuck.of(t.stuck[[2]string{state, layer}], state, layer, t.owner(layer)))
		}
		add(idle.of(t.idle[state], state))
		add(overdue.of(max(0, t.overdue[state]), state))
		list, age := t.oldest[state], 0.0
		if len(list) > 0 {
			age = max(0, float64(t.now-list[0])/1e9)
		}
		add(oldest.of(age, state))
		for rank := range ranks {
			start := math.NaN()
			if rank < len(list) {
				start = float64(list[rank]) / 1e9
			}
			add(oldestStart.of(start, state, strconv.Itoa(rank+1)))
		}
	}
	for _, outcome := range outcomes {
		add(verdicts.of(t.said[[2]string{outcome, none}], outcome, none))
		if outcome == correlator.Attributed {
			for _, layer := range layers {
				add(verdicts.of(t.said[[2]string{outcome, layer}], outcome, layer))
			}
		}
	}
	for _, provider := range t.providers.all() {
		for _, state := range states {
			add(provided.of(t.provided[[2]string{provider, state}], provider, state))
		}
		for rule := range t.rules {
			add(faults.of(t.faults[[2]string{provider, rule}], provider, rule))
		}
		add(faults.of(t.faults[[2]string{provider, other}], provider, other))
	}
	for _, projection := range t.view.all() {
		for _, field := range fields {
			add(drift.of(t.drift[[2]string{projection, field}], projection, field))
		}
	}
	for _, layer := range layers {
		add(incidents.of(t.incidents[layer], layer, t.owner(layer)))
		add(victims.of(t.victims[layer], layer, t.owner(layer)))
	}
	add(orphans.of(float64(t.orphans)))
	return out
}
