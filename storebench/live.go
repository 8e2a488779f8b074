package storebench

import (
	"context"
	"fmt"
	"time"

	"github.com/faultline-io/faultline/collector/clickhouseexporter"
)

// Live writes records of now at a rate: the store is asked while it takes what comes.
type Live struct {
	Rate        int // records a second
	Allocations int // that they are of, in turn
}

// LiveID is the identifier of the n-th allocation, from 0 on.
func LiveID(n int) string { return fmt.Sprintf("live-%05d", n) }

// Run writes until ctx ends, and gives how many records were written, and how late the slowest insert was.
func (l Live) Run(ctx context.Context, dsn string) (rows int, slowest time.Duration, err error) {
	w, err := clickhouseexporter.OpenWriter(ctx, dsn, nil)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = w.Close() }()
	const every = 500 * time.Millisecond
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 0; ; {
		select {
		case <-ctx.Done():
			return rows, slowest, nil
		case <-tick.C:
		}
		b, now := newBatch(), time.Now().UnixNano()
		for range int(float64(l.Rate) * every.Seconds()) {
			n++
			id := LiveID(n % l.Allocations)
			lr := b.log(emitter{service: "provisioner", scope: "provisioner", version: "1", instance: "provisioner-0"}, now)
			a := lr.Attributes()
			a.PutStr("allocation_id", id)
			a.PutStr("workflow_id", "w-"+id)
			if n <= l.Allocations {
				lr.SetEventName("allocation.state")
				a.PutStr("to", "requested")
				continue
			}
			lr.Body().SetStr(fmt.Sprintf("step %d of %s goes on", n, id))
		}
		begun := time.Now()
		if err := w.WriteLogs(ctx, b.Logs); err != nil && ctx.Err() == nil {
			return rows, slowest, err
		}
		rows, slowest = rows+b.Rows(), max(slowest, time.Since(begun))
	}
}

// Large writes allocations of so many records each that are at rest, and gives their identifiers.
func Large(ctx context.Context, dsn string, allocations, records int) (ids []string, err error) {
	w, err := clickhouseexporter.OpenWriter(ctx, dsn, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = w.Close() }()
	sources := []emitter{
		{service: "api", scope: "api", version: "1", instance: "api-0"}, {service: "provisioner", scope: "provisioner", version: "1", instance: "provisioner-0"},
		{service: "node-agent", scope: "agent", version: "1", instance: "agent-0"},
	}
	run := time.Now().Unix() // a store that is measured again has the allocations of earlier runs
	for i := range allocations {
		b, id := newBatch(), fmt.Sprintf("large-%d-%x-%03d", records, run, i)
		start := time.Now().Add(-2*time.Hour + time.Duration(i)*time.Minute).UnixNano()
		for n := range records {
			at := start + int64(n)*int64(time.Hour)/int64(records)
			lr := b.log(sources[n%len(sources)], at)
			a := lr.Attributes()
			a.PutStr("allocation_id", id)
			a.PutStr("request_id", fmt.Sprintf("%s-%d", id, n/4))
			if to := map[int]string{0: "requested", records / 2: "provisioning", records - 1: "active"}[n]; to != "" {
				lr.SetEventName("allocation.state")
				a.PutStr("to", to)
				continue
			}
			lr.Body().SetStr(fmt.Sprintf("handled step %d of %s in %d ms", n, id, n%97))
		}
		if err := w.WriteLogs(ctx, b.Logs); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}
