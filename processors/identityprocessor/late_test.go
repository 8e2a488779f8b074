package identityprocessor

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/faultline-io/faultline/internal/identity"
)

// lateProcessor is a processor and the place where late links are noticed.
func lateProcessor(t *testing.T) (*bench, *identityProcessor) {
	t.Helper()
	b := newBench(t)
	p, err := newProcessor(b.cfg, b.set)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Shutdown(context.Background()) })
	return b, p
}

func (p *identityProcessor) pass(t *testing.T, records ...func(plog.ResourceLogs)) {
	t.Helper()
	if _, err := p.logs(t.Context(), logs(records...)); err != nil {
		t.Fatal(err)
	}
}

func TestLateLinks(t *testing.T) {
	b, p := lateProcessor(t)
	begun := time.Now()
	p.now = func() time.Time { return begun }
	late := func() int64 {
		p.telemetry.late.sweep(t.Context(), begun.Add(90*time.Second))
		return b.sum("faultline_identity_late_links_total", "")
	}
	p.pass(t,
		line(1, "api", attrs{"request_id": "r-1"}), line(2, "api", attrs{"request_id": "r-1"}), // one identifier
		line(1, "node-agent", attrs{"task_id": "t-1", "request_id": "r-2"}), // two of one record
		line(1, "journald", attrs{"node_id": "n-1"}), line(1, "journald", attrs{"node_id": "n-2"}),
		line(1, "cron", attrs{}), // nothing could ever resolve it
		line(1, "api", attrs{"allocation_id": "a-9", "request_id": "r-9"}))
	if n := late(); n != 0 {
		t.Errorf("%d late links before any came", n)
	}
	p.pass(t, line(3, "api", attrs{"request_id": "r-1", "correlation_id": "c-1"})) // leads nowhere yet
	if n := late(); n != 0 {
		t.Errorf("%d late links, but nothing is resolved", n)
	}
	// The request is resolved by way of its correlation, the task by what the store tells, the first node at its time and the second not.
	p.pass(t, line(4, "api", attrs{"correlation_id": "c-1", "allocation_id": "a-1"}))
	if n := late(); n != 2 { // r-1 and c-1
		t.Errorf("%d late links, want 2", n)
	}
	for _, f := range []identity.Link{
		{Type: identity.Seen, Subject: identity.Key{Kind: identity.Task, ID: "t-1"}, Object: identity.Key{Kind: identity.Allocation, ID: "a-1"}},
		{Type: identity.Opened, Subject: identity.Key{Kind: identity.Node, ID: "n-1"}, Object: identity.Key{Kind: identity.Allocation, ID: "a-1"}, From: int64(at(0))}, //nolint:gosec // a time of now
		{Type: identity.Opened, Subject: identity.Key{Kind: identity.Node, ID: "n-2"}, Object: identity.Key{Kind: identity.Allocation, ID: "a-1"}, From: int64(at(9))}, //nolint:gosec // a time of now
	} {
		if err := p.index.Add(f); err != nil {
			t.Fatal(err)
		}
	}
	if n := late(); n != 4 {
		t.Errorf("%d late links, want 4", n)
	}
	if n := b.sum("faultline_identity_late_links_total", "node"); n != 1 {
		t.Errorf("%d by node", n)
	}
	if n := late(); n != 4 {
		t.Errorf("counted again: %d", n)
	}
	m, err := b.tel.GetMetric("faultline_identity_late_link_delay_seconds")
	if err != nil {
		t.Fatal(err)
	}
	if d := m.Data.(metricdata.Histogram[float64]).DataPoints[0]; d.Count != 4 || d.Sum != 4*90 {
		t.Errorf("%d delays, %v s in all", d.Count, d.Sum)
	}
}

// A flood of identifiers that nothing resolves takes the places for an hour and no longer, and no more memory.
func TestLateLinksAreBounded(t *testing.T) {
	_, p := lateProcessor(t)
	l, now := p.telemetry.late, time.Now()
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 20_000 {
				l.note(identity.Keys{{Kind: identity.Request, ID: fmt.Sprintf("%d/%d", g, i)}}, 1, 1, now)
				if i%5000 == 0 {
					l.sweep(t.Context(), now)
				}
			}
		})
	}
	all.Wait()
	waits := func(id string) bool {
		for i := range l.records {
			if l.records[i].keys.First(identity.Request) == id {
				return true
			}
		}
		return false
	}
	if waits("new") {
		t.Fatal("it was never noted")
	}
	l.note(identity.Keys{{Kind: identity.Request, ID: "new"}}, 1, 1, now.Add(latePatience/2))
	if waits("new") {
		t.Error("it pushed another away that had not waited its hour")
	}
	l.note(identity.Keys{{Kind: identity.Request, ID: "new"}}, 1, 1, now.Add(latePatience))
	if !waits("new") {
		t.Error("there is no slot for what comes after an hour")
	}
}

func TestLookupIsMeasured(t *testing.T) {
	b, p := lateProcessor(t)
	for range 10 {
		p.pass(t, line(1, "api", attrs{"request_id": "r-1"}), line(1, "api", attrs{"request_id": "r-2"}))
	}
	m, err := b.tel.GetMetric("faultline_identity_lookup_duration_seconds")
	if err != nil {
		t.Fatal(err)
	}
	if d := m.Data.(metricdata.Histogram[float64]).DataPoints[0]; d.Count != 10 || d.Sum <= 0 || d.Sum > 1 {
		t.Errorf("%d look-ups were measured, %v s in all; want one a batch", d.Count, d.Sum)
	}
}

// What the two cost a batch: an identifier that waits already, of which 64 a batch are asked; one
// look-up that is measured; and a sweep of all places, every five seconds.
func BenchmarkOwnMetrics(b *testing.B) {
	p, err := newProcessor(createDefaultConfig().(*Config), processortest.NewNopSettings(Type))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = p.Shutdown(context.Background()) }()
	l, now := p.telemetry.late, time.Now()
	for i := range 1 << 20 { // every place is taken
		l.note(identity.Keys{{Kind: identity.Request, ID: fmt.Sprint(i)}}, 1, 1, now)
	}
	keys := identity.Keys{{Kind: identity.Trace, ID: "4bf92f3577b34da6a3ce929d0e0e4736"}, {Kind: identity.Request, ID: "0"}}
	b.Run("note", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l.note(keys, 1, 1, now)
		}
	})
	b.Run("sweep", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			l.sweep(b.Context(), now)
		}
	})
	b.Run("measure", func(b *testing.B) {
		b.ReportAllocs()
		read := []decoded{{keys: keys, at: 1, observed: 1}}
		for b.Loop() {
			p.measure(b.Context(), read)
		}
	})
}
