package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/correlator"
)

// across is a question over many allocations: of files where some are named, else of a running
// correlator.
type across[List any] struct {
	name, short, long, example string
	request                    func(asOf *time.Time) request  // the same question of a running correlator
	ofFiles                    func(*correlator.Dataset) List // the same answer, worked out here
	view                       func(l *look, list List, now time.Time) view
	asOf                       func(List) correlator.Time
	details                    func(*page, List) // the same list in full sentences; nil where there is no more to say
	found                      func(List) int    // for --exit-code; nil where it has none
	flags                      func(*cobra.Command)
}

// command makes the cobra command of a question.
func (a across[List]) command() *cobra.Command {
	q, in := question{}, input{}
	details, exitCode := false, false
	cmd := &cobra.Command{
		Use: a.name + " [FILE...]", Short: a.short, Example: a.example,
		Long: a.long + `

With FILEs (OTLP/JSON, as in faultline analyze) they are judged here; without, a running correlator is asked.
Exit status: 0 all read; 3 something was rejected (the answer is still whole); 1 usage or I/O error.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, files []string) error {
			if len(files) == 0 && in.profile != "" {
				return fmt.Errorf("--profile goes with FILEs: a running correlator has its own")
			}
			for _, name := range []string{"server", "context"} {
				if len(files) > 0 && cmd.Flags().Changed(name) {
					return fmt.Errorf("--%s and FILEs exclude each other", name)
				}
			}
			var list List
			var rejected error
			if len(files) > 0 {
				in.asOf = q.asOf.String()
				g, err := in.gather(files, cmd.InOrStdin(), cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				if list = a.ofFiles(g); g.Stats.Rejected > 0 {
					rejected = errRejected
				}
			} else if err := q.get(cmd.Context(), a.request(q.asOf.time()), &list); err != nil {
				return err
			}
			now := time.Unix(0, int64(a.asOf(list)))
			err := q.show(cmd, now, list, func() view {
				v := a.view(&q.look, list, now)
				if details {
					v.people = func(p *page) error { a.details(p, list); p.line("", v.foot); return nil }
				}
				return v
			})
			switch {
			case err != nil:
				return err
			case rejected == nil && exitCode:
				return foundAny(a.found(list))
			}
			return rejected
		},
	}
	q.flags(cmd)
	q.pastFlag(cmd)
	cmd.Flags().StringVar(&in.profile, "profile", "", "built-in profile or profile file, for FILEs (default \"default\")")
	if a.details != nil {
		cmd.Flags().BoolVar(&details, "details", false, "in full sentences: owners, next checks, safe actions, signs of life")
	}
	if a.found != nil {
		cmd.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 10 where there is something (faultline help exit-codes)")
	}
	if a.flags != nil {
		a.flags(cmd)
	}
	return cmd
}
