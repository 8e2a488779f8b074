package correlator

import (
	"cmp"
	"slices"

	"github.com/faultline-io/faultline/internal/semconv"
)

// fault is a cause as an answer.
func (j *judgement) fault(k cause) Fault {
	f := Fault{
		Layer: k.ev.Layer, Mechanism: k.ev.Mechanism, Confidence: k.ev.confidence(), Onset: Time(k.ev.Onset), Rule: k.ev.Rule,
		Summary: k.ev.Summary, Evidence: refs(tellingFirst(k.ev.Records, j.c.ID)), Symptoms: []string{}, Contradicting: refs(k.ev.Against),
		NextCheck: k.ev.NextCheck, SafeAction: k.ev.SafeAction, Owner: j.c.Profile.Owners[k.ev.Layer],
	}
	f.Confidence = k.support.weigh(f.Layer, f.Confidence)
	switch {
	case f.Confidence == High && (oneSided(k.ev) || k.ev.Disputed != ""):
		f.Confidence = Medium
	case unheard(k):
		f.Confidence = lower[f.Confidence]
	}
	evidence := map[*Event]bool{}
	for _, e := range k.ev.Records {
		evidence[e] = true
	}
	var symptoms []*Event
	cleared, still := int64(0), false
	for _, t := range k.troubles {
		if t.Cleared == 0 {
			still = true
		}
		cleared = max(cleared, t.Cleared)
		for _, list := range [][]*Event{t.Cites, j.c.Failures(t)} {
			for _, e := range list {
				if !evidence[e] {
					evidence[e] = true
					symptoms = append(symptoms, e)
				}
			}
		}
	}
	slices.SortFunc(symptoms, CompareEvents)
	if at := j.partyWorksAgain(k); at != 0 {
		cleared, still = at, false
	}
	if !still && cleared >= k.ev.Last && cleared != 0 {
		f.ClearedAt = new(Time)
		*f.ClearedAt = Time(cleared)
	}
	f.Symptoms = append(f.Symptoms, refs(symptoms)...)
	return f
}

// tellingFirst puts what says the same again after what says it first, and signs of life after both: who reads the first few reads those. Where there are more
// than an answer holds, the allocation's own come before what fifty others met of the same cause.
func tellingFirst(records []*Event, allocation string) []*Event {
	out, many := slices.Clone(records), len(records) > maxRefs
	said, again := map[string]bool{}, map[*Event]bool{}
	for _, e := range records {
		if !e.IsEvent() && e.Text != "" {
			sentence := e.Service + " " + Template(e.Text)
			again[e], said[sentence] = said[sentence], true
		}
	}
	rank := func(e *Event) int {
		switch {
		case e.Is(semconv.EventHeartbeat):
			return 3
		case many && e.Allocation != allocation:
			return 2
		case again[e]:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b *Event) int { return cmp.Compare(rank(a), rank(b)) })
	return out
}

// partyWorksAgain is the first success of the same node after the last evidence against it.
func (j *judgement) partyWorksAgain(k cause) int64 {
	if k.party == "" {
		return 0
	}
	e := j.c.lookup(indexKey{namedEvent, "", semconv.EventTaskState}).first(k.ev.Last, func(e *Event) bool {
		return e.Node == k.party && (e.To() == semconv.Dispatched || e.To() == semconv.Succeeded)
	})
	if e == nil {
		return 0
	}
	return e.At
}

// oneSided says whether a fault stands on the word of one service alone, on one node, that speaks of somebody else. Of lost packets a client who had
// a proxy's error for an answer is no second one.
func oneSided(ev Evidence) bool {
	if ev.Directness == Itself && !slices.Contains(voiceless, ev.Layer) {
		return false
	}
	speaker := ""
	for _, e := range ev.Records {
		switch {
		case e.IsEvent() && isLifecycle(e.Name):
		case e.Party() == ev.Layer:
			return false
		case e.Layer == semconv.LayerClient && ev.Layer == semconv.LayerNetwork && e.HTTP.Status >= 500:
		case speaker == "":
			speaker = clockOf(e)
		case speaker != clockOf(e):
			return false
		}
	}
	return speaker != ""
}

// unheard says whether a party that speaks for itself is blamed in others' words alone, for a step that it did not owe. Counted on the faults of
// rounds 63 to 78 and of five sets of incidents at first sight: of 71 such 39 were right, of 374 others 339.
func unheard(k cause) bool {
	if slices.Contains([]string{semconv.LayerCert, semconv.LayerDeploy, semconv.LayerProjection, semconv.LayerClient}, k.ev.Layer) {
		return false // what is shown to others, or looked at by them
	}
	return !slices.ContainsFunc(k.troubles, func(t *Trouble) bool { return t.Owes == k.ev.Layer }) &&
		!slices.ContainsFunc(k.ev.Records, func(e *Event) bool { return e.Layer == k.ev.Layer || e.Party() == k.ev.Layer })
}

// lower is the next lower confidence.
var lower = map[string]string{High: Medium, Medium: Low, Low: Low}

// voiceless are the layers that others tell of: whoever shook hands, dialled, or met what was rolled out.
var voiceless = []string{semconv.LayerCert, semconv.LayerNetwork, semconv.LayerDeploy}
