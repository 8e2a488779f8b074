package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/truth"
)

// truthCommand judges stories whose owner is known.
func truthCommand() *cobra.Command {
	var all bool
	c := &cobra.Command{
		Use:   "truth FOLDER...",
		Short: "Judge stories whose owner is known, and count right and wrong answers",
		Long: `A folder holds scenario files (*.txtar), or OTLP/JSON files with an expected.json, or a build.py that makes such files of an
incidents.jsonl (python3 runs it, into a folder of its own that is removed again).`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, folders []string) error {
			return tellTruth(cmd.Context(), cmd.OutOrStdout(), folders, all)
		},
	}
	c.Flags().BoolVar(&all, "all", false, "print every answer, not only those that are not right")
	return c
}

func tellTruth(ctx context.Context, out io.Writer, folders []string, all bool) error {
	p, err := profile.Load("")
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, truth.Header)
	var total truth.Score
	for _, folder := range folders {
		c, err := openCorpus(ctx, folder)
		if err != nil {
			return err
		}
		answers := c.Judge(p)
		for _, a := range answers {
			if all || a.Grade != truth.Right {
				a.Say(out)
			}
		}
		s := truth.Count(answers)
		s.Row(table, c.Name)
		total = total.Add(s)
	}
	if len(folders) > 1 {
		total.Row(table, "all")
	}
	return table.Flush()
}

// openCorpus opens a folder as it is, or what its build.py makes.
func openCorpus(ctx context.Context, folder string) (truth.Corpus, error) {
	build, incidents := filepath.Join(folder, "build.py"), filepath.Join(folder, "incidents.jsonl")
	if _, err := os.Stat(build); err != nil {
		return truth.Open(folder)
	}
	dir, err := os.MkdirTemp("", "faultline-truth-")
	if err != nil {
		return truth.Corpus{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if said, err := exec.CommandContext(ctx, "python3", build, dir, incidents).CombinedOutput(); err != nil {
		return truth.Corpus{}, fmt.Errorf("make stories of %s: %w: %s", incidents, err, said)
	}
	c, err := truth.Open(dir)
	c.Name = filepath.Base(folder)
	return c, err
}
