package lab_test

import (
	"slices"
	"testing"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// get reads an attribute of the record, or of its resource.
func get(r *record.Record, key string) string {
	if v, ok := r.Attrs.Get(key); ok {
		return v
	}
	v, _ := r.Resource.Get(key)
	return v
}

// firsts are the records without what was sent again: the journal arrives at least once, and a provisioner that was
// stopped while its last batch was on its way sends it again when it is back. What has the event_id of an earlier
// record says the same as that one.
func firsts(t *testing.T, all []*record.Record) []*record.Record {
	t.Helper()
	first := map[string]*record.Record{}
	return slices.DeleteFunc(slices.Clone(all), func(r *record.Record) bool {
		id := get(r, semconv.EventIDKey)
		if id == "" || r.Signal != record.Log {
			return false
		}
		other, again := first[id]
		if !again {
			first[id] = r
			return false
		}
		if r.Name != other.Name || r.Time != other.Time || r.Body != other.Body || !slices.Equal(r.Attrs, other.Attrs) {
			t.Errorf("event %s says %s %v and %s %v", id, other.Name, other.Attrs, r.Name, r.Attrs)
		}
		return true
	})
}

// path is the allocation's states in order of time.
func path(all []*record.Record, allocation string) []string {
	var out []string
	for _, r := range all {
		if r.Name == semconv.EventAllocationState && get(r, semconv.AllocationID) == allocation {
			out = append(out, get(r, semconv.To))
		}
	}
	return out
}

func anyOf(all []*record.Record, is func(*record.Record) bool) bool {
	for _, r := range all {
		if is(r) {
			return true
		}
	}
	return false
}

// checkMoves wants only legal moves, told in an order that fits.
func checkMoves(t *testing.T, all []*record.Record) {
	t.Helper()
	at := map[string]string{}
	for _, r := range all {
		if r.Name != semconv.EventAllocationState {
			continue
		}
		id, from, to := get(r, semconv.AllocationID), get(r, semconv.From), get(r, semconv.To)
		if from != at[id] || !semconv.LegalMove(from, to) {
			t.Errorf("%s went from %q to %q while it was %q", id, from, to, at[id])
		}
		at[id] = to
	}
}

func checkIdentifiers(t *testing.T, all []*record.Record) {
	t.Helper()
	events := map[string]bool{}
	seen := map[string]bool{}
	for _, r := range all {
		for _, key := range []string{semconv.AllocationID, semconv.WorkflowID, semconv.CorrelationID, semconv.NodeID, semconv.NodeInstanceID} {
			seen[key] = seen[key] || get(r, key) != ""
		}
		if r.Signal != record.Log || r.Name == "" {
			continue
		}
		id := get(r, semconv.EventIDKey)
		if id == "" || events[id] {
			t.Fatalf("event %s has event_id %q, which is empty or was used before", r.Name, id)
		}
		events[id] = true
	}
	if len(seen) != 5 {
		t.Fatalf("identifiers that appear: %v", seen)
	}
	for key, ok := range seen {
		if !ok {
			t.Errorf("%s never appears", key)
		}
	}
	for _, r := range all {
		if (r.Service == "kernel" || r.Service == "journald") && (get(r, semconv.AllocationID) != "" || get(r, semconv.BootID) == "" || get(r, semconv.NodeID) == "") {
			t.Fatalf("%s knows too much or too little: %v %v", r.Service, r.Attrs, r.Resource)
		}
	}
}

// checkTraces wants one trace from the client to the database.
func checkTraces(t *testing.T, all []*record.Record) {
	t.Helper()
	services := map[string]map[string]bool{}
	spans := map[string]bool{}
	for _, r := range all {
		if r.Signal != record.Span {
			continue
		}
		spans[r.SpanID] = true
		if services[r.TraceID] == nil {
			services[r.TraceID] = map[string]bool{}
		}
		services[r.TraceID][r.Service] = true
	}
	whole := false
	for _, s := range services {
		whole = whole || s["cli"] && s["ingress-proxy"] && s["fulfillment-api"] && s["auth-service"] && s["provisioner"] && s["db"] && s["outbox-relay"]
	}
	if !whole {
		t.Error("no trace runs from the client through ingress, api, auth and provisioner to the database")
	}
	orphans := 0
	for _, r := range all {
		if r.Signal == record.Span && r.ParentID != "" && !spans[r.ParentID] {
			orphans++
			t.Logf("span %s of %s has a parent that was never sent", r.Name, r.Service)
		}
	}
	if orphans > 0 {
		t.Errorf("%d spans have no parent", orphans)
	}
}

// What arrives twice counts once, and what says something else under the same id is a fault.
func TestFirsts(t *testing.T) {
	state := func(id, to string) *record.Record {
		return &record.Record{Signal: record.Log, Name: semconv.EventAllocationState, Attrs: record.Attrs{{Key: semconv.EventIDKey, Value: id}, {Key: semconv.To, Value: to}}}
	}
	all := []*record.Record{state("e-1", "requested"), {Signal: record.Log, Body: "said twice"}, {Signal: record.Log, Body: "said twice"}, state("e-1", "requested"), state("e-2", "released")}
	if got := firsts(t, all); len(got) != 4 || got[3] != all[4] || len(all) != 5 || all[3] == nil {
		t.Errorf("%d of %d records are left", len(got), len(all))
	}
}
