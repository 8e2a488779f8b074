package correlator

import (
	"context"
	"errors"
	"iter"
)

// Page is a part of a reading.
type Page struct {
	Events []*Event
	// Next is the cursor of the next page, "" after the last one.
	Next string
	// AsOf is the ingested time as of which this page and all that follow it are read.
	AsOf int64
	// Bounded says that late-linked records may be missing, see ErrBounded.
	Bounded bool
}

// maxPageBytes ends a page early, so that records of megabytes cannot make one of gigabytes.
const maxPageBytes = 16 << 20

// ReadEvents gives the page of a selection that begins at a cursor, "" for the first. All pages are read
// as of the mark that the first one fixed: records that are ingested later are in none of them, wherever
// their times lie. What could be read when the first page was is in exactly one page. A record that was
// on its way then, ingested before the mark by its Collector's clock but not yet to be seen, is read if
// its place comes after the cursor when it arrives; an AsOf that lies further back than inserts take
// leaves no such records.
func ReadEvents(ctx context.Context, r EventReader, s Selection, cursor string, limit int) (Page, error) {
	if err := s.Validate(); err != nil {
		return Page{}, err
	}
	return readPage(ctx, r.Mark, s.AsOf, digestOf(s), cursor, limit, func(mark int64, after Position) iter.Seq2[*Event, error] {
		s.AsOf = mark
		return r.Events(ctx, s, after)
	})
}

func readPage(ctx context.Context, mark func(context.Context) (int64, error), asOf int64, question, from string, limit int,
	read func(mark int64, after Position) iter.Seq2[*Event, error],
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
			last := p.Events[len(p.Events)-1].Position()
			p.Next = cursor{cursorVersion, question, p.AsOf, last.Time, last.Source, last.Key}.String()
			break
		}
		p.Events = append(p.Events, e)
		bytes += size(e)
	}
	return p, nil
}

// size is about how much an event holds, in bytes.
func size(e *Event) int {
	n := 512 + len(e.Body) + len(e.StatusMessage)
	for _, a := range e.Attrs {
		n += len(a.Key) + len(a.Value)
	}
	for _, a := range e.Resource {
		n += len(a.Key) + len(a.Value)
	}
	return n
}
