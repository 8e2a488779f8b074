// Command faultline is the operator's tool: it analyzes files without a server, asks a running
// correlator, and runs the product on one host.
//
//	faultline up ──▶ store, collector, correlator, provisioner, lab   (one process each)
//	faultline timeline|verdict ID ──▶ the correlator's REST API
//	faultline analyze FILE... ──▶ nothing but the files
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/faultline-io/faultline/internal/service"
	"github.com/faultline-io/faultline/internal/table"
)

// version is set when a release is built.
var version = "dev"

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := service.SignalContext(context.Background())
	defer stop()
	err := command().ExecuteContext(ctx)
	status, silent := exitStatus(err)
	if !silent {
		fmt.Fprintln(os.Stderr, "faultline: "+table.CleanLines(err.Error()))
	}
	return status
}
