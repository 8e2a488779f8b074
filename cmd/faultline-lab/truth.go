package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/truth"
)

// truthCommand judges stories whose owner is known.
func truthCommand() *cobra.Command {
	var all bool
	var first string
	c := &cobra.Command{
		Use:   "truth FOLDER...",
		Short: "Judge stories whose owner is known, and count right and wrong answers",
		Long: `A folder holds scenario files (*.txtar), or OTLP/JSON files with an expected.json, or a build.py that makes such files of an
incidents.jsonl (python3 runs it, into a folder of its own that is removed again). First results, which nobody can judge again, are added up from their page.`,
		Example: `  faultline-lab truth --first docs/truth.md truth/testdata/round-*`,
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, folders []string) error {
			var firsts []truth.First
			if first != "" {
				var err error
				if firsts, err = readFirsts(first); err != nil {
					return err
				}
			}
			if err := tellTruth(cmd.Context(), cmd.OutOrStdout(), folders, all); err != nil || first == "" {
				return err
			}
			return tellFirsts(cmd.OutOrStdout(), firsts)
		},
	}
	c.Flags().StringVar(&first, "first", "", "a page of first results (docs/truth.md): add its rows up as well")
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

func readFirsts(page string) ([]truth.First, error) {
	file, err := os.Open(page) //nolint:gosec // whoever calls names the page
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	firsts, err := truth.ReadFirsts(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", page, err)
	}
	return firsts, nil
}

// tellFirsts adds up what was said at first sight.
func tellFirsts(out io.Writer, firsts []truth.First) error {
	_, _ = fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, strings.Replace(truth.Header, "corpus", "at first sight", 1))
	for _, s := range truth.Sums(firsts) {
		s.Score.Row(table, s.Name)
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
