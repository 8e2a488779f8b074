package kubeobject_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/record"
)

// TestExpand checks that the order of records, replays and events that are there already change nothing.
func TestExpand(t *testing.T) {
	p := load(t, "osac")
	// Without the API server's notes a state has the time at which it was seen: the earliest wins.
	object := func(minute int) *record.Record {
		r := body(`{"apiVersion":"osac.openshift.io/v1alpha1","kind":"ComputeInstance","metadata":{"name":"vm","namespace":"vms","uid":"u","resourceVersion":"3"},"status":{"phase":"Starting"}}`)
		r.Time += int64(minute) * int64(time.Minute)
		r.Observed = r.Time
		return r
	}
	records := []*record.Record{object(2), body("a line"), object(0), object(1)}
	want := p.Objects().Expand(records)
	if d := cmp.Diff([]string{"requested"}, said(want, "allocation.state", "to")); d != "" {
		t.Fatal(d)
	}
	for _, e := range want {
		if e.Time != seen.UnixNano() || e.Observed != seen.UnixNano() {
			t.Errorf("%s at %s", e.Name, time.Unix(0, e.Time).UTC())
		}
	}
	slices.Reverse(records)
	if d := cmp.Diff(want, p.Objects().Expand(records)); d != "" {
		t.Error("another order gives something else", d)
	}
	if more := p.Objects().Expand(append(records, want...)); len(more) != 0 {
		t.Errorf("%d events twice", len(more))
	}
}
