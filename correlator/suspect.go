package correlator

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/semconv"
)

// suspect names who may own a trouble that nothing explains, and whose telemetry would have told.
func (j *judgement) suspect(t *Trouble) {
	if j.c.Profile.FirstFailure() {
		j.suspectPeers(t)
	}
	for _, layer := range j.c.lostBetween(t) {
		alive := j.c.AliveBetween(layer, t.From, max(t.At, t.From))
		if t.Node != "" && (layer == semconv.LayerNodeAgent || layer == semconv.LayerNode) {
			alive = j.c.aliveOn(layer, t.Node, t.From, max(t.At, t.From))
		}
		why, lacks := t.What+"; it is heard of, and does not tell why", "its own word on why "+t.What
		if alive == nil {
			why, lacks = t.What+"; nothing is heard of it", "no telemetry "+clockRange(t.From, t.At)
		}
		if j.v.Outcome == Undetermined && !slices.ContainsFunc(j.v.Candidates, func(c Candidate) bool { return c.Layer == layer }) {
			j.v.Candidates = append(j.v.Candidates, Candidate{layer, why})
		}
		told := slices.ContainsFunc(j.c.silences, func(s silence) bool { return s.layer == layer })
		if alive == nil && !told {
			j.c.silences = append(j.c.silences, silence{layer, t.From, max(t.At, t.From)})
		}
		if !slices.ContainsFunc(j.v.Missing, func(m Missing) bool { return m.Layer == layer }) {
			j.v.Missing = append(j.v.Missing, Missing{layer, lacks})
		}
	}
}

// suspectDoubted names who is spoken against by what proves nothing.
func (j *judgement) suspectDoubted(t *Trouble) {
	for _, ev := range j.doubted[t] {
		if j.v.Outcome == Undetermined && !slices.ContainsFunc(j.v.Candidates, func(c Candidate) bool { return c.Layer == ev.Layer }) {
			j.v.Candidates = append(j.v.Candidates, Candidate{ev.Layer, ev.Summary})
		}
	}
}

// suspectPeers names, on platforms whose layers log their own exceptions, those that did, and what would
// decide where they stumbled over something that was there before.
func (j *judgement) suspectPeers(t *Trouble) {
	for _, e := range j.c.Failures(t) {
		if e.Severity < severityError || e.Layer == "" || e.Layer == semconv.LayerClient {
			continue
		}
		if j.v.Outcome == Undetermined && !slices.ContainsFunc(j.v.Candidates, func(c Candidate) bool { return c.Layer == e.Layer }) {
			j.v.Candidates = append(j.v.Candidates, Candidate{e.Layer, "it logged an error: " + e.Summary()})
		}
		if id := Leftover(e); id != "" && !slices.ContainsFunc(j.v.Missing, func(m Missing) bool { return m.Layer == e.Layer }) {
			j.v.Missing = append(j.v.Missing, Missing{e.Layer, "the history of " + id + ", which was left over and stands in the way"})
		}
	}
}

// Leftover gives the identifier of what stands in the way of a step although it belongs to something earlier,
// "" where the event tells of no such thing: a hypervisor that already holds a guest of that name under
// another identifier. The layer that stumbles over it is not therefore its owner: whose it is lies in the
// history of what was left over, and a cause must not be younger than its effect (docs/domain.md §4.10, rule 6).
func Leftover(e *Event) string {
	const words = "already exists with uuid "
	_, after, found := strings.Cut(e.Text, words)
	if !found {
		return ""
	}
	end := strings.IndexFunc(after, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') && r != '-' })
	if end < 0 {
		end = len(after)
	}
	return after[:end]
}
