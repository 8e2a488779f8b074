package correlator

import (
	"cmp"
	"slices"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Tiebreak is one named reason to prefer one explanation of a trouble over another. It is negative
// where a is the better one.
type Tiebreak struct {
	Name    string
	Compare func(a, b *Evidence) int
}

// Tiebreaks are asked in this order; the first that decides, decides. Where none of the deciding ones
// does, the trouble is contested (docs/domain.md §4.10).
func Tiebreaks() []Tiebreak {
	return []Tiebreak{
		// Words that name a cause beat a status that many causes produce, and that beats "it failed".
		{"specific over general", func(a, b *Evidence) int { return cmp.Compare(b.Weight, a.Weight) }},
		// What was said under the allocation's or its node's identifiers, before what was only said at that time.
		{"its own records", func(a, b *Evidence) int { return falseFirst(a.Beside, b.Beside) }},
		// The component that failed, about itself, beats its caller, and that beats anyone further.
		{"closer witness", func(a, b *Evidence) int { return cmp.Compare(a.Directness, b.Directness) }},
		// What lies on the way of the step that failed, before what was also wrong with the node.
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

// dispute says whether of two explanations each is one party's own word against the other party.
func dispute(a, b *Evidence) bool {
	return a != b && a.Disputed != "" && a.Disputed == b.Layer && b.Disputed == a.Layer
}

// faceToFace puts, where the best explanation, or another of its layer that says as much, is one party's word against another, that other one's word next: what
// else speaks for the first is not what stands against it. An explanation that only believes one of the two parties stands behind both.
func faceToFace(t *Trouble, found []Evidence) []Evidence {
	for i := range found {
		for j := range found {
			if !dispute(&found[i], &found[j]) {
				continue
			}
			if found[i].Layer == found[0].Layer && found[i].Weight >= found[0].Weight || believes(t, found[:min(i, j)], &found[i]) {
				rest := slices.Clone(found)
				rest = slices.Delete(slices.Delete(rest, max(i, j), max(i, j)+1), min(i, j), min(i, j)+1)
				return append([]Evidence{found[i], found[j]}, rest...)
			}
		}
	}
	return found
}

// believes says whether each of some explanations stands on nothing but what both of two parties dispute, what one of them tells of the other, or what somebody
// who waits for them tells: that he waits.
func believes(t *Trouble, better []Evidence, one *Evidence) bool {
	for _, ev := range better {
		for _, e := range ev.stands {
			disputed, party := slices.Contains(one.stands, e), e.Party()
			waits := party == semconv.LayerClient || party == t.Owes || party != "" && party == ev.Layer && asksAnother(one, e)
			if !disputed && !waits && (party == ev.Layer || party != one.Layer && party != one.Disputed) {
				return false // it tells of itself, or somebody else tells of it
			}
		}
	}
	return true
}

// asksAnother says whether somebody speaks who is of one layer with a party of a dispute, and another program: he asks it.
func asksAnother(one *Evidence, e *Event) bool {
	return e.Failed() && slices.ContainsFunc(one.stands, func(said *Event) bool { return said.Party() == e.Party() && said.Service != e.Service })
}
