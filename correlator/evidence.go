package correlator

import (
	"cmp"
	"slices"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
)

// Weight is how much a piece of evidence says by its nature.
type Weight int

// The weights. Wrappers (errors that repeat what somebody else said) have none and are never evidence.
const (
	// Slight: nothing names a cause, and of all who spoke this party speaks of itself.
	Slight Weight = iota + 1
	// Generic: a layer says that something failed in it, and not what.
	Generic
	// Telling: a sequence, an absence or a status that only this cause produces.
	Telling
	// Specific: words that name the cause itself.
	Specific
)

// Directness is how close the witness stood (docs/domain.md §4.10, rule 1).
type Directness int

// The distances, closest first.
const (
	Itself Directness = iota + 1 // the component that failed, about itself
	Caller                       // its immediate caller or peer
	Hearsay
)

// Evidence is what one rule found about one trouble: a cause, its owner and the records that prove it.
type Evidence struct {
	Rule       string
	Layer      string
	Mechanism  string
	Weight     Weight
	Directness Directness
	Records    []*Event // what proves it, in order; never empty
	Against    []*Event // what speaks against it
	Onset      int64
	Last       int64
	Summary    string
	NextCheck  string
	SafeAction string
	Certain    bool   // false lowers the confidence: another reading exists
	Mended     bool   // it stands on who mended it alone, and says nothing of what it was
	Disputed   string // the layer whose own word says the opposite, and that this layer's word accuses: nothing decides between the two; its own where that is another of it
	Unread     bool   // it stands on who speaks, whatever he says: it counts where nobody has read that
	Beside     bool   // it stands on records that were said beside the trouble, under nobody's identifiers

	stands []*Event // Records, without what the trouble cites; worked out by the judge
	beside bool     // it lies beside the way of the step that failed; worked out by the judge
}

// Rule looks for one cause.
type Rule struct {
	ID         string // layer.mechanism, stable for ever
	Layer      string
	Mechanism  string
	Looks      string // what it looks for, one sentence
	Stands     string // on which states of handoffs it stands: how far the order is proven to have come
	NextCheck  string
	SafeAction string
	// Words make a record worth reading that belongs to nobody and tells of no failure by its severity: systems write their
	// causes at INFO, too. In lower case; nil where the rule reads none of those.
	Words []string
	// Find gives the evidence for this cause of this trouble, nil where there is none. It must not keep
	// or change what it is given.
	Find func(c *Case, t *Trouble) []Evidence
}

// How far from a trouble a record may stand and still be its evidence. Clocks differ by seconds, not
// minutes; a node's own complaints count a little before the step that they broke.
const (
	skew     = int64(30 * time.Second)
	lookback = int64(2 * time.Minute)
	moment   = int64(5 * time.Second) // what is written in one breath
)

func (e *Evidence) confidence() string {
	switch {
	case e.Weight == Slight || e.Weight == Generic && !e.Certain:
		return Low
	case e.Weight == Specific && e.Directness <= Caller && e.Certain:
		return High
	case e.Weight == Telling && e.Directness == Itself && e.Certain:
		return High
	}
	return Medium
}

// Ground completes what a verdict's faults cite, so that they stand on it (docs/contract.md §6): judged again by what a fault cites, with events,
// its layer and mechanism come out; judged by everything else, that layer does not. A rule cites what it rests on. What made the judge prefer its
// explanation to another, or what another rule would have found without it, it cannot know.
func Ground(c *Case, rules []Rule, v Verdict) Verdict {
	if len(v.Faults) == 0 || len(c.Events)+len(c.Unattributed) > mostGrounded {
		return v
	}
	v.Faults = slices.Clone(v.Faults)
	layers := map[string]int{}
	for _, f := range v.Faults {
		layers[f.Layer]++
	}
	for i := range v.Faults {
		f := &v.Faults[i]
		g := grounding{c: c, rules: rules, f: f, cited: map[string]bool{}, left: mostJudged}
		n := len(f.Evidence)
		g.cite(f.Evidence)
		if layers[f.Layer] == 1 { // where another fault of the layer stands on its own records, this one cannot be told apart
			g.fall()
		}
		g.stand()
		g.link()
		if len(f.Evidence) > n {
			g.arrange()
		}
	}
	return v
}

const (
	mostGrounded = 20_000 // records of a case, above which its faults cite what the rules cite
	mostJudged   = 48     // judgements for one fault
	mostCited    = 200    // records that one fault cites
)

// grounding completes the citations of one fault.
type grounding struct {
	c     *Case
	rules []Rule
	f     *Fault
	cited map[string]bool
	left  int // judgements that may still be made
}

// arrange puts what was cited in the order in which it is read (tellingFirst).
func (g *grounding) arrange() {
	var records []*Event
	known := map[string]bool{}
	for _, list := range [][]*Event{g.c.Events, g.c.Unattributed, g.c.borrowed} {
		for _, e := range list {
			if g.cited[e.Ref] && !known[e.Ref] {
				known[e.Ref] = true
				records = append(records, e)
			}
		}
	}
	place := map[string]int{}
	slices.SortStableFunc(records, CompareEvents)
	for i, e := range tellingFirst(records, g.c.ID) {
		place[e.Ref] = i + 1
	}
	slices.SortStableFunc(g.f.Evidence, func(a, b string) int { // what is not found here was lent by somebody else's working set
		return cmp.Compare(cmp.Or(place[a], len(place)+1), cmp.Or(place[b], len(place)+1))
	})
}

func (g *grounding) cite(refs []string) {
	for _, ref := range refs {
		if g.cited[ref] {
			continue
		}
		g.cited[ref] = true
		if !slices.Contains(g.f.Evidence, ref) && len(g.f.Evidence) < mostCited {
			g.f.Evidence = append(slices.Clip(g.f.Evidence), ref)
		}
	}
}

// fall cites what else would blame the same layer.
func (g *grounding) fall() {
	for range 4 {
		rest := g.judge(func(e *Event) bool { return !g.cited[e.Ref] })
		i := slices.IndexFunc(rest, func(f Fault) bool { return f.Layer == g.f.Layer })
		if i < 0 {
			return
		}
		g.cite(rest[i].Evidence)
	}
}

// stand cites what the fault does not come out without: of the plain records of each service as few as will do.
func (g *grounding) stand() {
	stands := func(more ...[]*Event) bool {
		refs := map[string]bool{}
		for _, list := range more {
			for _, e := range list {
				refs[e.Ref] = true
			}
		}
		return slices.ContainsFunc(g.judge(func(e *Event) bool { return e.IsEvent() || g.cited[e.Ref] || refs[e.Ref] }), func(f Fault) bool {
			return f.Layer == g.f.Layer && f.Mechanism == g.f.Mechanism
		})
	}
	if stands() {
		return
	}
	var kept [][]*Event
	var services buckets
	for _, list := range [][]*Event{g.c.Events, g.c.Unattributed} {
		for _, e := range list {
			if !e.IsEvent() && !g.cited[e.Ref] {
				services.add(e.Service, e)
			}
		}
	}
	for _, b := range services.all {
		kept = append(kept, b.events)
	}
	slices.SortStableFunc(kept, func(a, b []*Event) int { return cmp.Compare(len(b), len(a)) })
	if !stands(kept...) {
		return // it rests on records of others
	}
	for i := 0; i < len(kept) && g.left > 0; {
		others := slices.Concat(kept[:i], kept[i+1:])
		half := len(kept[i]) / 2
		switch {
		case stands(others...):
			kept = others
		case half > 0 && stands(append(others, kept[i][:half])...):
			kept[i] = kept[i][:half]
		case half > 0 && stands(append(others, kept[i][half:])...):
			kept[i] = kept[i][half:]
		default:
			i++
		}
	}
	for _, list := range kept {
		g.cite(refs(list))
	}
}

// link cites whose a cited record is, where it does not say so itself: of the plain records of its trace or request one that does, unless one of those
// is cited or is an event, which is known without being cited.
func (g *grounding) link() {
	says := func(e *Event) bool { return e.Keys.First(identity.Allocation) == g.c.ID }
	for _, e := range g.c.Events {
		if !g.cited[e.Ref] || e.IsEvent() || says(e) || e.Node != "" || e.TraceID == "" && e.Own(identity.Request) == "" {
			continue
		}
		var link *Event
		for _, o := range g.c.Events {
			if !says(o) || (o.TraceID == "" || o.TraceID != e.TraceID) && (o.Own(identity.Request) == "" || o.Own(identity.Request) != e.Own(identity.Request)) {
				continue
			}
			if o.IsEvent() || g.cited[o.Ref] {
				link = nil
				break
			}
			link = cmp.Or(link, o)
		}
		if link != nil {
			g.cite([]string{link.Ref})
		}
	}
}

// judge gives the faults of the case with some of its records alone. Nothing where too much has been judged.
func (g *grounding) judge(keep func(*Event) bool) []Fault {
	if g.left == 0 {
		return nil
	}
	g.left--
	env := *g.c.Env
	env.selections, env.Unattributed = nil, some(g.c.Unattributed, keep)
	if g.c.Liveness != nil {
		env.Liveness = NewLiveness()
		for layer, list := range g.c.Liveness.byLayer {
			env.Liveness.byLayer[layer] = some(list, keep)
		}
	}
	env.Others = some(g.c.Others, func(e *Event) bool { return e.Allocation == g.c.ID || keep(e) })
	own := some(g.c.Events, keep)
	env.Now = min(g.c.Now, max(newest(own), newest(env.Unattributed))) // whoever has these records alone knows no later time
	return Judge(NewCase(g.c.ID, own, &env), g.rules).Faults
}

// some gives those of a list of events that are to be kept. What was read out of each is of that record alone, and need not be read again.
func some(events []*Event, keep func(*Event) bool) []*Event {
	var out []*Event
	for _, e := range events {
		if keep(e) {
			out = append(out, e)
		}
	}
	return out
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

// sharesLine says whether two proofs have a line in common, lifecycle events apart, which prove what was owed.
func sharesLine(a, b []*Event) bool {
	return slices.ContainsFunc(plain(a), func(e *Event) bool { return slices.Contains(b, e) })
}

func union(a, b []*Event) []*Event {
	out := append(slices.Clone(a), b...)
	slices.SortStableFunc(out, CompareEvents)
	return slices.Compact(out)
}
