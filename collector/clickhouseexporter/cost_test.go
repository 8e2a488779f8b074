package clickhouseexporter

import (
	"fmt"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

// ordinary makes log records of eight attributes, with identifiers, of eight services.
func ordinary(records int) plog.Logs {
	ld := plog.NewLogs()
	at := uint64(base.UnixNano()) //nolint:gosec // after 1970
	for s := range 8 {
		first := newLog(ld, fmt.Sprintf("service-%d", s), "", at, nil)
		resource := ld.ResourceLogs().At(s).Resource().Attributes()
		for i := range 6 {
			resource.PutStr(fmt.Sprintf("resource.%d", i), fmt.Sprintf("value-%d", s))
		}
		lines := ld.ResourceLogs().At(s).ScopeLogs().At(0).LogRecords()
		for i := range records / 8 {
			lr := lines.AppendEmpty()
			first.CopyTo(lr)
			lr.Body().SetStr(fmt.Sprintf("handled request r-%d of tenant-%d in %d ms: selected allocations", i, i%17, i%200))
			_ = lr.Attributes().FromRaw(map[string]any{
				"http.request.method": "GET", "http.route": "/api/v1/allocations", "http.response.status_code": 200, "duration_ms": i % 200,
				"tenant": fmt.Sprintf("tenant-%d", i%17), "request_id": fmt.Sprintf("r-%d", i/4), "allocation_id": fmt.Sprintf("a-%d", i/100), "workflow_id": fmt.Sprintf("w-%d", i/100),
			})
		}
	}
	return ld
}

// What the exporter's own side of an insert costs a record; the store's is a process of its own.
func BenchmarkConsume(b *testing.B) {
	e := running(b, embeddedtest.DSN(b))
	ld := ordinary(8192)
	b.ReportAllocs()
	for b.Loop() {
		if err := e.consumeLogs(b.Context(), ld); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(ld.LogRecordCount()), "ns/record")
}
