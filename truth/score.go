package truth

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

// Answer is one verdict beside its truth.
type Answer struct {
	Story, Allocation string
	Expected          Expected
	Verdict           correlator.Verdict
	Grade             Grade
}

// Score counts answers.
type Score struct {
	Judged int
	Grades map[Grade]int
	// Claims are the faults that were claimed with a confidence, and how many of them were right.
	Claims, Kept map[string]int
}

// Judge gives the answers to every story of a corpus.
func (c Corpus) Judge(p *profile.Profile) []Answer {
	var out []Answer
	for _, s := range c.Stories {
		records := make([]*record.Record, len(s.Records))
		for i, r := range s.Records {
			one := *r // judging works records out; the story may be judged again
			records[i] = &one
		}
		answer := query.Analyze(correlator.NewDataset(records, nil, p, correlator.AsOf{}), rules.All())
		for _, id := range slices.Sorted(maps.Keys(s.Truth)) {
			a := Answer{Story: s.Name, Allocation: id, Expected: s.Truth[id]}
			if i := slices.IndexFunc(answer.Allocations, func(x correlator.Allocation) bool { return x.ID == id }); i >= 0 {
				a.Verdict = answer.Allocations[i].Verdict
			} else {
				a.Verdict.Outcome = correlator.None
			}
			a.Grade = a.Expected.Grade(a.Verdict)
			out = append(out, a)
		}
	}
	return out
}

// Count adds answers up.
func Count(answers []Answer) Score {
	s := Score{Grades: map[Grade]int{}, Claims: map[string]int{}, Kept: map[string]int{}}
	for _, a := range answers {
		s.Judged++
		s.Grades[a.Grade]++
		for _, f := range a.Verdict.Faults {
			s.Claims[f.Confidence]++
			if a.Expected.owns(f.Layer) || a.Expected.Outcome == correlator.Contested && a.Grade == Right {
				s.Kept[f.Confidence]++
			}
		}
	}
	return s
}

// Add gives two scores as one.
func (s Score) Add(t Score) Score {
	sum := Score{Judged: s.Judged + t.Judged, Grades: map[Grade]int{}, Claims: map[string]int{}, Kept: map[string]int{}}
	for _, one := range []Score{s, t} {
		for k, n := range one.Grades {
			sum.Grades[k] += n
		}
		for k, n := range one.Claims {
			sum.Claims[k] += n
		}
		for k, n := range one.Kept {
			sum.Kept[k] += n
		}
	}
	return sum
}

// Header names the columns of Row.
const Header = "corpus\tjudged\tright\twrong\tmissed\tabstained\tfalse alarms\thigh: right\tmedium: right\tlow: right"

// Row writes a score as a line of a table.
func (s Score) Row(w io.Writer, name string) {
	share := func(g Grade) string {
		return fmt.Sprintf("%d (%.0f %%)", s.Grades[g], 100*float64(s.Grades[g])/float64(max(1, s.Judged)))
	}
	kept := func(confidence string) string {
		if s.Claims[confidence] == 0 {
			return "–"
		}
		return fmt.Sprintf("%d of %d", s.Kept[confidence], s.Claims[confidence])
	}
	_, _ = fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%d\t%s\t%d\t%s\t%s\t%s\n", name, s.Judged, share(Right), share(Wrong), s.Grades[Missed], share(Abstained),
		s.Grades[Alarm], kept(correlator.High), kept(correlator.Medium), kept(correlator.Low))
}

// Say writes one answer as a line.
func (a Answer) Say(w io.Writer) {
	_, _ = fmt.Fprintf(w, "%-9s %s %s: want %s %v", a.Grade, a.Story, a.Allocation, a.Expected.Outcome, a.Expected.Layers)
	if len(a.Expected.Accept) > 0 {
		_, _ = fmt.Fprintf(w, " or %v", a.Expected.Accept)
	}
	_, _ = fmt.Fprintf(w, ", got %s", cmp.Or(a.Verdict.Outcome, correlator.None))
	for _, f := range a.Verdict.Faults {
		_, _ = fmt.Fprintf(w, " %s (%s)", f.Rule, f.Confidence)
	}
	_, _ = fmt.Fprintln(w)
}
