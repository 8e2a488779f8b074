package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/lab/product"
)

func benchCommand() *cobra.Command {
	b := bench{}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Run the product without the lab and measure delay, CPU and memory",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return b.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	cmd.Flags().IntVar(&b.verdicts, "verdicts", 200, "verdicts to wait for, one after the other")
	cmd.Flags().IntVar(&b.records, "records", 100_000, "records to send through the Collector")
	cmd.AddCommand(benchStoreCommand(), benchReadCommand(), benchStreamsCommand(), benchLokiCommand())
	return cmd
}

// bench is one measurement of a product of its own, on free ports and in a folder that it removes.
type bench struct {
	verdicts, records int
	product           *product.Product
}

func (b *bench) run(ctx context.Context, out, notes io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "faultline-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if b.product, err = product.Start(ctx, product.Config{Dir: dir, Notes: notes}); err != nil {
		return err
	}
	defer b.product.Stop()
	return b.measure(ctx, out)
}

func (b *bench) measure(ctx context.Context, out io.Writer) error {
	pause(ctx, 10*time.Second)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer func() { _ = t.Flush() }()
	for _, p := range programsRunning() {
		_, _ = fmt.Fprintf(t, "memory at rest\t%s\t%.0f MB\n", p.name, float64(p.rss)/1e6)
	}
	delays := make([]time.Duration, 0, b.verdicts)
	for i := range b.verdicts {
		d, err := b.delay(ctx, i)
		if err != nil {
			return err
		}
		delays = append(delays, d)
	}
	slices.Sort(delays)
	at := func(q float64) time.Duration {
		return delays[min(len(delays)-1, int(q*float64(len(delays))))].Round(time.Millisecond)
	}
	_, _ = fmt.Fprintf(t, "emission to readable verdict\tp50 of %d\t%s\n", len(delays), at(0.5))
	_, _ = fmt.Fprintf(t, "emission to readable verdict\tp99 of %d\t%s\n", len(delays), at(0.99))
	return b.throughput(ctx, t)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
