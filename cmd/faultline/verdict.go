package main

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/api/client"
	"github.com/faultline-io/faultline/correlator"
)

// verdictQuestion is `faultline verdict`.
type verdictQuestion struct {
	question
	explain, history, evidence, markdown, exitCode bool
}

func verdictCommand() *cobra.Command {
	q := verdictQuestion{}
	cmd := &cobra.Command{
		Use:   "verdict ID",
		Short: "Which layer owns the trouble of an allocation, and what proves it",
		Long: `Says who owns the trouble of an allocation, why, what to check next, and what is safe to do. ID may be any identifier
that leads to the allocation: of a workflow, task, claim, request, trace, correlation, node …`,
		Example: `  faultline verdict a-1
  faultline verdict gpu-17 --evidence
  faultline verdict a-1 --markdown | pbcopy
  faultline verdict a-1 --exit-code >/dev/null || echo "somebody owns it"`,
		Args:              oneID,
		ValidArgsFunction: completeIDs(&q.question),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case q.history:
				return q.tellHistory(cmd, args[0])
			case q.explain:
				return q.tellReasons(cmd, args[0])
			}
			a, err := q.ask(cmd.Context(), args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			answer := api.Verdict{ID: a.ID, State: a.State, Since: a.Since, Verdict: a.Verdict}
			if err := q.show(cmd, q.now(), answer, func() view { return q.view(a) }); err != nil {
				return err
			}
			return q.status(a.Verdict)
		},
	}
	q.flags(cmd)
	q.pastFlag(cmd)
	f := cmd.Flags()
	f.BoolVar(&q.explain, "explain", false, "say what was considered, what was dropped, and by which tie-break")
	f.BoolVar(&q.history, "history", false, "list what was said before, each change with what changed it")
	f.BoolVar(&q.evidence, "evidence", false, "print the records that prove it")
	f.BoolVar(&q.markdown, "markdown", false, "print Markdown, for the incident's channel")
	f.BoolVar(&q.exitCode, "exit-code", false, "exit with 0 for none, 10 attributed, 11 contested, 12 undetermined")
	for _, pair := range [][]string{{"explain", "history", "evidence"}, {"as-of", "history"}, {"markdown", "json"}, {"markdown", "explain"}, {"markdown", "history"}, {"markdown", "output"}, {"exit-code", "history"}} {
		cmd.MarkFlagsMutuallyExclusive(pair...)
	}
	return cmd
}

func (q *verdictQuestion) view(a correlator.Allocation) view {
	return view{ids: []string{a.ID}, table: verdictTable(a), people: func(p *page) error {
		if q.markdown {
			return writeMarkdown(p.w, a, q.evidence)
		}
		p.head(a)
		p.verdict(a.Verdict, !q.evidence)
		if q.evidence {
			p.evidence(a)
		}
		return nil
	}}
}

// status is the exit status that a verdict is worth.
func (q *verdictQuestion) status(v correlator.Verdict) error {
	if !q.exitCode {
		return nil
	}
	return foundOutcome(v.Outcome)
}

func flagText(cmd *cobra.Command, name string) string { return cmd.Flags().Lookup(name).Value.String() }

func (q *verdictQuestion) tellHistory(cmd *cobra.Command, id string) error {
	id, err := q.resolve(cmd.Context(), id, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	var h api.History
	if err := q.get(cmd.Context(), history(id), &h); err != nil {
		return err
	}
	return q.show(cmd, q.now(), h, func() view {
		return view{ids: []string{h.ID}, people: func(p *page) error { p.history(h); return nil }}
	})
}

// history asks for what was said before.
func history(id string) request {
	return func(ctx context.Context, c client.ClientInterface) (*http.Response, error) {
		return c.GetHistory(ctx, id, &client.GetHistoryParams{})
	}
}

func (q *verdictQuestion) tellReasons(cmd *cobra.Command, id string) error {
	id, err := q.resolve(cmd.Context(), id, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	var r api.Reasoned
	err = q.get(cmd.Context(), func(ctx context.Context, c client.ClientInterface) (*http.Response, error) {
		return c.GetReasoning(ctx, id, &client.GetReasoningParams{AsOf: q.asOf.time()})
	}, &r)
	if err != nil {
		return err
	}
	a := correlator.Allocation{ID: r.ID, State: r.State, Since: r.Since, Verdict: r.Verdict.Verdict}
	err = q.show(cmd, q.now(), r, func() view {
		return view{ids: []string{r.ID}, table: verdictTable(a), people: func(p *page) error {
			p.head(a)
			p.verdict(a.Verdict, true)
			p.reasoning(r.Reasoning)
			return nil
		}}
	})
	if err != nil {
		return err
	}
	return q.status(a.Verdict)
}
