package main

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/api/client"
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

func emittedRecords(t *testing.T, exports []string, reject func(otlpfile.Rejection)) (emitted []*record.Record) {
	t.Helper()
	reader := otlpfile.Reader{Record: func(r *record.Record) { emitted = append(emitted, r) }, Reject: reject}
	for _, path := range exports {
		if err := reader.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return emitted
}

// eachRecordIsReadOnce asks for the records of allocations as a user does, of those that were alive when store and
// Collector were killed: every one that was emitted in its name is there, none stands twice, and they come in order. Rows
// that were delivered twice may lie in the store meanwhile.
func eachRecordIsReadOnce(t *testing.T, cfg upConfig, truths []truth, exports []string) {
	t.Helper()
	wanted := map[string]map[string]bool{}                                      // refs by allocation
	for _, r := range emittedRecords(t, exports, func(otlpfile.Rejection) {}) { // a last line may be half written
		if id, ok := r.Attrs.Get(semconv.AllocationID); ok {
			if wanted[id] == nil {
				wanted[id] = map[string]bool{}
			}
			wanted[id][record.Ref(r.Key())] = true
		}
	}
	read, named := 0, 0
	for _, one := range truths {
		if len(wanted[one.ID]) == 0 {
			t.Errorf("%s %s: nothing was emitted in its name", one.Story, one.ID)
		}
		var fault error
		refs := map[string]int{}
		eventually(t, time.Minute, "every record of "+one.ID+" is read", func() bool {
			if refs, fault = readRefs(cfg, one.ID); fault != nil {
				return true
			}
			for ref := range wanted[one.ID] {
				if refs[ref] == 0 {
					return false
				}
			}
			return true
		})
		if fault != nil {
			t.Errorf("%s %s: %v", one.Story, one.ID, fault)
		}
		for ref, n := range refs {
			if n != 1 {
				t.Errorf("%s %s: %s is read %d times", one.Story, one.ID, ref, n)
			}
		}
		read, named = read+len(refs), named+len(wanted[one.ID])
	}
	t.Logf("%d records of %d allocations read page by page, %d emitted in their names, each once", read, len(truths), named)
}

// readRefs reads an allocation's records page by page and counts each ref.
func readRefs(cfg upConfig, allocation string) (map[string]int, error) {
	refs := map[string]int{}
	q := question{server: "http://" + cfg.Correlator}
	limit := 60
	p := client.ListEventsParams{AllocationID: &allocation, Limit: &limit}
	var last correlator.Time
	for {
		var page api.Events
		err := q.get(context.Background(), func(ctx context.Context, c client.ClientInterface) (*http.Response, error) {
			return c.ListEvents(ctx, &p)
		}, &page)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Events {
			if refs[e.Ref]++; e.Time < last {
				return nil, fmt.Errorf("%s of %d comes after one of %d", e.Ref, e.Time, last)
			}
			last = e.Time
		}
		if page.Next == nil {
			return refs, nil
		}
		p.Cursor = page.Next
	}
}
