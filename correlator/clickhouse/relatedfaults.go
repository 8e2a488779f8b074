package clickhouse

import (
	"context"
	"fmt"
	"iter"

	"github.com/faultline-io/faultline/correlator/incident"
)

// maxRelated bounds how many others are looked at: a few tell whether a cause is shared.
const maxRelated = 100

// RelatedFaults implements query.Kept, by the verdicts that were kept: who does not run judging has none.
func (l *Reader) RelatedFaults(ctx context.Context, c incident.Cause, asOf int64) (iter.Seq[*incident.RelatedFault], error) {
	if asOf == 0 {
		asOf = forever
	}
	words := fmt.Sprintf("%q:%q,%q:%q", "layer", c.Layer, "mechanism", c.Mechanism) // as an occurrence is written
	revisions, err := l.revisions(ctx, "related_faults", params{"from": moment(c.From), "as_of": moment(asOf), "words": plain(words), "most": maxRelated})
	if err != nil {
		return nil, fmt.Errorf("read related faults of %s.%s: %w", c.Layer, c.Mechanism, err)
	}
	faults := incident.NewFaultIndex()
	for _, r := range revisions {
		faults.Add(&r.Assessment)
	}
	return faults.Of(c), nil
}
