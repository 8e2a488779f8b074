package clickhouse_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/profile"
)

// keptAnswer keeps what a verdict leaves behind, as live judging does, and gives the answer that is put together of it.
func keptAnswer(t *testing.T, p *profile.Profile, store *clickhouse.Reader, judged correlator.Allocation) correlator.Allocation {
	t.Helper()
	ctx := t.Context()
	set, err := store.RecordSet(ctx, judged.ID, 0)
	must(t, err)
	all := correlator.NewDataset(set.Records, set.Links, p, correlator.AsOf{Now: set.Now, Durations: set.Durations})
	var c *correlator.Case
	var foreign []*correlator.Event
	for _, one := range all.Cases() {
		if one.ID == judged.ID {
			c = one
		}
	}
	for _, e := range all.Events {
		if e.Allocation != c.ID && e.StampedAllocation() == c.ID {
			foreign = append(foreign, e)
		}
	}
	correlator.Judge(c, rules.All()) // silences are noted while a verdict is found
	kept, ok := c.Supplement(judged.Verdict, foreign)
	if !ok {
		return judged // too much to keep: it is judged each time
	}
	kept.JudgedAt = judged.Verdict.AsOf + 1
	must(t, store.WriteSupplements(ctx, []correlator.Supplement{kept}))
	kept, ok, err = store.Supplement(ctx, judged.ID)
	must(t, err)
	if !ok {
		t.Fatalf("%s: nothing was kept", judged.ID)
	}
	own, err := store.Stamped(ctx, judged.ID, query.Head{})
	must(t, err)
	listed, err := store.Heads(ctx, 0, 10_000)
	must(t, err)
	for _, head := range listed {
		if head.ID != judged.ID {
			continue
		}
		bounded, err := store.Stamped(ctx, judged.ID, head)
		must(t, err)
		if len(bounded) != len(own) {
			t.Errorf("%s: %d records, %d by what memory knows of it", judged.ID, len(own), len(bounded))
		}
	}
	elsewhere, err := store.Placed(ctx, kept.Elsewhere())
	must(t, err)
	rows := slices.Concat(own, elsewhere)
	asKept := kept
	asKept.Verdict.AsOf = correlator.Time(c.Now)
	keptStates := asKept.States(rows, p)
	if d := cmp.Diff(c.States(), keptStates); d != "" {
		t.Errorf("%s: states of all records (-) and of what was kept (+) differ:\n%s", judged.ID, d)
	}
	return kept.Answer(rows, p)
}
