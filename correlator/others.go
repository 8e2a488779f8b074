package correlator

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Answers says whether a record tells how something ended that was asked for: an answered request, or the end of a task, a job or a run.
// What others were answered tells apart whether it is the one who asks or the one who is asked (docs/contract.md §6).
func (e *Event) Answers() bool {
	if !e.IsEvent() {
		return e.HTTP.Status != 0
	}
	switch e.Name {
	case semconv.EventTaskState:
		return e.To() == semconv.Succeeded || e.To() == semconv.Failed || e.To() == semconv.Rejected
	case semconv.EventProviderState:
		return strings.EqualFold(e.To(), "succeeded") || strings.EqualFold(e.To(), "failed")
	case semconv.EventWorkflowState:
		return e.To() == semconv.Completed || e.To() == semconv.Failed
	}
	return false
}

// EachOther calls look for what other allocations were answered in [from, to], in order of time, as far as it is known: a store and a working
// set give a sample. What a rule cites of it, it has to Borrow.
func (c *Case) EachOther(from, to int64, look func(*Event)) {
	for _, e := range c.Others[firstAt(c.Others, from):] {
		if e.At > to {
			return
		}
		if e.Allocation != c.ID {
			look(e)
		}
	}
}

// Borrow makes records of other allocations known as cited by this one.
func (c *Case) Borrow(events ...*Event) {
	for _, e := range events {
		if e.Allocation != "" && e.Allocation != c.ID && !slices.Contains(c.borrowed, e) {
			c.borrowed = append(c.borrowed, e)
		}
	}
}

// othersOf collects what all cases of a dataset were answered. One allocation alone has no others.
func othersOf(cases []*Case) []*Event {
	if len(cases) < 2 {
		return nil
	}
	var out []*Event
	for _, c := range cases {
		for _, e := range c.Events {
			if e.Answers() {
				out = append(out, e)
			}
		}
	}
	return inTime(out)
}
