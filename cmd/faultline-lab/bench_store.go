package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/embedded"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/storebench"
)

// benchStore is `faultline-lab bench store`.
type benchStore struct {
	shape             storebench.Shape
	start             string
	batch             int
	dsn, ours, dir    string
	rivals, keep      bool
	samples, rounds   int
	fillOnly, askOnly bool
}

func benchStoreCommand() *cobra.Command {
	b := benchStore{shape: storebench.Shape{Seed: 1}}
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Fill a store with seeded telemetry and measure what questions read, beside the contrib exporter's tables",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	f := cmd.Flags()
	f.IntVar(&b.shape.Rows, "rows", 1_000_000, "records, about")
	f.Uint64Var(&b.shape.Seed, "seed", b.shape.Seed, "the same seed gives the same records")
	f.StringVar(&b.start, "start", "", "stamped time of the first record, RFC 3339 (default: thirteen days ago, so that nothing expires)")
	f.IntVar(&b.batch, "batch", 32768, "records an insert")
	f.StringVar(&b.dsn, "dsn", "", "a store to use, http://user:secret@host:port (default: an embedded one in a temporary folder)")
	f.StringVar(&b.dir, "dir", "", "folder in which the embedded store keeps its data while it is measured (default: the system's temporary one)")
	f.StringVar(&b.ours, "database", "faultline_bench", "database of ours; those of the rivals are named after it")
	f.BoolVar(&b.rivals, "rivals", true, "measure the contrib exporter's tables as well (takes its module from the module cache or proxy)")
	f.BoolVar(&b.keep, "keep", false, "keep the databases")
	f.BoolVar(&b.fillOnly, "fill-only", false, "fill ours, measure nothing, keep it")
	f.BoolVar(&b.askOnly, "filled", false, "ours is filled already")
	f.IntVar(&b.samples, "samples", 25, "allocations to ask about")
	f.IntVar(&b.rounds, "rounds", 5, "times to ask, after one to warm up")
	return cmd
}

func (b *benchStore) run(cmd *cobra.Command) (err error) {
	ctx, begun := cmd.Context(), time.Now()
	said := func(format string, args ...any) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%6.0f s  "+format+"\n", append([]any{time.Since(begun).Seconds()}, args...)...)
	}
	for name, n := range map[string]int{"--rows": b.shape.Rows, "--batch": b.batch, "--samples": b.samples, "--rounds": b.rounds} {
		if n < 1 {
			return fmt.Errorf("%s: %d is less than 1", name, n)
		}
	}
	b.shape.Start = time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -13)
	if b.start != "" {
		if b.shape.Start, err = time.Parse(time.RFC3339, b.start); err != nil {
			return fmt.Errorf("--start: %w", err)
		}
	}
	if b.dsn == "" && (b.fillOnly || b.askOnly) {
		return errors.New("--fill-only and --filled need --dsn: a store that is started for the benchmark is gone with it")
	}
	if b.dsn == "" {
		stop, err := b.embed(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, stop()) }()
	}
	e, err := storebench.NewEngine(b.dsn)
	if err != nil {
		return err
	}
	defer e.Close()
	var rivals []storebench.Contender
	if b.rivals && !b.fillOnly {
		source, err := storebench.RivalSource(ctx)
		if err != nil {
			return err
		}
		for i, words := range []bool{false, true} {
			r, err := storebench.Rival(source, fmt.Sprintf("%s_rival%d", b.ours, i+1), words)
			if err != nil {
				return err
			}
			rivals = append(rivals, r)
		}
	}
	if !b.askOnly {
		if err := e.Exec(ctx, "", "CREATE DATABASE "+b.ours); err != nil {
			return err
		}
		rows, err := storebench.Fill(ctx, e.DSN(b.ours), b.shape, b.batch, func(rows int, took time.Duration) {
			said("%d records, %.0f a second", rows, float64(rows)/took.Seconds())
		})
		if err != nil {
			return err
		}
		said("%d records written", rows)
	}
	if b.fillOnly {
		return nil
	}
	if !b.keep {
		defer func() {
			for _, r := range rivals {
				_ = e.Exec(context.WithoutCancel(ctx), "", "DROP DATABASE IF EXISTS "+r.Database+" SYNC")
			}
			if !b.askOnly {
				_ = e.Exec(context.WithoutCancel(ctx), "", "DROP DATABASE IF EXISTS "+b.ours+" SYNC")
			}
		}()
	}
	read, closeReader, err := b.reader(ctx, e.DSN(b.ours))
	if err != nil {
		return err
	}
	defer closeReader()
	return storebench.Run{Engine: e, Ours: b.ours, Rivals: rivals, Samples: b.samples, Rounds: b.rounds, Reader: read, Said: said}.Compare(ctx, cmd.OutOrStdout())
}

// reader reads with the product's own EventReader. The statements' whole answers are waited for, so that the store counts exactly.
func (b *benchStore) reader(ctx context.Context, dsn string) (storebench.Reader, func(), error) {
	conn, err := schema.Open(ctx, dsn+"?wait_end_of_query=1&use_query_condition_cache=0")
	if err != nil {
		return nil, nil, err
	}
	p, err := profile.Load("")
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	reader := clickhouse.New(conn, p).WithWords(rules.Words())
	return func(ctx context.Context, kind, id string) (n int, err error) {
		mark, err := reader.Mark(ctx)
		if err != nil {
			return 0, err
		}
		for _, err := range reader.Events(ctx, query.Selection{Key: identity.Key{Kind: identity.ParseKind(kind), ID: id}, AsOf: mark}, query.Beginning()) {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	}, func() { _ = conn.Close() }, nil
}

// embed starts a store of the benchmark's own.
func (b *benchStore) embed(ctx context.Context) (stop func() error, err error) {
	dir, err := os.MkdirTemp(b.dir, "faultline-bench-store-")
	if err != nil {
		return nil, err
	}
	cfg := embedded.DefaultConfig()
	cfg.Listen, cfg.DataDir, cfg.Fsync = "127.0.0.1:0", dir, false
	cfg.MemoryLimit, cfg.MaxInsert = 6*embedded.GiB, 2*embedded.GiB
	s, err := embedded.Start(ctx, cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	b.dsn = s.DSN()
	return func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		return errors.Join(s.Close(ctx), os.RemoveAll(dir))
	}, nil
}
