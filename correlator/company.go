package correlator

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/semconv"
)

// A cause is judged from one allocation's records first. How far it reaches speaks last (domain facts §4.10, rule 7):
// where the evidence is equal, what others suffer too is preferred; and what is found on many machines at once, by
// their silence alone, is not each machine's own.

// Fellow is a fault of another allocation.
type Fellow struct {
	Allocation string
	Hit        Hit
}

// Company knows what befell other allocations. Libraries that keep verdicts, or can judge all that they hold,
// implement it.
type Company interface {
	// Fellows gives the faults of one layer and mechanism that began in [from, to], of all allocations, by what was
	// known at asOf, 0 for now; a few dozen at most.
	Fellows(ctx context.Context, layer, mechanism string, from, to, asOf int64) (iter.Seq[*Fellow], error)
}

// many is how many other allocations, or machines, make a coincidence unlikely: with two others it is three of a kind.
const many = 2

// together is how far apart tasks of machines that fell silent may have been waiting and still have one reason: agents
// are asked one after the other, as allocations come.
const together = 5 * time.Minute

// bySilence is the mechanism of faults that nothing but an absence shows.
const bySilence = "silent"

// passedBy are what stands between machines and those who wait for them.
var passedBy = []string{semconv.LayerIngress, semconv.LayerNetwork, semconv.LayerCert}

// fellows answers for one fault; a function, since stores are asked lazily.
type fellows func(h *Hit, within time.Duration) (iter.Seq[*Fellow], error)

// countedTo is how many others are counted: whether a hundred or ten thousand share a cause changes nothing.
const countedTo = 100

// weigh lets a standing be judged in company.
func (s *Standing) weigh(p *profile.Profile, others fellows) error {
	reach := make([]map[string]bool, len(s.Hits)) // other allocations with the same cause, by hit
	for i := range s.Hits {
		h := &s.Hits[i]
		if h.Subject.Kind == SubjectAllocation {
			continue // nobody else's, by definition
		}
		list, err := others(h, IncidentWindow)
		if err != nil {
			return err
		}
		reach[i] = map[string]bool{}
		for f := range list {
			if len(reach[i]) == countedTo {
				break
			}
			if f.Allocation != s.ID && f.Hit.Subject.Kind == h.Subject.Kind && overlap(f.Hit.Subject.IDs, h.Subject.IDs) {
				reach[i][f.Allocation] = true
			}
		}
	}
	s.decide(reach)
	for i := range s.Hits {
		if s.Hits[i].Mechanism != bySilence || s.Hits[i].Subject.Kind != SubjectNode {
			continue
		}
		silent, err := s.silentWith(&s.Hits[i], others)
		if err != nil {
			return err
		}
		if len(silent) > many {
			s.share(p, &s.Hits[i], silent)
		}
	}
	return nil
}

// decide prefers, of two causes with equal evidence, the one that others suffer too.
func (s *Standing) decide(reach []map[string]bool) {
	for i := range s.Hits {
		if n := len(reach[i]); n >= many {
			s.find(fmt.Sprintf("%s other allocations were hit by the same cause: %s.%s at %s", counted(n), s.Hits[i].Layer, s.Hits[i].Mechanism, strings.Join(s.Hits[i].Subject.IDs, ", ")), nil)
		}
	}
	if s.Verdict.Outcome != Contested || len(s.Hits) != 2 {
		return
	}
	for keep, drop := range []int{1, 0} {
		if len(reach[keep]) < many || len(reach[drop]) > 0 {
			continue
		}
		h, dropped := &s.Hits[keep], &s.Hits[drop]
		s.find(fmt.Sprintf("the evidence for %s (%s) is equal, and it was set aside: nobody else was hit by it", dropped.Layer, dropped.Summary), dropped.Evidence)
		s.setAside(dropped)
		h.Contested, s.Verdict.Outcome = false, Attributed
		s.Verdict.Explanation = fmt.Sprintf("%s owns it: %s. %s other allocations were hit by the same.", h.Layer, h.Summary, counted(len(reach[keep])))
		return
	}
}

// silentWith lists the machines that fell silent together with one, itself among them.
func (s *Standing) silentWith(h *Hit, others fellows) ([]string, error) {
	list, err := others(h, together)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(h.Subject.IDs)
	for f := range list {
		if len(out) >= countedTo {
			break
		}
		if f.Hit.Subject.Kind == SubjectNode {
			out = append(out, f.Hit.Subject.IDs...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// share takes the fault of a machine's silence back: it is one of many, and what they share is not known.
func (s *Standing) share(p *profile.Profile, h *Hit, machines []string) {
	why := fmt.Sprintf("%s machines fell silent within %s of one another (%s): look for what they share", counted(len(machines)), together, strings.Join(machines[:min(len(machines), 5)], ", "))
	s.find(why, h.Evidence)
	s.setAside(h)
	if len(s.Verdict.Faults) > 0 {
		return
	}
	s.Verdict.Outcome, s.Verdict.Explanation = Undetermined, "something is wrong and the evidence does not reach its cause: "+why+"."
	for _, layer := range append(slices.Clone(passedBy), h.Layer) {
		if p.Knows(layer) && !slices.ContainsFunc(s.Verdict.Candidates, func(c Candidate) bool { return c.Layer == layer }) {
			s.Verdict.Candidates = append(s.Verdict.Candidates, Candidate{layer, why})
		}
	}
}

// setAside takes a fault out of the verdict. Its hit stays: others are judged in its company.
func (s *Standing) setAside(h *Hit) {
	h.Aside, h.Contested = true, false
	s.Verdict.Faults = slices.DeleteFunc(slices.Clone(s.Verdict.Faults), func(f Fault) bool {
		return f.Rule == h.Rule && f.Onset == h.Onset && slices.Equal(f.Evidence, h.Evidence)
	})
}

func (s *Standing) find(summary string, cites []string) {
	s.Verdict.Findings = append(s.Verdict.Findings, Finding{"blast_radius", summary, append([]string{}, cites[:min(len(cites), victimEvidence)]...)})
}

// counted says a number that was counted up to countedTo.
func counted(n int) string {
	if n >= countedTo {
		return fmt.Sprintf("%d or more", countedTo)
	}
	return strconv.Itoa(n)
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}

// Together are the faults of a set of standings, to be asked for company.
type Together struct {
	by   map[[2]string][]Fellow // by layer and mechanism
	keys map[string][][2]string // those of each allocation
}

// NewTogether is empty.
func NewTogether() *Together {
	return &Together{map[[2]string][]Fellow{}, map[string][][2]string{}}
}

// Add takes the faults of a standing that was judged alone; what was added of the same allocation before goes.
func (t *Together) Add(s *Standing) {
	t.Drop(s.ID)
	for _, h := range s.Hits {
		k := [2]string{h.Layer, h.Mechanism}
		t.by[k], t.keys[s.ID] = append(t.by[k], Fellow{s.ID, h}), append(t.keys[s.ID], k)
	}
}

// Drop forgets an allocation.
func (t *Together) Drop(allocation string) {
	for _, k := range t.keys[allocation] {
		if t.by[k] = slices.DeleteFunc(t.by[k], func(f Fellow) bool { return f.Allocation == allocation }); len(t.by[k]) == 0 {
			delete(t.by, k)
		}
	}
	delete(t.keys, allocation)
}

// Within gives the faults of one layer and mechanism that began in [from, to].
func (t *Together) Within(layer, mechanism string, from, to int64) iter.Seq[*Fellow] {
	list := t.by[[2]string{layer, mechanism}]
	return func(yield func(*Fellow) bool) {
		for i := range list {
			if on := int64(list[i].Hit.Onset); on >= from && on <= to && !yield(&list[i]) {
				return
			}
		}
	}
}

// Weigh judges a standing in the company of the others.
func (t *Together) Weigh(s *Standing, p *profile.Profile) {
	_ = s.weigh(p, func(h *Hit, within time.Duration) (iter.Seq[*Fellow], error) {
		return t.Within(h.Layer, h.Mechanism, int64(h.Onset)-int64(within), int64(h.Onset)+int64(within)), nil
	})
}

// inCompany judges a standing in the company that a library knows of; one that knows of none leaves it as it is.
func inCompany(ctx context.Context, l Library, s *Standing, p *profile.Profile, asOf int64) error {
	company, ok := l.(Company)
	if !ok {
		return nil
	}
	return s.weigh(p, func(h *Hit, within time.Duration) (iter.Seq[*Fellow], error) {
		return company.Fellows(ctx, h.Layer, h.Mechanism, int64(h.Onset)-int64(within), int64(h.Onset)+int64(within), asOf)
	})
}
