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
	for _, layer := range suspects(t) {
		if !j.c.Profile.Knows(layer) {
			continue
		}
		alive := j.c.AliveBetween(layer, t.From, max(t.At, t.From))
		if t.Node != "" && (layer == semconv.LayerNodeAgent || layer == semconv.LayerNode) {
			alive = j.c.aliveOn(layer, t.Node, t.From, max(t.At, t.From))
		}
		if j.v.Outcome == Undetermined && !slices.ContainsFunc(j.v.Candidates, func(c Candidate) bool { return c.Layer == layer }) {
			j.v.Candidates = append(j.v.Candidates, Candidate{layer, t.What})
		}
		if alive == nil && !slices.ContainsFunc(j.v.Missing, func(m Missing) bool { return m.Layer == layer }) {
			j.v.Missing = append(j.v.Missing, Missing{layer, "no telemetry " + clockRange(t.From, t.At)})
			j.c.silences = append(j.c.silences, silence{layer, t.From, max(t.At, t.From)})
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

// suspects lists the layers that can have caused a kind of trouble, the one that owed the step first.
func suspects(t *Trouble) []string {
	var chain []string
	switch t.Kind {
	case TaskTrouble, OverdueTrouble:
		chain = []string{semconv.LayerNodeAgent, semconv.LayerNode, semconv.LayerIngress}
		if t.Attempt == nil {
			chain = []string{semconv.LayerWorkflow, semconv.LayerOutbox, semconv.LayerProvider, semconv.LayerNodeAgent}
		}
	case JobTrouble:
		chain = []string{semconv.LayerProvider}
	case OutboxTrouble:
		chain = []string{semconv.LayerOutbox, semconv.LayerDB}
	case RequestTrouble:
		chain = []string{semconv.LayerIngress, semconv.LayerAPIAuth, semconv.LayerAPI, semconv.LayerNetwork}
	case WorkflowTrouble, StateTrouble, DriftTrouble:
		chain = []string{semconv.LayerWorkflow, semconv.LayerProvider, semconv.LayerNodeAgent, semconv.LayerNode}
	}
	if t.Owes != "" && !slices.Contains(chain, t.Owes) {
		chain = append([]string{t.Owes}, chain...)
	}
	return chain
}

func clockRange(from, to int64) string {
	clock := func(t int64) string { return strings.TrimSuffix(Time(t).String()[11:], "Z") }
	short := func(s string) string { return s[:min(len(s), 8)] }
	return short(clock(from)) + "–" + short(clock(to))
}
