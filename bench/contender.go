package main

import (
	"context"
	"runtime"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/attributesprocessor"
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/transformprocessor"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/faultline-io/faultline/processors/identityprocessor"
)

// Names of the contenders.
const (
	attributes    = "attributes, 3 constants"
	transform     = "transform, 3 statements"
	transformBody = "transform, 1 body regexp"
	stampsThree   = "identity, 1 carried, 3 stamped"
	stampsOne     = "identity, 3 carried, 1 stamped"
	withoutLine   = "identity, the same without lines"
	onResource    = "identity, 3 on the resource"
	openstack     = "identity, openstack patterns"
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
	for _, ld := range c.batches { // what is measured is what is known
		if err := c.next.ConsumeLogs(ctx, clone(ld)); err != nil {
			return err
		}
	}
	return nil
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

func cost(length time.Duration, run func(int)) figure {
	run(0)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun, n := time.Now(), 0
	for time.Since(begun) < length {
		run(n)
		n++
	}
	took := time.Since(begun)
	runtime.ReadMemStats(&after)
	return figure{float64(took.Nanoseconds()) / float64(n), float64(after.Mallocs-before.Mallocs) / float64(n), float64(after.TotalAlloc-before.TotalAlloc) / float64(n)}
}

func cases() []*contender {
	statements := func(list ...any) map[string]any {
		return map[string]any{"error_mode": "ignore", "log_statements": []any{map[string]any{"context": "log", "statements": list}}}
	}
	insert := func(key, value string) any {
		return map[string]any{"key": key, "value": value, "action": "insert"}
	}
	attrs, trans, ident := attributesprocessor.NewFactory(), transformprocessor.NewFactory(), identityprocessor.NewFactory()
	return []*contender{
		{name: attributes, factory: attrs, data: carriesOne, config: map[string]any{"actions": []any{
			insert("allocation_id", "a-000001"), insert("workflow_id", "w-000001"), insert("node_id", "n-000001"),
		}}},
		{name: transform, factory: trans, data: carriesOne, config: statements(
			`set(attributes["allocation_id"], "a-000001")`, `set(attributes["workflow_id"], resource.attributes["service.namespace"])`,
			`set(attributes["node_id"], "n-000001") where attributes["http.response.status_code"] == 200`)},
		{name: transformBody, factory: trans, data: lines, config: statements(
			`merge_maps(attributes, ExtractPatterns(body, "(?P<request_id>req-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"), "insert")`)},
		{name: stampsThree, factory: ident, learn: facts, data: carriesOne},
		{name: stampsOne, factory: ident, learn: facts, data: carriesThree},
		{name: withoutLine, factory: ident, learn: facts, data: without(carriesThree)},
		{name: onResource, factory: ident, learn: facts, data: carriesNone},
		{name: openstack, factory: ident, data: lines, config: map[string]any{"profile": "openstack"}},
	}
}
