package main

import (
	"fmt"
	"strings"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator"
)

// history prints what was said of an allocation, oldest first.
func (p *page) history(h api.History) {
	for _, r := range h.Revisions {
		v := r.Assessment.Verdict
		p.line("", fmt.Sprintf("%s  %s. %s", r.JudgedAt, v.Outcome, v.Explanation))
		if len(r.Differs) > 0 {
			p.line("    ", "changed: "+strings.Join(r.Differs, "; "))
		}
		switch r.Why {
		case correlator.BecauseFirst:
			p.line("    ", "the first verdict, by rules "+v.RulesVersion)
		case correlator.BecauseTime:
			p.line("    ", "nothing arrived; time passed")
		case correlator.BecauseRules:
			p.line("    ", "other rules: "+v.RulesVersion)
		}
		for _, a := range r.ChangedBy {
			p.line("    ", "by "+a.Ref+"  "+a.Summary)
		}
	}
	p.line("", fmt.Sprintf("%d verdicts on %s", len(h.Revisions), h.ID))
}

// reasoning prints how a verdict came about, trouble by trouble.
func (p *page) reasoning(why correlator.Reasoning) {
	for _, d := range why.Troubles {
		p.blank()
		p.line("  ", fmt.Sprintf("trouble: %s (%s, %s … %s)", d.Trouble, d.Kind, d.From, d.At))
		if d.Owes != "" {
			p.line("    ", "owed by: "+d.Owes)
		}
		p.line("    ", "ruling: "+strings.Join(nonEmpty(d.Ruling, d.Because), ", "))
		for _, c := range d.Considered {
			mark := "✗"
			if c.Kept {
				mark = "✓"
			}
			p.line("    "+mark+" ", fmt.Sprintf("%s · %s.%s · %s, %s · since %s", c.Rule, c.Layer, c.Mechanism, c.Weight, c.Directness, c.Onset))
			p.line("        ", c.Summary)
			if c.Because != "" {
				word := "lost by: "
				if c.Kept {
					word = "kept: "
				}
				p.line("        ", word+c.Because)
			}
			p.line("        ", "evidence: "+clipList(c.Evidence, 6))
		}
	}
	if len(why.Troubles) == 0 {
		p.blank()
		p.line("  ", "no trouble was found: everything that was owed came about, or is not due yet")
	}
}
