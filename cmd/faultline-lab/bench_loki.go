package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/lokitest"
	"github.com/faultline-io/faultline/lokibench"
)

// benchLoki is `faultline-lab bench loki`.
type benchLoki struct {
	records, batch, rounds, lines, each, samples int
}

func benchLokiCommand() *cobra.Command {
	b := benchLoki{}
	cmd := &cobra.Command{
		Use:   "loki",
		Short: "Measure the way to Loki beside otlp_http, and what Loki reads for one allocation, by way and layout (needs make loki)",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	f := cmd.Flags()
	f.IntVar(&b.records, "records", 200_000, "records that each exporter sends in a round")
	f.IntVar(&b.batch, "batch", 8192, "records that an exporter is given at once")
	f.IntVar(&b.rounds, "rounds", 5, "rounds; 0 measures no exporter")
	f.IntVar(&b.lines, "lines", 150_000, "lines among which one allocation's are asked for; 0 asks nothing")
	f.IntVar(&b.each, "each", 100, "lines of each allocation")
	f.IntVar(&b.samples, "samples", 20, "allocations to ask about")
	return cmd
}

func (b *benchLoki) run(cmd *cobra.Command) error {
	ctx, begun := cmd.Context(), time.Now()
	said := func(format string, args ...any) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%6.0f s  "+format+"\n", append([]any{time.Since(begun).Seconds()}, args...)...)
	}
	if b.records < 1 || b.batch < 1 || b.samples < 1 || b.each < 1 {
		return errors.New("--records, --batch, --each and --samples: less than 1")
	}
	out := cmd.OutOrStdout()
	if b.rounds > 0 {
		if err := b.compare(ctx, out, said); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	if b.lines == 0 {
		return nil
	}
	return lokibench.Questions{Lines: b.lines, Each: b.each, Batch: b.batch, Samples: b.samples, Said: said}.Ask(ctx, out)
}

func (b *benchLoki) compare(ctx context.Context, out io.Writer, said func(string, ...any)) (err error) {
	dir, err := os.MkdirTemp("", "faultline-bench-loki-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	loki, err := lokitest.Open(ctx, dir, lokitest.Settings{Tenants: true, Limits: lokitest.NoRates()})
	if err != nil {
		return err
	}
	defer loki.Kill()
	return lokibench.Cost{Loki: loki, Records: b.records, Batch: b.batch, Rounds: b.rounds, Said: said}.Compare(ctx, out)
}
