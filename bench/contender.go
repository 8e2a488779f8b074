package main

import (
	"context"
	"runtime"
	"syscall"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"
)

// contender is a processor with its data.
type contender struct {
	name    string
	factory processor.Factory
	config  map[string]any
	learn   func() []plog.Logs // what it sees first
	data    func() []plog.Logs // what it is measured on, batch after batch

	next    processor.Logs
	batches []plog.Logs
	best    figure // of one batch
	copied  figure // the copy alone
}

// figure is a cost; of a batch or of a record.
type figure struct{ ns, allocs, bytes float64 }

func (f figure) or(best figure) figure {
	if best.ns == 0 || f.ns < best.ns {
		return f
	}
	return best
}

func (c *contender) open() error {
	cfg := c.factory.CreateDefaultConfig()
	if err := confmap.NewFromStringMap(c.config).Unmarshal(cfg); err != nil {
		return err
	}
	var err error
	ctx := context.Background()
	if c.next, err = c.factory.CreateLogs(ctx, processortest.NewNopSettings(c.factory.Type()), cfg, consumertest.NewNop()); err != nil {
		return err
	}
	if err = c.next.Start(ctx, componenttest.NewNopHost()); err != nil {
		return err
	}
	if c.learn != nil {
		for _, ld := range c.learn() {
			if err := c.next.ConsumeLogs(ctx, ld); err != nil {
				return err
			}
		}
	}
	c.batches = c.data()
	for range 5 { // what is measured is what is known, and was asked before
		for _, ld := range c.batches {
			if err := c.next.ConsumeLogs(ctx, clone(ld)); err != nil {
				return err
			}
		}
	}
	return nil
}

// close ends it and gives its data back.
func (c *contender) close() error {
	c.batches = nil
	return c.next.Shutdown(context.Background())
}

// measure takes the copy and the processor in turn.
func (c *contender) measure(length time.Duration) error {
	var failed error
	copied := cost(length, func(i int) { clone(c.batches[i%len(c.batches)]) })
	whole := cost(length, func(i int) {
		if err := c.next.ConsumeLogs(context.Background(), clone(c.batches[i%len(c.batches)])); err != nil {
			failed = err
		}
	})
	c.copied, c.best = copied.or(c.copied), whole.or(c.best)
	return failed
}

// net is the cost of a record without the copy.
func (c *contender) net() figure {
	n := float64(records)
	return figure{(c.best.ns - c.copied.ns) / n, (c.best.allocs - c.copied.allocs) / n, (c.best.bytes - c.copied.bytes) / n}
}

func clone(ld plog.Logs) plog.Logs {
	out := plog.NewLogs()
	ld.CopyTo(out)
	return out
}

// cpu is what this process has used of processors, its garbage collector included: what others do on the
// machine does not count, as it would on a clock.
func cpu() time.Duration {
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

func cost(length time.Duration, run func(int)) figure {
	run(0)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun, n := cpu(), 0
	for cpu()-begun < length {
		run(n)
		n++
	}
	took := cpu() - begun
	runtime.ReadMemStats(&after)
	return figure{float64(took.Nanoseconds()) / float64(n), float64(after.Mallocs-before.Mallocs) / float64(n), float64(after.TotalAlloc-before.TotalAlloc) / float64(n)}
}
