package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/schema"
)

func statsCommand() *cobra.Command {
	var f storeFlags
	asJSON := false
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Rows and bytes of every table, bytes a row of every column, ages, parts and retention",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.withStore(cmd.Context(), func(ctx context.Context, s *schema.Store, _ migrateConfig) error {
				stats, err := s.Stats(ctx)
				if err != nil {
					return err
				}
				if asJSON {
					e := json.NewEncoder(cmd.OutOrStdout())
					e.SetIndent("", "  ")
					return e.Encode(stats)
				}
				return printStats(cmd.OutOrStdout(), stats)
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "as one JSON object")
	return cmd
}

func retentionCommand() *cobra.Command {
	var f storeFlags
	dry := false
	cmd := &cobra.Command{
		Use:   "retention",
		Short: "Set for how many days each kind of evidence is kept, as the configuration says",
		Long: `Brings the tables' TTLs to the configuration's retention (without one: to the defaults) and prints the statements
that were needed. What has expired goes with the store's next merges.

  retention: {raw_days: 14, node_days: 90, lifecycle_days: 400, links_days: 400, verdicts_days: 400}

A row goes together with all that came in its calendar week, so up to seven days later.
Exit status: 0 done, 4 with --dry-run: something differs, 1 anything else.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.withStore(cmd.Context(), func(ctx context.Context, s *schema.Store, c migrateConfig) error {
				done, err := s.Retain(ctx, slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil)), c.Retention, c.Cluster, dry)
				for _, text := range done {
					_, _ = fmt.Fprintln(cmd.OutOrStdout(), text+";")
				}
				if err == nil && len(done) == 0 {
					_, _ = fmt.Fprintln(cmd.OutOrStdout(), "-- nothing to change")
				}
				if err == nil && dry && len(done) > 0 {
					err = errPending
				}
				return err
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the SQL and change nothing")
	return cmd
}

func printStats(out io.Writer, s schema.Stats) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(t, "table\trows\tbytes\tB/row\tparts\toldest\tnewest\tkept\t")
	for _, table := range s.Tables {
		_, _ = fmt.Fprintf(t, "%s\t%d\t%s\t%.1f\t%d\t%s\t%s\t%s\t\n", table.Table, table.Rows, size(table.Bytes), table.BytesPerRow, table.Parts,
			day(table.Oldest), day(table.Newest), keptText(table.Kept))
	}
	_, _ = fmt.Fprintf(t, "all\t%d\t%s\t\t\t\t\t\t\n", s.Rows, size(s.Bytes))
	if err := t.Flush(); err != nil {
		return err
	}
	for _, table := range s.Tables {
		if table.Rows == 0 {
			continue
		}
		how := ""
		if table.Estimated {
			how = " (columns share one file; estimated)"
		}
		_, _ = fmt.Fprintf(out, "\n%s, bytes a row%s:", table.Table, how)
		for _, c := range table.Columns {
			if c.BytesPerRow >= 0.05 {
				_, _ = fmt.Fprintf(out, " %s %.1f,", c.Column, c.BytesPerRow)
			}
		}
		_, _ = fmt.Fprintf(out, " indexes and marks %.1f\n", float64(table.IndexBytes)/float64(table.Rows))
	}
	return nil
}

func keptText(all []schema.Kept) string {
	if len(all) == 0 {
		return "for ever"
	}
	var parts []string
	for _, k := range all {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %d d", k.Kind, k.Days)))
	}
	return strings.Join(parts, ", ")
}

func day(at *time.Time) string {
	if at == nil {
		return "-"
	}
	return at.Format("2006-01-02 15:04")
}

func size(n uint64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}
