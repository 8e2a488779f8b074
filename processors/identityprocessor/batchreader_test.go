package identityprocessor

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processortest"
	"pgregory.net/rapid"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/record"
)

// What is read from pdata where it lies is what the decoder and the profile read from a record.
func TestReadsAsTheDecoder(t *testing.T) {
	for _, name := range []string{"default", "openstack"} {
		t.Run(name, func(t *testing.T) {
			cfg := createDefaultConfig().(*Config)
			cfg.Profile = name
			p, err := newProcessor(cfg, processortest.NewNopSettings(Type))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = p.Shutdown(context.Background()) })
			rapid.Check(t, func(t *rapid.T) {
				ld := anyLogs(t)
				var want []decoded
				otlp.Logs(ld, func(r *record.Record) bool {
					want = append(want, decoded{keys: p.profile.Keys(r), at: r.Time, observed: r.Observed, service: r.Service})
					return true
				})
				r := p.read(ld.LogRecordCount(), p.telemetry.batch(at(0)))
				defer r.done()
				for i, got := range r.logs(ld) {
					if d := gocmp.Diff(sorted(want[i].keys), sorted(got.keys)); d != "" {
						t.Fatalf("record %d (-decoder +here):\n%s", i, d)
					}
					if got.at != want[i].at || got.observed != want[i].observed || got.service != want[i].service {
						t.Fatalf("record %d: %+v, want %+v", i, got, want[i])
					}
				}
			})
		})
	}
}

func sorted(ks identity.Keys) []identity.Key {
	out := append([]identity.Key{}, ks...)
	slices.SortFunc(out, func(a, b identity.Key) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// anyLogs makes records with all that can be odd about identifiers.
func anyLogs(t *rapid.T) plog.Logs {
	names := rapid.SampledFrom([]string{
		"allocation_id", "allocation.id", "Allocation_ID", "workflow_id", "request_id", "request.id", "X-Request-ID", "http.request.header.x-request-id",
		"node_id", "node_instance_id", "task_id", "trace_id", "resource_uid", "baggage", "event.name", "event_id", "reconcileID", "identity_stamped", "identity_via",
		"service.name", "http.route", "a", "subject_kind", "",
	})
	values := rapid.SampledFrom([]string{
		"x-1", "x-2", "", "[]", `["x-3"]`, " x", "a\nb", "\xff", strings.Repeat("y", 513), "allocation_id=b-1,request.id=b%202", "allocation_id,node_id",
		"request_id", "node.assigned", "identity.binding", "heartbeat", "envoy", "4e2f8a90-1111-2222-3333-444455556666",
	})
	bodies := rapid.SampledFrom([]string{
		"", "plain text", "\xff\xfe", "took req-0b3c1d2e-1111-2222-3333-444455556666 of 4e2f8a90-1111-2222-3333-444455556666",
		"GET /v2/images?marker=4e2f8a90-1111-2222-3333-444455556666", "[req-0b3c1d2e-1111-2222-3333-444455556666 - - - - -] periodic",
		`[2026-03-02T10:00:00.000Z] "GET /api HTTP/1.1" 503 UF 0 91 0 - "-" "curl" "4e2f8a90-1111-2222-3333-444455556666" "api" "10.0.0.1:80"`,
	})
	put := func(m pcommon.Map) {
		for range rapid.IntRange(0, 5).Draw(t, "attributes") {
			name, value := names.Draw(t, "name"), values.Draw(t, "value")
			switch rapid.IntRange(0, 6).Draw(t, "type") {
			case 0:
				m.PutInt(name, 7)
			case 1:
				m.PutEmptySlice(name).AppendEmpty().SetStr(value)
			default:
				m.PutStr(name, value)
			}
		}
	}
	ld := plog.NewLogs()
	for range rapid.IntRange(1, 3).Draw(t, "resources") {
		rl := ld.ResourceLogs().AppendEmpty()
		put(rl.Resource().Attributes())
		sl := rl.ScopeLogs().AppendEmpty()
		for range rapid.IntRange(1, 3).Draw(t, "records") {
			lr := sl.LogRecords().AppendEmpty()
			put(lr.Attributes())
			lr.Body().SetStr(bodies.Draw(t, "body"))
			lr.SetEventName(rapid.SampledFrom([]string{"", "", "heartbeat", "node.instance"}).Draw(t, "event"))
			if rapid.Bool().Draw(t, "traced") {
				lr.SetTraceID(pcommon.TraceID{byte(rapid.IntRange(0, 2).Draw(t, "trace")), 1})
			}
			lr.SetTimestamp(pcommon.Timestamp(rapid.SampledFrom([]uint64{0, 1, uint64(at(0)), 1 << 63}).Draw(t, "time")))
		}
	}
	return ld
}
