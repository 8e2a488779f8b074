package service_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/faultline-io/faultline/internal/service"
)

func TestTracing(t *testing.T) {
	var spans atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		request := ptraceotlp.NewExportRequest()
		if err := request.UnmarshalProto(body); err != nil {
			t.Error(err)
		}
		spans.Add(int64(request.Traces().SpanCount()))
	}))
	defer receiver.Close()
	for endpoint, want := range map[string]int64{"": 0, receiver.URL: 1} {
		spans.Store(0)
		tracing, err := service.StartTracing(t.Context(), service.TelemetryConfig{Endpoint: endpoint}, "correlator")
		if err != nil {
			t.Fatal(err)
		}
		h := tracing.Wrap(http.NotFoundHandler())
		for _, path := range []string{"/api/v1/allocations", "/metrics"} {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
		}
		if err := tracing.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := spans.Load(); got != want {
			t.Errorf("endpoint %q: %d spans, want %d", endpoint, got, want)
		}
	}
	if err := (service.TelemetryConfig{Endpoint: "localhost:4318"}).Validate(); err == nil {
		t.Error("an address that is no URL was accepted")
	}
}
