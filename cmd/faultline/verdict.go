package main

import (
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator"
)

func verdictCommand() *cobra.Command {
	cmd := askCommand("verdict", "Which layer owns the trouble of an allocation, and what proves it",
		func(a correlator.Allocation) any {
			return api.Verdict{ID: a.ID, State: a.State, Since: a.Since, Verdict: a.Verdict}
		},
		func(w io.Writer, a correlator.Allocation) error { return showVerdict(w, a.Verdict) })
	explain, history := false, false
	cmd.Flags().BoolVar(&explain, "explain", false, "say what was considered, what was dropped, and by which tie-break")
	cmd.Flags().BoolVar(&history, "history", false, "list what was said before, each change with what changed it")
	cmd.MarkFlagsMutuallyExclusive("explain", "history")
	cmd.MarkFlagsMutuallyExclusive("as-of", "history")
	plain := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !explain && !history {
			return plain(cmd, args)
		}
		q := question{server: flagText(cmd, "server"), asOf: flagText(cmd, "as-of"), json: flagText(cmd, "json") == "true"}
		id, err := q.resolve(cmd.Context(), args[0], cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		if history {
			return q.history(cmd, id)
		}
		return q.explain(cmd, id)
	}
	return cmd
}

func flagText(cmd *cobra.Command, name string) string { return cmd.Flags().Lookup(name).Value.String() }

func (q *question) history(cmd *cobra.Command, id string) error {
	var h api.History
	if err := q.get(cmd.Context(), "/api/v1/allocations/"+url.PathEscape(id)+"/history", &h); err != nil {
		return err
	}
	if q.json {
		return printJSON(cmd.OutOrStdout(), h)
	}
	return showHistory(cmd.OutOrStdout(), h)
}

func (q *question) explain(cmd *cobra.Command, id string) error {
	path := "/api/v1/allocations/" + url.PathEscape(id) + "/reasoning"
	if q.asOf != "" {
		path += "?as_of=" + url.QueryEscape(q.asOf)
	}
	var r api.Reasoned
	if err := q.get(cmd.Context(), path, &r); err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if q.json {
		return printJSON(out, r)
	}
	if err := showHead(out, correlator.Allocation{ID: r.ID, State: r.State, Since: r.Since}); err != nil {
		return err
	}
	if err := showVerdict(out, r.Verdict.Verdict); err != nil {
		return err
	}
	return showReasoning(out, r.Reasoning)
}

// showHistory prints what was said of an allocation, oldest first.
func showHistory(w io.Writer, h api.History) error {
	for _, r := range h.Revisions {
		v := r.Assessment.Verdict
		_, _ = fmt.Fprintf(w, "%s  %s. %s\n", r.JudgedAt, v.Outcome, v.Explanation)
		if len(r.Differs) > 0 {
			_, _ = fmt.Fprintf(w, "    changed: %s\n", strings.Join(r.Differs, "; "))
		}
		switch r.Why {
		case correlator.BecauseFirst:
			_, _ = fmt.Fprintf(w, "    the first verdict, by rules %s\n", v.RulesVersion)
		case correlator.BecauseTime:
			_, _ = fmt.Fprintf(w, "    nothing arrived; time passed\n")
		case correlator.BecauseRules:
			_, _ = fmt.Fprintf(w, "    other rules: %s\n", v.RulesVersion)
		}
		for _, a := range r.ChangedBy {
			_, _ = fmt.Fprintf(w, "    by %s  %s\n", a.Ref, a.Summary)
		}
	}
	_, err := fmt.Fprintf(w, "%d verdicts on %s\n", len(h.Revisions), h.ID)
	return err
}

// showReasoning prints how a verdict came about, trouble by trouble.
func showReasoning(w io.Writer, why correlator.Reasoning) error {
	for _, d := range why.Troubles {
		_, _ = fmt.Fprintf(w, "\n  trouble: %s (%s, %s … %s)\n", d.Trouble, d.Kind, d.From, d.At)
		if d.Owes != "" {
			_, _ = fmt.Fprintf(w, "    owed by: %s\n", d.Owes)
		}
		_, _ = fmt.Fprintf(w, "    ruling: %s\n", strings.Join(nonEmpty(d.Ruling, d.Because), ", "))
		for _, c := range d.Considered {
			mark := "✗"
			if c.Kept {
				mark = "✓"
			}
			_, _ = fmt.Fprintf(w, "    %s %s · %s.%s · %s, %s · since %s\n        %s\n", mark, c.Rule, c.Layer, c.Mechanism, c.Weight, c.Directness, c.Onset, c.Summary)
			if c.Because != "" {
				word := "lost by: "
				if c.Kept {
					word = "kept: "
				}
				_, _ = fmt.Fprintf(w, "        %s%s\n", word, c.Because)
			}
			_, _ = fmt.Fprintf(w, "        evidence: %s\n", clipList(c.Evidence, 6))
		}
	}
	if len(why.Troubles) == 0 {
		_, _ = fmt.Fprintln(w, "\n  no trouble was found: everything that was owed came about, or is not due yet")
	}
	return nil
}
