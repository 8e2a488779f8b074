package correlator

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/semconv"
)

func deprovisionBeforeEnd(c *Case) []Finding {
	var out []Finding
	for _, d := range c.jobsOf("deprovision") {
		for _, p := range c.jobsOf("provision") {
			started := d.Changes[0]
			if p.Silent() || p.Changes[0].At > started.At {
				continue
			}
			if last := p.at(started.At + skew); last != nil && !jobOver(last.To) {
				out = append(out, found("deprovision_before_end", "job "+d.ID+" was launched while "+p.ID+" was "+strings.ToLower(last.To), last.Event, started.Event)...)
			}
		}
	}
	return out
}

func doubleLaunch(c *Case) []Finding {
	var out []Finding
	for i, a := range c.Lifecycle.Jobs {
		for _, b := range c.Lifecycle.Jobs[i+1 : min(len(c.Lifecycle.Jobs), i+1+maxPairs)] {
			version := a.Changes[0].Event.Attr(semconv.ConfigVersion)
			if a.ID == b.ID || a.Operation != b.Operation || version == "" || b.Changes[0].Event.Attr(semconv.ConfigVersion) != version || a.Silent() {
				continue
			}
			if last := a.at(b.Changes[0].At); last != nil && !jobOver(last.To) {
				out = append(out, found("double_launch", "jobs "+a.ID+" and "+b.ID+" lived at once for one configuration", a.Changes[0].Event, b.Changes[0].Event)...)
			}
		}
	}
	return out
}

func cancelNotCarriedOut(c *Case) []Finding {
	end, budget := c.Lifecycle.Cancel, int64(c.Profile.Budgets().Cancel)
	if end == nil || budget == 0 {
		return nil
	}
	var out []Finding
	for _, j := range c.jobsOf("provision", "") {
		last := j.Last()
		if j.Silent() || j.Changes[0].At > end.At || last.At <= end.At+budget+skew {
			continue
		}
		if before := j.at(end.At); before != nil && jobOver(before.To) {
			continue
		}
		out = append(out, found("cancel_not_carried_out", "job "+j.ID+" was "+strings.ToLower(last.To)+" long after its end had been asked for", end, last.Event)...)
	}
	return out
}

func staleRepeat(c *Case) []Finding {
	var out []Finding
	for _, j := range c.Lifecycle.Jobs {
		for _, late := range j.Late {
			if strings.EqualFold(late.To, j.Last().To) {
				continue
			}
			out = append(out, found("stale_repeat", "job "+j.ID+" is told of as "+strings.ToLower(late.To)+" after it was "+strings.ToLower(j.Last().To), j.Last().Event, late.Event)...)
			break
		}
	}
	return out
}

func activeWithoutProof(c *Case) []Finding {
	var out []Finding
	for _, s := range c.Lifecycle.States {
		if s.To != semconv.Active || s.From != "" && s.From != semconv.Provisioning && s.From != semconv.Reserved {
			continue
		}
		var against *Event
		proven := false
		for _, j := range c.jobsOf("provision", "") {
			last := j.at(s.At + skew)
			switch {
			case last == nil:
			case j.Silent() || strings.EqualFold(last.To, "succeeded"):
				proven = true
			default:
				against = last.Event
			}
		}
		for _, a := range c.Lifecycle.Tasks {
			proven = proven || a.Over != nil && a.Over.To() == semconv.Succeeded && a.Over.At <= s.At+skew
		}
		if against != nil && !proven {
			out = append(out, found("active_without_proof", "active while its provision job was "+strings.ToLower(against.To()), s.Event, against)...)
		}
	}
	return out
}

// jobsOf lists the runs of provider jobs whose operation is one of these.
func (c *Case) jobsOf(operation ...string) []*Run {
	var out []*Run
	for _, j := range c.Lifecycle.Jobs {
		if slices.Contains(operation, j.Operation) {
			out = append(out, j)
		}
	}
	return out
}
