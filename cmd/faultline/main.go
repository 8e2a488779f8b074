// Command faultline is the operator's tool: it analyzes files without a server, asks a running
// correlator, and runs the product on one host.
//
//	faultline up ──▶ store, collector, correlator, provisioner, lab   (one process each)
//	faultline timeline|verdict ID ──▶ the correlator's REST API
//	faultline analyze FILE... ──▶ nothing but the files
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/faultline-io/faultline/internal/service"
)

// version is set when a release is built.
var version = "dev"

// Exit statuses (docs/contract.md §6).
const (
	exitError    = 1 // usage or I/O error
	exitRejected = 3 // some input was rejected, the answer is whole all the same
	exitPending  = 4 // a dry run found something to do
	exitRefused  = 5 // what was asked for is not allowed
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := service.SignalContext(context.Background())
	defer stop()
	err := command().ExecuteContext(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errRejected):
		return exitRejected
	case errors.Is(err, errPending):
		return exitPending
	}
	fmt.Fprintln(os.Stderr, "faultline: "+err.Error())
	if errors.Is(err, errRefused) {
		return exitRefused
	}
	return exitError
}
