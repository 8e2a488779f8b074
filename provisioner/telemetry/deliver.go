package telemetry

import (
	"context"
	"fmt"
)

// HasReceiver reports whether there is anybody to deliver to.
func (e *Exporter) HasReceiver() bool { return e.post != nil || e.file != nil }

// Deliver sends batches together, now, and comes back when they have arrived everywhere, or with the error
// of the first place where they have not; ErrRefused where they never will. What is delivered again is not
// counted twice by whoever reads it: each record has the name under which it was first sent.
func (e *Exporter) Deliver(ctx context.Context, batches ...EncodedBatch) error {
	logs, traces, err := Decode(batches...)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	b := batch{logs, traces}
	if e.post != nil {
		requests, err := b.requests()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrRefused, err)
		}
		for _, r := range requests {
			if err := e.post.post(ctx, r.path, r.body); err != nil {
				return fmt.Errorf("post to %s: %w", r.path, err)
			}
		}
	}
	if e.file == nil {
		return nil
	}
	return e.file.write(b)
}

// Lost counts records that were given up by whoever kept them.
func (e *Exporter) Lost(records int) { e.dropped.Add(uint64(records)) }
