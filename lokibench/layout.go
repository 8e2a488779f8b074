package lokibench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/faultline-io/faultline/collector/lokiexporter"
	"github.com/faultline-io/faultline/internal/lokitest"
)

// layout is a way to keep the same lines in Loki.
type layout struct {
	name, tenant string
	block        string        // chunk_block_size; empty: Loki's default, 256 KiB
	age          time.Duration // of lines in one chunk, as max_chunk_age has it where lines come as they are written; 0: they come at once
	buckets      int           // values of a label, each an allocation's by its hash; 0: no such label
}

func layouts() []layout {
	return []layout{
		{name: "sent at once: chunks of days", tenant: "once"},
		{name: "sent at once, chunk_block_size 16 KiB", tenant: "blocks", block: "16384"},
		{name: "max_chunk_age 2 h (Loki's default)", tenant: "age-2h", age: 2 * time.Hour},
		{name: "max_chunk_age 30 min", tenant: "age-30m", age: 30 * time.Minute},
		{name: "max_chunk_age 2 h, a label of 16 buckets", tenant: "buckets", age: 2 * time.Hour, buckets: 16},
	}
}

// bucket of an allocation.
func (y layout) bucket(allocation int32) string { return fmt.Sprint(int(allocation) % y.buckets) }

// fill sends the lines as they were written, oldest first, and has Loki write its chunks when they are as old as they get.
func (y layout) fill(ctx context.Context, loki *lokitest.Server, lines []line, batch int) error {
	way := contenders()[0]
	if plain := way.config; y.buckets > 0 {
		way.config = func(endpoint, tenant string) component.Config {
			c := plain(endpoint, tenant).(*lokiexporter.Config)
			c.Labels = append(c.Labels, lokiexporter.Label{Name: "bucket", From: []string{bucketAttribute}})
			return c
		}
	}
	e, err := way.start(ctx, loki.URL, y.tenant)
	if err != nil {
		return err
	}
	defer func() { _ = e.Shutdown(ctx) }()
	for len(lines) > 0 {
		n := len(lines)
		if y.age > 0 {
			begun := lines[0].at
			if i := slices.IndexFunc(lines, func(l line) bool { return l.at >= begun+int64(y.age) }); i >= 0 {
				n = i
			}
		}
		for part := range slices.Chunk(lines[:n], batch) {
			if err := e.ConsumeLogs(ctx, logs(part, y)); err != nil {
				return err
			}
		}
		if err := loki.WriteChunks(ctx); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}
