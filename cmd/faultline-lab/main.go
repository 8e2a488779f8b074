// Command faultline-lab is the simulated platform and the product's test rigs. The product runs without it.
//
//	faultline up ──▶ faultline-lab plan ──▶ provisioner, faultline-lab run
//	faultline-lab inject|heal|list ──▶ the lab that runs
//	faultline-lab score|bench ──▶ a product of their own: faultline up --no-lab
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/faultline-io/faultline/internal/service"
)

// version is set when a release is built.
var version = "dev"

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := service.SignalContext(context.Background())
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "faultline-lab: "+err.Error())
		return 1
	}
	return 0
}
