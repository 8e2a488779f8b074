package query

import (
	"context"
	"errors"
	"iter"

	"github.com/faultline-io/faultline/correlator"
)

// Page is a part of a reading.
type Page struct {
	Events []*correlator.Event
	// Next is the cursor of the next page, "" after the last one.
	Next string
	// AsOf is the ingested time as of which this page and all that follow it are read.
	AsOf int64
	// Bounded says that late-linked records may be missing, see ErrBounded.
	Bounded bool
}

// maxPageBytes ends a page early, so that records of megabytes cannot make one of gigabytes.
const maxPageBytes = 16 << 20

// readPage fills a page with what read gives, as of a mark that the first page fixes.
func readPage(ctx context.Context, mark func(context.Context) (int64, error), asOf int64, question, from string, limit int,
	read func(mark int64, after Position) iter.Seq2[*correlator.Event, error],
) (Page, error) {
	var p Page
	after := Beginning()
	if from == "" {
		now, err := mark(ctx)
		if err != nil {
			return p, err
		}
		if p.AsOf = now; asOf != 0 {
			p.AsOf = min(asOf, now) // a mark in the future would let later records in
		}
	} else {
		c, err := parseCursor(from, question)
		if err != nil {
			return p, err
		}
		p.AsOf, after = c.Mark, Position{c.Time, c.Source, c.Key}
	}
	bytes := 0
	for e, err := range read(p.AsOf, after) {
		switch {
		case errors.Is(err, ErrBounded):
			p.Bounded = true
			continue
		case err != nil:
			return Page{}, err
		}
		if len(p.Events) == limit || bytes > maxPageBytes {
			last := PositionOf(p.Events[len(p.Events)-1])
			p.Next = cursor{cursorVersion, question, p.AsOf, last.Time, last.Source, last.Key}.String()
			break
		}
		p.Events = append(p.Events, e)
		bytes += size(e)
	}
	return p, nil
}

// size is about how much an event holds, in bytes.
func size(e *correlator.Event) int {
	n := 512 + len(e.Body) + len(e.StatusMessage)
	for _, a := range e.Attrs {
		n += len(a.Key) + len(a.Value)
	}
	for _, a := range e.Resource {
		n += len(a.Key) + len(a.Value)
	}
	return n
}
