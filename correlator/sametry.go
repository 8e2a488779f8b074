package correlator

import (
	"slices"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
)

// triesApart is how soon after a failure the next try of the same begins, at most.
const triesApart = int64(15 * time.Minute)

// triedBefore is the cause of a trouble of which this one is another try: what failed, is tried again and fails with the same words, or is not taken
// again, fails for the same reason, where nothing says more than that whoever owed it did not do it. nil where there is none.
func (j *judgement) triedBefore(t *Trouble, found []Evidence) *cause {
	if len(found) > 0 && (found[0].Layer != t.Owes || found[0].Weight == Specific) {
		return nil
	}
	for i := range slices.Backward(j.causes) {
		k := &j.causes[i]
		if k.ev.Weight < Telling || k.ev.Layer == t.Owes || len(found) > 0 && k.ev.Weight <= found[0].Weight {
			continue
		}
		if slices.ContainsFunc(k.troubles, func(before *Trouble) bool { return sameTry(before, t) }) {
			return k
		}
	}
	return nil
}

// sameTry says whether one trouble is a try of what another one was before.
func sameTry(before, t *Trouble) bool {
	if before.From >= t.From || t.From-before.At > triesApart {
		return false
	}
	if before.Kind == JobTrouble && t.Kind == JobTrouble {
		a, b := before.Cites[len(before.Cites)-1], t.Cites[len(t.Cites)-1]
		return a.To() == b.To() && a.Attr(semconv.Operation) == b.Attr(semconv.Operation) && a.Attr(semconv.ProviderExplanation) == b.Attr(semconv.ProviderExplanation)
	}
	return before.NeverTaken() && t.NeverTaken() && before.Attempt.Type == t.Attempt.Type && t.Node != "" && before.Node == t.Node
}
