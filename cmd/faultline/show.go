package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/faultline-io/faultline/correlator"
)

// showAnswer prints every allocation for people.
func showAnswer(w io.Writer, a correlator.Answer) error {
	for i, one := range a.Allocations {
		if i > 0 {
			_, _ = fmt.Fprintln(w)
		}
		if err := showAllocation(w, one); err != nil {
			return err
		}
	}
	if len(a.Allocations) == 0 {
		_, _ = fmt.Fprintln(w, "no allocation in the input: no record carries an allocation_id or leads to one")
	}
	s := a.Stats
	_, err := fmt.Fprintf(w, "\n%d allocations; %d records: %d resolved, %d belong to none, %d duplicates, %d conflicts, %d rejected\n",
		len(a.Allocations), s.Records, s.Resolved, s.Unresolved, s.Duplicates, s.Conflicts, s.Rejected)
	return err
}

func showHead(w io.Writer, a correlator.Allocation) error {
	state := "state unknown"
	if a.State != nil {
		state = fmt.Sprintf("%s since %s", *a.State, a.Since)
	}
	_, err := fmt.Fprintf(w, "allocation %s   %s\n\n", a.ID, state)
	return err
}

func showAllocation(w io.Writer, a correlator.Allocation) error {
	if err := showHead(w, a); err != nil {
		return err
	}
	if err := showVerdict(w, a.Verdict); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(w)
	return showTimeline(w, a.Timeline, a.Verdict)
}

func showVerdict(w io.Writer, v correlator.Verdict) error {
	_, _ = fmt.Fprintf(w, "  verdict: %s. %s\n", v.Outcome, v.Explanation)
	for _, f := range v.Faults {
		cleared := "still open"
		if f.ClearedAt != nil {
			cleared = "cleared " + f.ClearedAt.String()
		}
		_, _ = fmt.Fprintf(w, "  ● %s · %s · %s confidence · since %s, %s\n", strings.ToUpper(f.Layer), f.Rule, f.Confidence, f.Onset, cleared)
		_, _ = fmt.Fprintf(w, "      %s\n", f.Summary)
		if f.Owner.Team != "" {
			_, _ = fmt.Fprintf(w, "      owner: %s\n", strings.Join(nonEmpty(f.Owner.Team, f.Owner.Contact, f.Owner.Runbook), " · "))
		}
		for _, line := range [][2]string{{"next check", f.NextCheck}, {"safe action", f.SafeAction}} {
			if line[1] != "" {
				_, _ = fmt.Fprintf(w, "      %s: %s\n", line[0], line[1])
			}
		}
		_, _ = fmt.Fprintf(w, "      evidence: %s\n", clipList(f.Evidence, 6))
	}
	for _, c := range v.Candidates {
		_, _ = fmt.Fprintf(w, "  ? %s: %s\n", c.Layer, c.Why)
	}
	for _, m := range v.Missing {
		_, _ = fmt.Fprintf(w, "  missing: %s, %s\n", m.Layer, m.Why)
	}
	for _, d := range v.Drift {
		_, _ = fmt.Fprintf(w, "  drift: %s shows %s %s, truth is %s since %s\n", d.Projection, d.Field, d.Shown, d.Truth, d.Since)
	}
	for _, f := range v.Findings {
		_, _ = fmt.Fprintf(w, "  note: %s: %s\n", f.Kind, f.Summary)
	}
	return nil
}

func showTimeline(w io.Writer, entries []correlator.Entry, v correlator.Verdict) error {
	marks := map[string]string{}
	for _, f := range v.Faults {
		for _, ref := range f.Symptoms {
			marks[ref] = "·"
		}
		for _, ref := range f.Evidence {
			marks[ref] = "●"
		}
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var day string
	for _, e := range entries {
		at := time.Unix(0, int64(e.Time)).UTC()
		if d := at.Format("2006-01-02"); d != day {
			day = d
			_, _ = fmt.Fprintf(t, "  %s\n", day)
		}
		layer := e.Layer
		if layer == "" {
			layer = "-"
		}
		severity := e.Severity
		if severity == "info" || severity == "debug" || severity == "trace" {
			severity = ""
		}
		_, _ = fmt.Fprintf(t, "  %s\t%s\t%s\t%s\t%s\t%s\t%s\n", at.Format("15:04:05.000"), marks[e.Ref], layer, e.Source, e.Kind, severity, e.Summary)
	}
	return t.Flush()
}

func nonEmpty(all ...string) []string {
	var out []string
	for _, s := range all {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

func clipList(all []string, n int) string {
	if len(all) <= n {
		return strings.Join(all, " ")
	}
	return strings.Join(all[:n], " ") + fmt.Sprintf(" and %d more", len(all)-n)
}
