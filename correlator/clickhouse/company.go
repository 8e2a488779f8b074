package clickhouse

import (
	"context"
	"fmt"
	"iter"

	"github.com/faultline-io/faultline/correlator"
)

var _ correlator.Company = (*Library)(nil)

// maxFellows bounds how many others are looked at: a few tell whether a cause is shared.
const maxFellows = 100

// Fellows implements correlator.Company, by the verdicts that were kept: who does not run judging has none.
func (l *Library) Fellows(ctx context.Context, layer, mechanism string, from, to, asOf int64) (iter.Seq[*correlator.Fellow], error) {
	if asOf == 0 {
		asOf = forever
	}
	words := fmt.Sprintf("%q:%q,%q:%q", "layer", layer, "mechanism", mechanism) // as a hit is written
	revisions, err := l.revisions(ctx, "fellows", params{"from": moment(from), "as_of": moment(asOf), "words": words, "most": maxFellows})
	if err != nil {
		return nil, fmt.Errorf("read who else was hit by %s.%s: %w", layer, mechanism, err)
	}
	together := correlator.NewTogether()
	for _, r := range revisions {
		together.Add(&r.Standing)
	}
	return together.Within(layer, mechanism, from, to), nil
}
