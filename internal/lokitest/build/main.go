// Command build makes the Loki that tests and benchmarks run, where it is not there yet.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/faultline-io/faultline/internal/lokitest"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "build Loki:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	begun := time.Now()
	path, err := lokitest.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	fmt.Printf("%s (%s)\n", path, time.Since(begun).Round(time.Second))
	return nil
}
