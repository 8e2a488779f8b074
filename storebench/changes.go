package storebench

import (
	"context"
	"fmt"
	"time"

	"github.com/faultline-io/faultline/collector/clickhouseexporter"
)

// Changes writes allocations that fail, one after the other: each is something to tell of.
type Changes struct {
	Every time.Duration
	Count int
	// Begin is called before an allocation is written.
	Begin func(allocation string)
}

// Run writes them, or as many as come before ctx ends.
func (c Changes) Run(ctx context.Context, dsn string) error {
	w, err := clickhouseexporter.OpenWriter(ctx, dsn, nil)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	tick := time.NewTicker(c.Every)
	defer tick.Stop()
	run := time.Now().UnixNano()
	for n := range c.Count {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		b, id, now := newBatch(), fmt.Sprintf("changed-%d-%d", run, n), time.Now()
		for to, at := range map[string]time.Time{"requested": now.Add(-3 * time.Second), "failed": now} {
			lr := b.log(emitter{service: "provisioner", scope: "provisioner", version: "1", instance: "provisioner-0"}, at.UnixNano())
			lr.SetEventName("allocation.state")
			lr.Attributes().PutStr("allocation_id", id)
			lr.Attributes().PutStr("to", to)
		}
		c.Begin(id)
		if err := w.WriteLogs(ctx, b.Logs); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}
