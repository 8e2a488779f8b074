package correlator_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/story"
)

// variant is a way in which real telemetry is worse than a story.
type variant struct {
	name string
	make func(p *profile.Profile, records []*record.Record) [][]*record.Record
}

func variants() []variant {
	one := func(f func(r *rand.Rand, in []*record.Record) []*record.Record) func(*profile.Profile, []*record.Record) [][]*record.Record {
		return func(_ *profile.Profile, in []*record.Record) [][]*record.Record {
			var out [][]*record.Record
			for seed := range uint64(4) {
				out = append(out, f(rand.New(rand.NewPCG(seed, 11)), copies(in)))
			}
			return out
		}
	}
	return []variant{
		{"complete", func(_ *profile.Profile, in []*record.Record) [][]*record.Record { return [][]*record.Record{in} }},
		{"a layer withheld", func(p *profile.Profile, in []*record.Record) [][]*record.Record {
			var out [][]*record.Record
			for _, layer := range p.Layers {
				rest := slices.DeleteFunc(slices.Clone(in), func(r *record.Record) bool { return p.Layer(r.Service, r.Scope, r.Attr) == layer })
				if len(rest) < len(in) {
					out = append(out, rest)
				}
			}
			return out
		}},
		{"10 % lost", one(func(r *rand.Rand, in []*record.Record) []*record.Record {
			return slices.DeleteFunc(in, func(*record.Record) bool { return r.IntN(10) == 0 })
		})},
		{"5 % doubled, shuffled", one(func(r *rand.Rand, in []*record.Record) []*record.Record {
			for range max(1, len(in)/20) {
				in = append(in, in[r.IntN(len(in))])
			}
			r.Shuffle(len(in), func(i, j int) { in[i], in[j] = in[j], in[i] })
			return in
		})},
		{"±30 s skew a source", one(func(r *rand.Rand, in []*record.Record) []*record.Record {
			by := map[string]int64{}
			for _, x := range in {
				if _, ok := by[x.Service]; !ok {
					by[x.Service] = int64(r.IntN(60)-30) * int64(time.Second)
				}
			}
			for _, x := range in {
				x.Time += by[x.Service]
				if x.End != 0 {
					x.End += by[x.Service]
				}
			}
			return in
		})},
		{"a third of the ids missing", one(func(r *rand.Rand, in []*record.Record) []*record.Record {
			for _, x := range in {
				if x.IsEvent() {
					continue // the lifecycle's own events say whose they are
				}
				x.Attrs = slices.DeleteFunc(slices.Clone(x.Attrs), func(a record.Attr) bool {
					return (strings.HasSuffix(a.Key, "_id") || a.Key == "provider_job") && r.IntN(3) == 0
				})
			}
			return in
		})},
	}
}

// truthOf reads what a story's verdict section says of each allocation: its outcome and owner layers.
func truthOf(s story.Scenario) map[string]expected {
	out := map[string]expected{}
	id := ""
	for _, line := range s.Verdict {
		f := strings.Fields(line)
		switch {
		case len(f) > 2 && f[0] == "allocation":
			id = f[1]
			out[id] = expected{outcome: f[2]}
		case len(f) > 1 && f[0] == "fault":
			e := out[id]
			layer, _, _ := strings.Cut(f[1], ".")
			e.layers = append(e.layers, layer)
			out[id] = e
		}
	}
	return out
}

type expected struct {
	outcome string
	layers  []string
}

// score counts judgements.
type score struct{ judged, right, wrong, abstained, alarms, faulty, faults, grounded int }

func (s *score) add(want expected, owners []string) {
	s.judged++
	foreign := slices.ContainsFunc(owners, func(o string) bool { return !slices.Contains(want.layers, o) })
	switch {
	case len(want.layers) == 0 && len(owners) > 0:
		s.alarms++
	case len(want.layers) == 0:
		s.right++
	case foreign:
		s.wrong++
	case len(owners) == 0:
		s.abstained++
	default:
		s.right++
	}
	if len(want.layers) > 0 {
		s.faulty++
	}
}

// heuristics are what people do without a correlator: whose error is the first, the last, the most, the
// deepest span's.
var heuristics = []struct {
	name  string
	owner func(layers []string, errors []*record.Record) string
}{
	{"first error", func(l []string, _ []*record.Record) string { return l[0] }},
	{"last error", func(l []string, _ []*record.Record) string { return l[len(l)-1] }},
	{"most errors", func(l []string, _ []*record.Record) string {
		n, best := map[string]int{}, l[0]
		for _, x := range l {
			if n[x]++; n[x] > n[best] {
				best = x
			}
		}
		return best
	}},
	{"deepest error span", func(l []string, errors []*record.Record) string {
		best := l[0]
		for i, e := range errors {
			if e.Signal == record.Span && e.ParentID != "" {
				best = l[i]
			}
		}
		return best
	}},
}

func guess(p *profile.Profile, records []*record.Record, owner func([]string, []*record.Record) string) []string {
	var layers []string
	var errors []*record.Record
	sorted := slices.SortedStableFunc(slices.Values(records), func(a, b *record.Record) int { return int(a.Time - b.Time) })
	for _, r := range sorted {
		if layer := p.Layer(r.Service, r.Scope, r.Attr); r.Severity >= 17 && layer != "" {
			layers, errors = append(layers, layer), append(errors, r)
		}
	}
	if len(layers) == 0 {
		return nil
	}
	return []string{owner(layers, errors)}
}

// TestScoreboard judges every story in every variant and holds the line: no false alarm, hardly ever a
// wrong owner. With FAULTLINE_SCOREBOARD set it prints the table (make scenarios).
func TestScoreboard(t *testing.T) {
	p := defaultProfile(t)
	out := io.Discard
	if os.Getenv("FAULTLINE_SCOREBOARD") != "" {
		out = os.Stdout
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "variant\tjudged\tright\twrong owner\tabstained\tfalse alarms\tgrounded")
	var total score
	naive := make([]score, len(heuristics))
	for _, v := range variants() {
		var s score
		for _, tale := range scenarios(t) {
			truths := truthOf(tale)
			for n, records := range v.make(p, tale.Records) {
				answer := analyze(t, records)
				for id, want := range truths {
					i := slices.IndexFunc(answer.Allocations, func(a correlator.Allocation) bool { return a.ID == id })
					if i < 0 {
						continue // nothing of it is left
					}
					var owners []string
					for _, f := range answer.Allocations[i].Verdict.Faults {
						owners = append(owners, f.Layer)
						s.faults++
						if stands, falls := grounded(t, records, answer.Allocations[i], f); stands && falls {
							s.grounded++
						}
					}
					before := s
					s.add(want, owners)
					if (s.wrong > before.wrong || s.alarms > before.alarms) && out != io.Discard {
						_, _ = fmt.Fprintf(os.Stderr, "%s, %s #%d: %v, want %v\n", tale.Name, v.name, n, owners, want.layers)
					}
					for h := range heuristics {
						naive[h].add(want, guess(p, records, heuristics[h].owner))
					}
				}
			}
		}
		row(table, v.name, s)
		total.judged, total.right, total.wrong = total.judged+s.judged, total.right+s.right, total.wrong+s.wrong
		total.abstained, total.alarms, total.faulty = total.abstained+s.abstained, total.alarms+s.alarms, total.faulty+s.faulty
		total.faults, total.grounded = total.faults+s.faults, total.grounded+s.grounded
		if v.name == "complete" && (s.wrong > 0 || s.alarms > 0 || s.abstained*100 > 3*s.faulty) {
			t.Errorf("complete telemetry: %+v", s)
		}
	}
	row(table, "all", total)
	best := naive[0]
	for h, s := range naive {
		row(table, "naive: "+heuristics[h].name, s)
		if s.wrong < best.wrong {
			best = s
		}
	}
	_ = table.Flush()
	if total.wrong*100 > total.judged || total.wrong*5 > best.wrong {
		t.Errorf("wrong owner in %d of %d, the best heuristic in %d", total.wrong, total.judged, best.wrong)
	}
	if total.alarms > 0 {
		t.Errorf("%d false alarms", total.alarms)
	}
}

func row(w io.Writer, name string, s score) {
	share := func(n int) string { return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(max(1, s.judged))) }
	well := ""
	if s.faults > 0 {
		well = fmt.Sprintf("%d of %d (%.1f %%)", s.grounded, s.faults, 100*float64(s.grounded)/float64(s.faults))
	}
	_, _ = fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%d\t%s\n", name, s.judged, share(s.right), share(s.wrong), share(s.abstained), s.alarms, well)
}
