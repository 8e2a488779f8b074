package main

import (
	"fmt"
	"time"

	"github.com/faultline-io/faultline/correlator"
)

// answer prints every allocation of an analysis.
func (p *page) answer(a correlator.Answer) error {
	for i, one := range a.Allocations {
		if i > 0 {
			p.blank()
		}
		p.now = time.Unix(0, int64(one.Verdict.AsOf))
		p.head(one)
		p.verdict(one.Verdict, true)
		p.blank()
		if err := p.timeline(one.Timeline, one); err != nil {
			return err
		}
	}
	if len(a.Allocations) == 0 {
		p.line("", "no allocation in the input: no record carries an allocation_id or leads to one")
	}
	s := a.Stats
	p.blank()
	p.line("", fmt.Sprintf("%d allocations; %d records: %d resolved, %d belong to none, %d duplicates, %d conflicts, %d rejected",
		len(a.Allocations), s.Records, s.Resolved, s.Unresolved, s.Duplicates, s.Conflicts, s.Rejected))
	return nil
}
