package api_test

import (
	"flag"
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/doctest"
)

var update = flag.Bool("update", false, "write the API's table of docs/metrics.md anew")

// What a scraper asks for is compressed once.
func TestMetricsAreCompressedOnce(t *testing.T) {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector())
	server := httptest.NewServer(api.New(&query.Service{}, nil, nil, slog.New(slog.DiscardHandler), reg).Handler(promhttp.HandlerFor(reg, promhttp.HandlerOpts{})))
	defer server.Close()
	answer, err := server.Client().Get(server.URL + "/metrics") // which unpacks once
	must(t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	if !answer.Uncompressed || !strings.Contains(string(text), "go_goroutines") {
		t.Errorf("compressed %t: %.80q", answer.Uncompressed, text)
	}
}

func TestMetricsAreDocumented(t *testing.T) {
	r := &doctest.Registry{}
	api.New(nil, nil, nil, nil, r)
	doctest.Metrics(t, "../docs/metrics.md", "the API", *update, r.Taken...)
}
