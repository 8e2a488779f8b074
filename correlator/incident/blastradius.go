package incident

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Reason says what the blast radius changed of an assessment.
type Reason string

// The reasons, the strongest last.
const (
	Alone         Reason = "alone"          // nothing: few others, or none, have the same cause
	SharedCause   Reason = "shared_cause"   // a finding tells how many others have the same cause
	SharedWins    Reason = "shared_wins"    // of two causes with equal evidence, the one that others suffer too was kept
	SilenceShared Reason = "silence_shared" // nodes fell silent together: the cause is what they share, and that is not known
)

// coincidence is how many others make a coincidence unlikely: two other allocations, or two other nodes, are three of a kind.
const coincidence = 2

// silenceWindow is how far apart tasks of nodes that fell silent may have been waiting and still have one reason: agents
// are asked one after the other, as allocations come.
const silenceWindow = 5 * time.Minute

// bySilence is the mechanism of faults that nothing but an absence shows.
const bySilence = "silent"

// countedTo is how many others are counted: whether a hundred or ten thousand share a cause changes nothing.
const countedTo = 100

// betweenNodes are the layers that stand between nodes and those who wait for them.
var betweenNodes = []string{semconv.LayerIngress, semconv.LayerNetwork, semconv.LayerCert}

// ApplyBlastRadius gives the assessment as it stands among those of other allocations, and why it is not as it was. related
// answers for one cause, and is asked only where there is a fault.
func ApplyBlastRadius(a correlator.Assessment, p *profile.Profile, related func(Cause) (iter.Seq[*RelatedFault], error)) (correlator.Assessment, Reason, error) {
	r := newRadius(a, p)
	reach := make([]map[string]bool, len(r.Occurrences)) // other allocations with the same cause, by occurrence
	for i := range r.Occurrences {
		o := &r.Occurrences[i]
		if o.Subject.Kind == correlator.SubjectAllocation {
			continue // nobody else's, by definition
		}
		list, err := related(causeOf(o, Window))
		if err != nil {
			return a, Alone, err
		}
		reach[i] = sameSubject(a.ID, o.Subject, list)
	}
	r.preferShared(reach)
	for i := range r.Occurrences {
		o := &r.Occurrences[i]
		if o.Mechanism != bySilence || o.Subject.Kind != correlator.SubjectNode {
			continue
		}
		list, err := related(causeOf(o, silenceWindow))
		if err != nil {
			return a, Alone, err
		}
		if nodes := silentTogether(o, list); len(nodes) > coincidence {
			r.takeBackSilence(o, nodes)
		}
	}
	return r.Assessment, r.reason, nil
}

// ApplyBlastRadius is ApplyBlastRadius among the assessments that were added.
func (x *FaultIndex) ApplyBlastRadius(a correlator.Assessment, p *profile.Profile) (correlator.Assessment, Reason) {
	out, reason, _ := ApplyBlastRadius(a, p, func(c Cause) (iter.Seq[*RelatedFault], error) { return x.Of(c), nil })
	return out, reason
}

// causeOf is the cause by which faults related to an occurrence are looked up, within a time of its onset.
func causeOf(o *correlator.FaultOccurrence, within time.Duration) Cause {
	return Cause{o.Layer, o.Mechanism, int64(o.Onset) - int64(within), int64(o.Onset) + int64(within)}
}

// sameSubject are the other allocations whose fault lies with the same subject.
func sameSubject(allocation string, s correlator.Subject, list iter.Seq[*RelatedFault]) map[string]bool {
	out := map[string]bool{}
	for f := range list {
		if len(out) == countedTo {
			break
		}
		if f.Allocation != allocation && f.Occurrence.Subject.Shares(s) {
			out[f.Allocation] = true
		}
	}
	return out
}

// silentTogether lists the nodes that fell silent together with one, itself among them.
func silentTogether(o *correlator.FaultOccurrence, list iter.Seq[*RelatedFault]) []string {
	out := slices.Clone(o.Subject.IDs)
	for f := range list {
		if len(out) >= countedTo {
			break
		}
		if f.Occurrence.Subject.Kind == correlator.SubjectNode {
			out = append(out, f.Occurrence.Subject.IDs...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// radius is a copy of an assessment that may be changed.
type radius struct {
	correlator.Assessment
	profile *profile.Profile
	reason  Reason
}

// newRadius copies what may be changed.
func newRadius(a correlator.Assessment, p *profile.Profile) *radius {
	a.Occurrences = slices.Clone(a.Occurrences)
	a.Verdict.Faults, a.Verdict.Findings = slices.Clone(a.Verdict.Faults), slices.Clone(a.Verdict.Findings)
	a.Verdict.Candidates = slices.Clone(a.Verdict.Candidates)
	return &radius{a, p, Alone}
}

// preferShared notes how many others have each cause, and keeps, of two causes with equal evidence, the one that others suffer too.
func (r *radius) preferShared(reach []map[string]bool) {
	for i := range r.Occurrences {
		if n := len(reach[i]); n >= coincidence {
			o := &r.Occurrences[i]
			r.reason = SharedCause
			r.addFinding(fmt.Sprintf("%s other allocations were hit by the same cause: %s.%s at %s", counted(n), o.Layer, o.Mechanism, strings.Join(o.Subject.IDs, ", ")), nil)
		}
	}
	if r.Verdict.Outcome != correlator.Contested || len(r.Occurrences) != 2 {
		return
	}
	for keep, drop := range []int{1, 0} {
		if len(reach[keep]) < coincidence || len(reach[drop]) > 0 {
			continue
		}
		kept, dropped := &r.Occurrences[keep], &r.Occurrences[drop]
		r.reason = SharedWins
		r.addFinding(fmt.Sprintf("the evidence for %s (%s) is equal, and it was set aside: nobody else was hit by it", dropped.Layer, dropped.Summary), dropped.Evidence)
		r.setAside(dropped)
		kept.Contested, r.Verdict.Outcome = false, correlator.Attributed
		r.Verdict.Explanation = fmt.Sprintf("%s owns it: %s. %s other allocations were hit by the same.", kept.Layer, kept.Summary, counted(len(reach[keep])))
		return
	}
}

// takeBackSilence takes back the fault of a node's silence: it is one of many, and what they share is not known.
func (r *radius) takeBackSilence(o *correlator.FaultOccurrence, nodes []string) {
	why := fmt.Sprintf("%s nodes fell silent within %s of one another (%s): look for what they share", counted(len(nodes)), silenceWindow, strings.Join(nodes[:min(len(nodes), 5)], ", "))
	r.reason = SilenceShared
	r.addFinding(why, o.Evidence)
	r.setAside(o)
	if len(r.Verdict.Faults) > 0 {
		return
	}
	r.Verdict.Outcome, r.Verdict.Explanation = correlator.Undetermined, "something is wrong and the evidence does not reach its cause: "+why+"."
	for _, layer := range append(slices.Clone(betweenNodes), o.Layer) {
		if r.profile.Knows(layer) && !slices.ContainsFunc(r.Verdict.Candidates, func(c correlator.Candidate) bool { return c.Layer == layer }) {
			r.Verdict.Candidates = append(r.Verdict.Candidates, correlator.Candidate{Layer: layer, Why: why})
		}
	}
}

// setAside takes a fault out of the verdict. Its occurrence stays: other allocations are judged by it.
func (r *radius) setAside(o *correlator.FaultOccurrence) {
	o.Aside, o.Contested = true, false
	r.Verdict.Faults = slices.DeleteFunc(r.Verdict.Faults, func(f correlator.Fault) bool {
		return f.Rule == o.Rule && f.Onset == o.Onset && slices.Equal(f.Evidence, o.Evidence)
	})
}

// addFinding adds a finding that cites the first few records.
func (r *radius) addFinding(summary string, cites []string) {
	r.Verdict.Findings = append(r.Verdict.Findings, correlator.Finding{Kind: "blast_radius", Summary: summary, Refs: append([]string{}, cites[:min(len(cites), victimEvidence)]...)})
}

// counted says a number that was counted up to countedTo.
func counted(n int) string {
	if n >= countedTo {
		return fmt.Sprintf("%d or more", countedTo)
	}
	return strconv.Itoa(n)
}
