// Command faultline-collector is Faultline's OpenTelemetry Collector: agent on a node, gateway before
// the store. Without --config it runs the configuration of one host (--config embedded:lab).
package main

import (
	"os"

	"go.opentelemetry.io/collector/otelcol"

	"github.com/faultline-io/faultline/collector"
)

// version is set by the linker.
var version = "dev"

func main() {
	if err := otelcol.NewCommand(collector.Settings(version)).Execute(); err != nil {
		os.Exit(1) // the command has said why
	}
}
