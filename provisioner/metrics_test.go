package provisioner

import (
	"flag"
	"testing"

	"github.com/faultline-io/faultline/internal/doctest"
)

var update = flag.Bool("update", false, "write the provisioner's table of docs/metrics.md anew")

func TestMetricsAreDocumented(t *testing.T) {
	doctest.Metrics(t, "../docs/metrics.md", "the provisioner", *update, metrics(nil, nil)...)
}
