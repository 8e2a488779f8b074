package correlator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Tiebreak is one named reason to prefer one explanation of a trouble over another. It is negative
// where a is the better one.
type Tiebreak struct {
	Name    string
	Compare func(a, b *Evidence) int
}

// Tiebreaks are asked in this order; the first that decides, decides. Where none of the deciding ones
// does, the trouble is contested (domain facts §4.10).
func Tiebreaks() []Tiebreak {
	return []Tiebreak{
		// Words that name a cause beat a status that many causes produce, and that beats "it failed".
		{"specific over general", func(a, b *Evidence) int { return cmp.Compare(b.Weight, a.Weight) }},
		// The component that failed, about itself, beats its caller, and that beats anyone further.
		{"closer witness", func(a, b *Evidence) int { return cmp.Compare(a.Directness, b.Directness) }},
		// What lies on the way of the step that failed, before what was also wrong with the machine.
		{"on the way of the step", func(a, b *Evidence) int { return falseFirst(a.beside, b.beside) }},
		// Of layers that call each other, the deepest one that was reached and failed.
		{"deeper hop", func(a, b *Evidence) int {
			if depth(a.Layer) < 0 || depth(b.Layer) < 0 {
				return 0 // an edge of the chain is as deep as the hop that it broke
			}
			return cmp.Compare(depth(b.Layer), depth(a.Layer))
		}},
		{"earlier onset", func(a, b *Evidence) int { return cmp.Compare(a.Onset, b.Onset) }},
		{"name", func(a, b *Evidence) int { return cmp.Compare(a.Rule, b.Rule) }},
	}
}

// falseFirst puts false before true.
func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// depth is how deep a layer stands in the chain of calls. Layers outside the chain (certificates, the
// network, a rollout) are causes at its edges and stand as deep as the hop that they broke: 0 here.
func depth(layer string) int {
	return slices.Index([]string{
		"", semconv.LayerClient, semconv.LayerIngress, semconv.LayerAPIAuth, semconv.LayerAPI, semconv.LayerDB, semconv.LayerOutbox,
		semconv.LayerWorkflow, semconv.LayerProvider, semconv.LayerNodeAgent, semconv.LayerNode,
	}, layer)
}

// Judge gives the verdict on a case by an ordered list of rules. A rule that panics is left out, named
// among the findings, and the others go on.
func Judge(c *Case, rules []Rule) Verdict {
	j := judgement{c: c, rules: rules, v: Verdict{
		Outcome: None, AsOf: Time(c.Now), RulesVersion: RulesVersion,
		Faults: []Fault{}, Candidates: []Candidate{}, Missing: []Missing{}, Drift: []Drift{}, Findings: []Finding{},
	}}
	j.v.Drift = drifts(c)
	j.v.Findings = findings(c)
	for _, t := range c.Troubles {
		j.explain(t)
	}
	j.driftFault()
	j.conclude()
	return j.v
}

// judgement is the working state of Judge.
type judgement struct {
	c         *Case
	rules     []Rule
	v         Verdict
	causes    []cause
	open      []*Trouble // troubles that nothing explains
	contested bool
	disabled  map[string]bool
}

// cause is one explanation with the troubles that it explains.
type cause struct {
	ev       Evidence
	troubles []*Trouble
	party    string
}

// explain looks for the cause of one trouble.
func (j *judgement) explain(t *Trouble) {
	if j.causedByCancel(t) || j.byHand(t) != nil {
		return
	}
	found := j.collect(t)
	if len(found) == 0 {
		j.open = append(j.open, t)
		return
	}
	// What else speaks for the same layer belongs to the proof: without it, nobody would blame that layer.
	for _, other := range found[1:] {
		if other.Layer == found[0].Layer && other.Onset <= t.At {
			found[0].Records = union(found[0].Records, other.Records)
		}
	}
	j.add(found[0], t)
	if len(found) > 1 && equalStanding(&found[0], &found[1]) {
		j.contested = true
		j.add(found[1], t)
	}
}

// byHand is the recorded act of a person that explains why a machine lost its work, nil where there is
// none: an administrator who has a machine installed anew is nobody's fault.
func (j *judgement) byHand(t *Trouble) *Event {
	if t.Kind != TaskTrouble || t.Attempt.Over == nil || t.Attempt.Taken == nil {
		return nil
	}
	for _, e := range j.c.Lifecycle.Hands {
		if e.At >= t.From-skew && e.At <= t.At && (e.Node == "" || e.Node == t.Node) {
			return e
		}
	}
	return nil
}

// equalStanding says whether two explanations have equal evidence for different owners: neither says
// more, stands closer, or lies deeper in the same chain.
func equalStanding(a, b *Evidence) bool {
	return a.Layer != b.Layer && a.Weight == b.Weight && a.Directness == b.Directness && a.Certain == b.Certain &&
		(depth(a.Layer) <= 0) == (depth(b.Layer) <= 0) && (depth(a.Layer) <= 0 || depth(a.Layer) == depth(b.Layer))
}

// collect gives all explanations of a trouble, best first. What began after the trouble is none.
func (j *judgement) collect(t *Trouble) []Evidence {
	var found []Evidence
	for _, r := range j.rules {
		for _, ev := range j.find(r, t) {
			if len(ev.Records) == 0 {
				continue
			}
			ev.Rule, ev.Layer, ev.Mechanism = cmp.Or(ev.Rule, r.ID), cmp.Or(ev.Layer, r.Layer), cmp.Or(ev.Mechanism, r.Mechanism)
			ev.NextCheck, ev.SafeAction = cmp.Or(ev.NextCheck, r.NextCheck), cmp.Or(ev.SafeAction, r.SafeAction)
			if ev.Onset == 0 {
				ev.Onset = ev.Records[0].At
			}
			ev.Last = max(ev.Last, ev.Records[len(ev.Records)-1].At)
			if ev.Onset > t.At+skew {
				continue
			}
			ev.beside = besideTheWay(t, &ev)
			ev.Records = union(ev.Records, plain(t.Cites)) // a fault stands on its records alone, the trouble's among them
			found = append(found, ev)
		}
	}
	// What had ended before the step began is another step's matter, if anything went on during it.
	during := func(ev Evidence) bool { return ev.Last >= t.From-moment }
	if slices.ContainsFunc(found, during) {
		found = slices.DeleteFunc(found, func(ev Evidence) bool { return !during(ev) })
	}
	slices.SortStableFunc(found, func(a, b Evidence) int {
		for _, tb := range Tiebreaks() {
			if d := tb.Compare(&a, &b); d != 0 {
				return d
			}
		}
		return 0
	})
	return found
}

// besideTheWay says whether a cause lies inside a machine that the step never got to: a task that nobody
// claimed failed on the way to it. A machine that could not renew its certificate stands in the way itself.
func besideTheWay(t *Trouble, ev *Evidence) bool {
	if !t.NeverTaken() || ev.Layer != semconv.LayerNode || ev.Mechanism == "clock" {
		return false
	}
	return !slices.ContainsFunc(ev.Records, func(e *Event) bool {
		return strings.Contains(e.Text, "cert") || strings.Contains(e.Text, "pki")
	})
}

// plain leaves out lifecycle events, which are known without being cited.
func plain(events []*Event) []*Event {
	var out []*Event
	for _, e := range events {
		if !e.IsEvent() {
			out = append(out, e)
		}
	}
	return out
}

// find runs one rule; its panic is the rule's end, not the judgement's.
func (j *judgement) find(r Rule, t *Trouble) (found []Evidence) {
	if j.disabled[r.ID] {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			if j.disabled == nil {
				j.disabled = map[string]bool{}
			}
			j.disabled[r.ID] = true
			found = nil
			j.v.Findings = append(j.v.Findings, Finding{Kind: "rule_disabled", Summary: fmt.Sprintf("rule %s panicked and was left out: %v", r.ID, p), Refs: []string{}})
		}
	}()
	return r.Find(j.c, t)
}

// add files an explanation; the same cause at the same party is one fault, however much it cost.
func (j *judgement) add(ev Evidence, t *Trouble) {
	party := t.Node
	for i := range j.causes {
		k := &j.causes[i]
		if k.ev.Layer == ev.Layer && k.ev.Mechanism == ev.Mechanism && k.party == party {
			k.ev.Records = union(k.ev.Records, ev.Records)
			k.ev.Against = union(k.ev.Against, ev.Against)
			k.ev.Onset, k.ev.Last = min(k.ev.Onset, ev.Onset), max(k.ev.Last, ev.Last)
			k.ev.Weight, k.ev.Directness = max(k.ev.Weight, ev.Weight), min(k.ev.Directness, ev.Directness)
			k.troubles = append(k.troubles, t)
			return
		}
	}
	j.causes = append(j.causes, cause{ev: ev, troubles: []*Trouble{t}, party: party})
}

func union(a, b []*Event) []*Event {
	out := append(slices.Clone(a), b...)
	slices.SortStableFunc(out, compareEvents)
	return slices.Compact(out)
}

// causedByCancel says whether a trouble is what ending on request looks like (rule 10): the user's own
// action outranks errors that follow from it. What was broken before stays broken.
func (j *judgement) causedByCancel(t *Trouble) bool {
	if end := j.c.Lifecycle.Cancel; t.Kind == JobTrouble && end != nil && end.At <= t.At+2*skew && afterCancel(t.Cites[len(t.Cites)-1]) {
		return true // it says itself that it was called off, whatever the clocks say
	}
	if !j.c.canceledBefore(t.At) || t.From < j.c.Lifecycle.Cancel.At && t.Kind == OverdueTrouble {
		return false
	}
	switch t.Kind {
	case TaskTrouble:
		// The task belonged to what was called off, not to the clean-up after it.
		return t.From < j.c.Lifecycle.Cancel.At
	case JobTrouble, WorkflowTrouble:
		return t.From <= j.c.Lifecycle.Cancel.At
	case RequestTrouble:
		return afterCancel(t.Cites[len(t.Cites)-1])
	}
	return false
}

// conclude turns causes into faults and says what the outcome is.
func (j *judgement) conclude() {
	for _, k := range j.causes {
		j.v.Faults = append(j.v.Faults, j.fault(k))
	}
	rank := map[string]int{High: 0, Medium: 1, Low: 2}
	index := make([]int, len(j.v.Faults))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(a, b int) int {
		fa, fb, ca, cb := j.v.Faults[a], j.v.Faults[b], j.causes[a].ev, j.causes[b].ev
		return cmp.Or(cmp.Compare(rank[fa.Confidence], rank[fb.Confidence]), cmp.Compare(ca.Directness, cb.Directness),
			cmp.Compare(ca.Onset, cb.Onset), cmp.Compare(fa.Rule, fb.Rule))
	})
	sorted := make([]Fault, 0, len(index))
	for _, i := range index {
		sorted = append(sorted, j.v.Faults[i])
	}
	j.v.Faults = sorted
	switch {
	case len(j.v.Faults) > 1 && j.contested:
		j.v.Outcome = Contested
	case len(j.v.Faults) > 0:
		j.v.Outcome = Attributed
	case len(j.open) > 0:
		j.v.Outcome = Undetermined
	}
	for _, t := range j.open {
		j.suspect(t)
	}
	j.v.Explanation = j.explanation()
}

// fault is a cause as an answer.
func (j *judgement) fault(k cause) Fault {
	f := Fault{
		Layer: k.ev.Layer, Mechanism: k.ev.Mechanism, Confidence: k.ev.confidence(), Onset: Time(k.ev.Onset), Rule: k.ev.Rule,
		Summary: k.ev.Summary, Evidence: refs(k.ev.Records), Symptoms: []string{}, Contradicting: refs(k.ev.Against),
		NextCheck: k.ev.NextCheck, SafeAction: k.ev.SafeAction, Owner: j.c.Profile.Owners[k.ev.Layer],
	}
	var symptoms []*Event
	cleared, still := int64(0), false
	for _, t := range k.troubles {
		if t.Cleared == 0 {
			still = true
		}
		cleared = max(cleared, t.Cleared)
		symptoms = union(symptoms, union(t.Cites, j.c.Failures(t)))
	}
	if at := j.partyWorksAgain(k); at != 0 {
		cleared, still = at, false
	}
	if !still && cleared > k.ev.Last {
		f.ClearedAt = new(Time)
		*f.ClearedAt = Time(cleared)
	}
	for _, s := range symptoms {
		if !slices.Contains(k.ev.Records, s) && len(f.Symptoms) < maxRefs {
			f.Symptoms = append(f.Symptoms, s.Ref)
		}
	}
	return f
}

// partyWorksAgain is the first success of the same machine after the last evidence against it.
func (j *judgement) partyWorksAgain(k cause) int64 {
	if k.party == "" {
		return 0
	}
	e := j.c.firstAfter(k.ev.Last, func(e *Event) bool {
		return e.Is(semconv.EventTaskState) && e.Node == k.party && (e.To() == semconv.Dispatched || e.To() == semconv.Succeeded)
	})
	if e == nil {
		return 0
	}
	return e.At
}

// maxRefs bounds the lists of records in an answer; the first ones prove it.
const maxRefs = 50

func refs(events []*Event) []string {
	out := make([]string, 0, min(len(events), maxRefs))
	for _, e := range events {
		if len(out) == maxRefs {
			break
		}
		if !slices.Contains(out, e.Ref) {
			out = append(out, e.Ref)
		}
	}
	return out
}

func (e *Evidence) confidence() string {
	switch {
	case e.Weight == Generic:
		return Low
	case e.Weight == Specific && e.Directness <= Caller && e.Certain:
		return High
	case e.Weight == Telling && e.Directness == Itself && e.Certain:
		return High
	}
	return Medium
}

// suspect names who may own a trouble that nothing explains, and whose telemetry would have told.
func (j *judgement) suspect(t *Trouble) {
	for _, layer := range suspects(t) {
		if !j.c.Profile.Knows(layer) {
			continue
		}
		alive := j.c.AliveBetween(layer, t.From, max(t.At, t.From))
		if t.Node != "" && (layer == semconv.LayerNodeAgent || layer == semconv.LayerNode) {
			alive = j.c.lastBetween(t.From, max(t.At, t.From), func(e *Event) bool { return e.inLayer(j.c.Profile, layer) && Names(e, t.Node) })
		}
		if j.v.Outcome == Undetermined && !slices.ContainsFunc(j.v.Candidates, func(c Candidate) bool { return c.Layer == layer }) {
			j.v.Candidates = append(j.v.Candidates, Candidate{layer, t.What})
		}
		if alive == nil && !slices.ContainsFunc(j.v.Missing, func(m Missing) bool { return m.Layer == layer }) {
			j.v.Missing = append(j.v.Missing, Missing{layer, "no telemetry " + clockRange(t.From, t.At)})
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
