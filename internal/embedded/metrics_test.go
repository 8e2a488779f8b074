package embedded

import (
	"flag"
	"testing"

	"github.com/faultline-io/faultline/internal/doctest"
)

var update = flag.Bool("update", false, "write the store's table of docs/metrics.md anew")

func TestMetricsAreDocumented(t *testing.T) {
	m := newMetrics()
	all := m.own()
	doctest.Metrics(t, "../../docs/metrics.md", "the store", *update, append(all, m.current(nil)...)...)
}
