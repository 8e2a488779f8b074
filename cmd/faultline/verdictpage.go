package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/table"
)

func (p *page) head(a correlator.Allocation) {
	p.styled("", "allocation "+a.ID+"   "+p.state(a.State, a.Since), table.Strong)
	p.blank()
}

// verdict says who owns the trouble first, then why, what to check, and what is safe to do. With refs, the records that
// prove it are named.
func (p *page) verdict(v correlator.Verdict, refs bool) {
	// One owner: the explanation says again what the fault says.
	alone := v.Outcome == correlator.Attributed && len(v.Faults) == 1 && strings.Contains(v.Explanation, v.Faults[0].Summary)
	if !alone {
		p.fieldStyled("verdict", v.Outcome+". "+v.Explanation, outcomeStyle(v.Outcome))
	}
	for i, f := range v.Faults {
		if i > 0 || !alone {
			p.blank()
		}
		p.fault(f, v.Outcome, refs)
	}
	if len(v.Faults) > 0 && len(v.Candidates)+len(v.Missing)+len(v.Drift)+len(v.Findings) > 0 {
		p.blank()
	}
	for _, c := range v.Candidates {
		p.field("suspect", c.Layer+": "+c.Why)
	}
	for _, m := range v.Missing {
		p.field("missing", m.Layer+": "+m.Why)
	}
	for _, d := range v.Drift {
		p.field("drift", fmt.Sprintf("%s shows %s %s, truth is %s, %s", d.Projection, d.Field, d.Shown, d.Truth, p.period(d.Since)))
	}
	for _, f := range v.Findings {
		p.field("note", f.Kind+": "+f.Summary)
	}
}

func (p *page) fault(f correlator.Fault, outcome string, refs bool) {
	name := "owner"
	if outcome == correlator.Contested {
		name = "owner?"
	}
	p.fieldStyled(name, strings.Join(nonEmpty(strings.ToUpper(f.Layer), f.Owner.Team, f.Owner.Contact, f.Owner.Runbook), " · "), table.Strong)
	p.field("why", f.Summary)
	p.field("verdict", fmt.Sprintf("%s, %s confidence · %s · %s", outcome, f.Confidence, f.Rule, p.lasted(f.Onset, f.ClearedAt)))
	p.field("next check", f.NextCheck)
	p.field("safe action", f.SafeAction)
	if refs {
		p.field("evidence", clipList(f.Evidence, 6))
	}
}

// evidence prints the records that faults cite.
func (p *page) evidence(a correlator.Allocation) {
	lines := map[string]correlator.Entry{}
	for _, e := range a.Timeline {
		lines[e.Ref] = e
	}
	for _, f := range a.Verdict.Faults {
		for _, group := range []struct {
			name string
			refs []string
		}{{"evidence", f.Evidence}, {"symptoms", f.Symptoms}, {"against it", f.Contradicting}} {
			if len(group.refs) == 0 {
				continue
			}
			p.blank()
			p.styled("  ", group.name+" of "+f.Rule, table.Faint)
			for _, ref := range group.refs {
				e, ok := lines[ref]
				if !ok {
					p.line("    ", ref+"  not on the timeline")
					continue
				}
				at := time.Unix(0, int64(e.Time)).UTC().Format("2006-01-02 15:04:05.000")
				p.line("    "+at+"  ", strings.Join(nonEmpty(orText(e.Layer, "-"), e.Source, telling(e.Severity), e.Summary, "("+e.Ref+")"), "  "))
			}
		}
	}
}

// verdictTable has what changes of a verdict, for whoever watches it.
func verdictTable(a correlator.Allocation) *table.Table {
	t := &table.Table{Columns: []table.Column{{Name: "ID"}, {Name: "STATE"}, {Name: "VERDICT"}, {Name: "OWNER"}, {Name: "CAUSE"}, {Name: "CONFIDENCE"}, {Name: "CLEARED"}}}
	var owners, causes, confidences, cleared []string
	for _, f := range a.Verdict.Faults {
		owners, causes, confidences = append(owners, f.Layer), append(causes, f.Rule), append(confidences, f.Confidence)
		if f.ClearedAt != nil {
			cleared = append(cleared, f.ClearedAt.String())
		}
	}
	list := func(all []string) string { return strings.Join(all, " ") }
	t.Add(plain(a.ID, text(a.State), a.Verdict.Outcome, list(owners), list(causes), list(confidences), list(cleared))...)
	return t
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
