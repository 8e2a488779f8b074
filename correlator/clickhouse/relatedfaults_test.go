package clickhouse_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/internal/story"
)

// Others that were hit by a cause are found by the last word on them, as of any moment.
func TestRelatedFaults(t *testing.T) {
	p, _, conn := emptyStore(t)
	at := func(minutes int) correlator.Time {
		return correlator.Time(story.Day.Add(10*time.Hour + time.Duration(minutes)*time.Minute).UnixNano())
	}
	said := func(id string, judged, onset int, layer, mechanism, outcome string) correlator.Revision {
		r := correlator.Revision{ID: id, JudgedAt: at(judged), Why: correlator.BecauseFirst, Assessment: correlator.Assessment{ID: id}}
		r.Assessment.Verdict.Outcome = outcome
		r.Assessment.Occurrences = []correlator.FaultOccurrence{{Layer: layer, Mechanism: mechanism, Onset: at(onset), Subject: correlator.Subject{Kind: correlator.SubjectNode, IDs: []string{"n-" + id}}}}
		return r
	}
	l := clickhouse.New(conn, p)
	must(t, l.Write(t.Context(), []correlator.Revision{
		said("it's", 2, 1, "node_agent", "silent", correlator.Attributed),
		said("b", 3, 2, "node_agent", "silent", correlator.Undetermined),
		said("long-ago", 3, -90, "node_agent", "silent", correlator.Attributed),
		said("other", 3, 2, "node_agent", "stuck", correlator.Attributed),
		said("since-then", 2, 1, "node_agent", "silent", correlator.Attributed),
		said("since-then", 9, 1, "cert", "expired", correlator.Attributed),
	}))
	for _, c := range []struct {
		asOf int64
		want string
	}{{0, "[b it's]"}, {int64(at(5)), "[b it's since-then]"}, {int64(at(2)), "[it's since-then]"}, {int64(at(1)), "[]"}} {
		list, err := l.RelatedFaults(t.Context(), incident.Cause{Layer: "node_agent", Mechanism: "silent", From: int64(at(-5)), To: int64(at(5))}, c.asOf)
		must(t, err)
		if got := fmt.Sprint(names(list)); got != c.want {
			t.Errorf("as of %d: %s, want %s", c.asOf, got, c.want)
		}
	}
}

func names(list iter.Seq[*incident.RelatedFault]) []string {
	var out []string
	for f := range list {
		out = append(out, f.Allocation)
	}
	slices.Sort(out)
	return out
}
