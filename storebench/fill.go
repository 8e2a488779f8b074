package storebench

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/faultline-io/faultline/collector/clickhouseexporter"
)

// Fill writes the shape's records to our own tables, as the exporter does, in batches of size records.
// It says how it goes on about every ten seconds.
func Fill(ctx context.Context, dsn string, s Shape, size int, said func(rows int, took time.Duration)) (rows int, err error) {
	var at time.Time
	w, err := clickhouseexporter.OpenWriter(ctx, dsn, func() time.Time { return at })
	if err != nil {
		return 0, err
	}
	defer func() { _ = w.Close() }()
	begun := time.Now()
	next := begun.Add(10 * time.Second)
	for b := range ahead(s.Batches(size)) {
		at = b.At
		if now := time.Now(); at.After(now) {
			at = now // what the store took later than now would be judged when that time comes
		}
		if err := w.WriteLogs(ctx, b.Logs); err != nil {
			return rows, fmt.Errorf("after %d records: %w", rows, err)
		}
		if err := w.WriteSpans(ctx, b.Spans); err != nil {
			return rows, fmt.Errorf("after %d records: %w", rows, err)
		}
		rows += b.Rows()
		if time.Now().After(next) {
			said(rows, time.Since(begun))
			next = time.Now().Add(10 * time.Second)
		}
	}
	return rows, nil
}

// ahead makes the next batch while the one before is written.
func ahead(batches iter.Seq[*Batch]) iter.Seq[*Batch] {
	return func(yield func(*Batch) bool) {
		made, done := make(chan *Batch, 1), make(chan struct{})
		go func() {
			defer close(made)
			for b := range batches {
				select {
				case made <- b:
				case <-done:
					return
				}
			}
		}()
		defer func() {
			close(done)
			for range made { // until the maker has ended
			}
		}()
		for b := range made {
			if !yield(b) {
				return
			}
		}
	}
}
