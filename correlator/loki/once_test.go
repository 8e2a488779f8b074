package loki

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
)

// What was sent twice and stamped differently is one line; what its writer said twice, in other words or at another time, is two.
func TestOnce(t *testing.T) {
	line := func(at int64, text string, pairs ...string) query.Line {
		labels := map[string]string{"service_name": "kernel"}
		for i := 0; i < len(pairs); i += 2 {
			labels[pairs[i]] = pairs[i+1]
		}
		return query.Line{Time: correlator.Time(at), Line: text, Labels: labels}
	}
	bare := line(1, "x", "node_id", "n-1")
	stamped := line(1, "x", "node_id", "n-1", "allocation_id", "a-1", "via", "node", "identity_stamped", "allocation_id")
	more := line(1, "x", "node_id", "n-1", "allocation_id", "a-1", "workflow_id", "w-1", "via", "node", "identity_stamped", "allocation_id,workflow_id")
	f := func(name string, in, want []query.Line) {
		t.Helper()
		if d := cmp.Diff(want, once(in)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	f("stamped the second time", []query.Line{bare, stamped}, []query.Line{stamped})
	f("forgotten by then", []query.Line{more, bare}, []query.Line{more})
	f("three times", []query.Line{bare, more, stamped}, []query.Line{more})
	f("said by its writer", []query.Line{bare, line(1, "x", "node_id", "n-1", "allocation_id", "a-1")}, []query.Line{bare, line(1, "x", "node_id", "n-1", "allocation_id", "a-1")})
	f("another node", []query.Line{bare, line(1, "x", "node_id", "n-2")}, []query.Line{bare, line(1, "x", "node_id", "n-2")})
	f("another line", []query.Line{bare, line(1, "y", "node_id", "n-1")}, []query.Line{bare, line(1, "y", "node_id", "n-1")})
	f("another moment", []query.Line{bare, line(2, "x", "node_id", "n-1")}, []query.Line{bare, line(2, "x", "node_id", "n-1")})
	f("none", nil, nil)
}
