package correlator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

// maxTroubles bounds how many troubles of one allocation are explained one by one: the first and the last.
const maxTroubles = 2000

// Judge gives the verdict on a case by an ordered list of rules. A rule that panics is left out, named
// among the findings, and the others go on.
func Judge(c *Case, rules []Rule) Verdict { return judge(c, rules, nil) }

// judge gives the verdict and fills why, where somebody wants to know.
func judge(c *Case, rules []Rule, why *Reasoning) Verdict {
	j := judgement{c: c, rules: rules, why: why, v: Verdict{
		Outcome: None, AsOf: Time(c.Now), RulesVersion: RulesVersion,
		Faults: []Fault{}, Candidates: []Candidate{}, Missing: []Missing{}, Drift: []Drift{}, Findings: []Finding{},
	}}
	c.silences = nil
	var drifted []projectionKey
	j.v.Drift, drifted = drifts(c)
	j.v.Findings = findings(c)
	for i, t := range c.Troubles() {
		if i >= maxTroubles/2 && i < len(c.Troubles())-maxTroubles/2 {
			continue
		}
		j.explain(t)
	}
	if more := len(c.Troubles()) - maxTroubles; more > 0 {
		j.v.Findings = append(j.v.Findings, Finding{Kind: "many_troubles", Summary: fmt.Sprintf("%d troubles between the first %d and the last %d were not judged one by one", more, maxTroubles/2, maxTroubles/2), Refs: []string{}})
	}
	j.lagFault()
	j.driftFault(drifted)
	j.conclude()
	return j.v
}

// explain looks for the cause of one trouble.
func (j *judgement) explain(t *Trouble) {
	d := j.why.begin(t)
	if j.causedByCancel(t) {
		d.rule(RulingWished, "it follows from the end that was asked for at "+Time(j.c.Lifecycle.Cancel.At).Milli())
		return
	}
	if e := j.byHand(t); e != nil {
		d.rule(RulingWished, "somebody did it, on record: "+e.Ref)
		return
	}
	found, all := j.collect(t, d)
	if later := t.untilNow(j.c); len(found) == 0 && later != nil {
		found, all = j.collect(later, d) // it stands still, and what was said since may be why, where it says what
		found = slices.DeleteFunc(found, func(ev Evidence) bool {
			return ev.Weight < Telling || !slices.ContainsFunc(ev.Records, func(e *Event) bool { return e.Allocation == j.c.ID && !e.IsEvent() })
		})
	}
	if k := j.triedBefore(t, found); k != nil {
		k.troubles, k.ev.Records = append(k.troubles, t), append(k.ev.Records, t.Cites...)
		for i := range found {
			d.drop(&found[i], "the same was tried before, and failed for more")
		}
		d.rule(Attributed, "it is another try of what "+k.ev.Rule+" explains")
		return
	}
	if len(found) > 0 && found[0].Weight <= Generic && found[0].Layer == t.Owes && slices.ContainsFunc(j.unknown, func(before *Trouble) bool { return sameTry(before, t) }) {
		for i := range found {
			d.drop(&found[i], "the same was tried before, and why it failed nobody knows")
		}
		found = nil
	}
	if len(found) == 0 {
		j.unknown = append(j.unknown, t)
	}
	switch {
	case len(found) > 0:
	case t.Cleared != 0 && !j.c.unheardOf(t) && !j.c.neededHelp(t):
		j.recovered(t, d)
		return
	default:
		j.open = append(j.open, t)
		d.rule(Undetermined, "nothing names a cause")
		return
	}
	if len(found) > 1 && equalStanding(&found[0], &found[1]) {
		d.weigh(found, 2)
		d.rule(Contested, "no tie-break decides between "+found[0].Rule+" and "+found[1].Rule)
	} else {
		d.weigh(found, 1)
		d.rule(Attributed, attributedBy(found))
	}
	// What else speaks for the same layer belongs to the proof: without it, nobody would blame that layer.
	for _, other := range all {
		if other.Layer == found[0].Layer && other.Onset <= t.At && other.Disputed != other.Layer {
			found[0].Records = union(found[0].Records, other.Records)
		}
	}
	j.add(found[0], t, supportOf(found[0].Layer, t, all))
	if len(found) > 1 && equalStanding(&found[0], &found[1]) {
		j.contested = true
		j.add(found[1], t, supportOf(found[1].Layer, t, all))
	}
}

// recovered rules on what was made good, and of which nobody can say what it was: to be known, not to be blamed.
func (j *judgement) recovered(t *Trouble, d *Deliberation) {
	if t.Kind == DriftTrouble {
		j.lagged = append(j.lagged, t)
		return // see lagFault
	}
	j.v.Findings = append(j.v.Findings, Finding{Kind: "recovered", Summary: t.What + ", and a later attempt succeeded", Refs: refs(t.Cites)})
	d.rule(RulingRecovered, "a later attempt succeeded at "+Time(t.Cleared).Milli()+", and nothing names a cause")
}

// attributedBy says why the first explanation won.
func attributedBy(found []Evidence) string {
	for i := range found {
		if found[i].Layer != found[0].Layer {
			return decidedBy(&found[0], &found[i])
		}
	}
	return "the only explanation"
}

// byHand is the recorded act of a person that explains why a node lost its work, nil where there is
// none: an administrator who has a node installed anew is nobody's fault.
func (j *judgement) byHand(t *Trouble) *Event {
	if t.Kind == StateTrouble || t.Kind == RequestTrouble && t.Complaint {
		return cmp.Or(j.c.stoppedByUser(t), j.c.announced(t), j.c.shutDownInside(t))
	}
	if t.Kind != TaskTrouble || t.Attempt.Over == nil || t.Attempt.Taken == nil {
		return nil
	}
	for _, e := range j.c.Lifecycle.ManualActions {
		ordered := e.At <= t.Attempt.From() && e.Attr(semconv.Action) != "" && strings.Contains(t.Attempt.Type, e.Attr(semconv.Action)) // the task is what it asked for
		if e.At >= t.From-skew && e.At <= t.At && (e.Node == "" || e.Node == t.Node) && !ordered {
			return e
		}
	}
	return nil
}

// equalStanding says whether two explanations have equal evidence for different owners: neither says
// more, stands closer, or lies deeper in the same chain.
func equalStanding(a, b *Evidence) bool {
	if dispute(a, b) {
		return true
	}
	return a.Layer != b.Layer && a.Weight == b.Weight && a.Beside == b.Beside && a.Directness == b.Directness && a.Certain == b.Certain &&
		(depth(a.Layer) <= 0) == (depth(b.Layer) <= 0) && (depth(a.Layer) <= 0 || depth(a.Layer) == depth(b.Layer))
}

// collect gives the explanations of a trouble, best first, and all that was found. What began after the trouble is none.
func (j *judgement) collect(t *Trouble, d *Deliberation) (found, all []Evidence) {
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
				d.drop(&ev, "it began after the trouble")
				continue
			}
			if t.Kind == TaskTrouble && ev.Weight <= Generic && ev.Directness == Itself && ev.Layer == semconv.LayerWorkflow && ev.Layer != t.Owes && ev.Onset > t.At {
				d.drop(&ev, "it was said when the task was over, of its end")
				continue
			}
			if t.Kind == DriftTrouble && ev.Layer != t.Owes {
				d.drop(&ev, "a view that lagged is the view's matter")
				continue
			}
			if ev.Beside && t.Kind == OverdueTrouble && t.Cleared != 0 && !lastedAsLong(t, &ev) {
				d.drop(&ev, "what was late and done in the end takes proof of its own")
				continue
			}
			ev.beside, ev.stands = besideTheWay(t, &ev), ev.Records
			switch {
			case ev.Layer == t.Owes:
				ev.Records = union(ev.Records, t.Cites) // what it owed is part of the proof
			case !t.Complaint || ev.Directness != Itself:
				ev.Records = union(ev.Records, plain(t.Cites)) // a fault stands on its records alone, the trouble's among them
			}
			found = append(found, ev)
		}
	}
	found = readFirst(d, found)
	all = slices.Clone(found)
	found = j.ofItsTime(t, d, found)
	slices.SortStableFunc(found, func(a, b Evidence) int {
		for _, tb := range Tiebreaks() {
			if d := tb.Compare(&a, &b); d != 0 {
				return d
			}
		}
		return 0
	})
	found, doubted := proven(j.c, t, d, faceToFace(t, found))
	if len(found) == 0 && len(doubted) > 0 {
		if j.doubted == nil {
			j.doubted = map[*Trouble][]Evidence{}
		}
		j.doubted[t] = doubted
	}
	return found, all
}

// lastedAsLong says whether a party tells of itself what is wrong again and again while a step is late, and no more once it was done.
func lastedAsLong(t *Trouble, ev *Evidence) bool {
	var during []*Event
	for _, e := range plain(ev.Records) {
		if ev.Weight >= Telling && (e.Party() == t.Owes || t.Owes == "" && ev.Directness == Itself && e.Party() == semconv.LayerWorkflow) && e.At >= t.From-int64(10*time.Minute) && e.At < t.Cleared {
			return true // who owed it says what keeps him
		}
		switch {
		case e.At > t.Cleared:
			return false
		case e.At >= t.From && e.Allocation == "":
			during = append(during, e)
		}
	}
	enough := Telling
	if ev.Layer == semconv.LayerWorkflow {
		enough = Generic // it is what moves an allocation
	}
	return ev.Directness == Itself && ev.Weight >= enough && len(during) > 1 && during[len(during)-1].At-during[0].At >= (t.Cleared-t.From)/4
}

// besideTheWay says whether a cause lies inside a node that the step never got to: a task that nobody
// claimed failed on the way to it. A node that could not renew its certificate stands in the way itself.
func besideTheWay(t *Trouble, ev *Evidence) bool {
	if !t.NeverTaken() || ev.Layer != semconv.LayerNode || ev.Mechanism == "clock" {
		return false
	}
	return !slices.ContainsFunc(ev.Records, func(e *Event) bool {
		return strings.Contains(e.Text, "cert") || strings.Contains(e.Text, "pki")
	})
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
			j.v.Findings = append(j.v.Findings, Finding{Kind: "rule_disabled", Rule: r.ID, Summary: fmt.Sprintf("rule %s panicked and was left out: %v", r.ID, p), Refs: []string{}})
		}
	}()
	return r.Find(j.c, t)
}

// add files an explanation; the same cause at the same party is one fault, however much it cost, and so is what one and the same
// line proves: a refused request and a task that was never claimed, both for one certificate.
func (j *judgement) add(ev Evidence, t *Trouble, s support) {
	party := t.Node
	for i := range j.causes {
		k := &j.causes[i]
		if ev.Disputed == ev.Layer && k.ev.Records[0] != ev.Records[0] {
			continue // two of one layer, between which nothing decides
		}
		if k.ev.Layer == ev.Layer && k.ev.Mechanism == ev.Mechanism && (k.party == party || (k.party == "" || party == "") && sharesLine(k.ev.Records, ev.Records)) {
			k.ev.Records = append(k.ev.Records, ev.Records...) // put in order once, by conclude
			k.ev.Against = append(k.ev.Against, ev.Against...)
			k.ev.Onset, k.ev.Last = min(k.ev.Onset, ev.Onset), max(k.ev.Last, ev.Last)
			k.ev.Weight, k.ev.Directness = max(k.ev.Weight, ev.Weight), min(k.ev.Directness, ev.Directness)
			k.troubles = append(k.troubles, t)
			k.support.add(s, nil)
			return
		}
		if k.ev.Layer == ev.Layer && (ev.Mended || k.ev.Mended) && slices.ContainsFunc(ev.Records, func(e *Event) bool { return slices.Contains(k.ev.Records, e) }) {
			if k.ev.Mended {
				k.ev = ev // it says what was mended
			}
			k.troubles = append(k.troubles, t)
			k.support.add(s, nil)
			return
		}
	}
	ev.Records, ev.Against = slices.Clone(ev.Records), slices.Clone(ev.Against)
	j.causes = append(j.causes, cause{ev: ev, troubles: []*Trouble{t}, party: party, support: s})
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
		end := t.Cites[len(t.Cites)-1]
		return afterCancel(end) && !j.c.misrouted(end)
	}
	return false
}

// conclude turns causes into faults and says what the outcome is.
func (j *judgement) conclude() {
	for i := range j.causes {
		k := &j.causes[i]
		k.ev.Records, k.ev.Against = union(k.ev.Records, nil), union(k.ev.Against, nil)
		j.v.Faults = append(j.v.Faults, j.fault(*k))
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
		j.suspectDoubted(t)
	}
	j.v.Explanation = j.explanation()
}

// Explain judges as Judge does, and says how it came to its verdict.
func Explain(c *Case, rules []Rule) (Verdict, Reasoning) {
	why := &Reasoning{Troubles: []Deliberation{}}
	v := judge(c, rules, why)
	why.Handoffs = c.handoffStates()
	return v, *why
}

// judgement is the working state of Judge.
type judgement struct {
	c         *Case
	rules     []Rule
	v         Verdict
	causes    []cause
	open      []*Trouble              // troubles that nothing explains
	unknown   []*Trouble              // the same, and those that were made good
	doubted   map[*Trouble][]Evidence // what speaks for somebody and proves nothing
	lagged    []*Trouble              // views that were behind for long, and are no more, of which nothing says why
	contested bool
	disabled  map[string]bool
	why       *Reasoning // nil where nobody asked
}

// cause is one explanation with the troubles that it explains.
type cause struct {
	ev       Evidence
	troubles []*Trouble
	party    string
	support  support
}
