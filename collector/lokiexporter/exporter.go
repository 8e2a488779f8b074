package lokiexporter

import (
	"context"
	"fmt"
	"sync/atomic"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"
)

// lokiExporter turns OTLP into pushes and sees each through.
type lokiExporter struct {
	cfg     *Config
	set     exporter.Settings
	log     *zap.Logger
	metrics *metrics
	client  *client
	batches chan *batch  // whose buffers are used again
	taken   atomic.Int64 // pushes that Loki took whole
	poison  *suspects
	turns   *turns
	doubts  *doubts
	reader  reader
}

func newExporter(cfg *Config, set exporter.Settings) (*lokiExporter, error) {
	m, err := newMetrics(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	return &lokiExporter{cfg: cfg, set: set, log: set.Logger, metrics: m, poison: newSuspects(), turns: newTurns(),
		batches: make(chan *batch, keptBatches)}, nil
}

// start never waits for Loki and does not fail because it is down.
func (e *lokiExporter) start(ctx context.Context, host component.Host) (err error) {
	agent := fmt.Sprintf("%s/%s", e.set.BuildInfo.Command, e.set.BuildInfo.Version)
	if e.client, err = newClient(ctx, e.cfg, host, e.set.TelemetrySettings, agent); err != nil {
		return err
	}
	if e.cfg.AskWhenInDoubt {
		e.reader.query = queryURL(e.client.url)
	}
	var queue *component.ID
	if e.cfg.Queue.HasValue() {
		queue = e.cfg.Queue.Get().StorageID
	}
	e.doubts, err = openDoubts(ctx, host, queue, e.set.ID)
	return err
}

func (e *lokiExporter) shutdown(ctx context.Context) error {
	if e.client != nil {
		e.client.http.CloseIdleConnections()
	}
	if e.doubts != nil {
		return e.doubts.close(ctx)
	}
	return nil
}

// throttledAtMost is how many pushes may be throttled before the rest of a batch waits, too: one may be a stream that is over
// a rate of its own, the next one says that it is the tenant.
const throttledAtMost = 2

// consume sends all records. Its error carries those that are to be sent again.
func (e *lokiExporter) consume(ctx context.Context, ld plog.Logs) error {
	b := e.batch()
	defer e.giveBack(b)
	b.add(ld)
	if err := e.doubts.begin(ctx, b); err != nil {
		e.log.Warn("after a kill some lines may be in loki twice", zap.Error(err))
	}
	defer e.doubts.end(b)
	d := &delivery{exporter: e, batch: b, done: make([]bool, b.records)}
	var first error
	failures := 0
	for _, p := range b.pushes() {
		err := d.deliver(ctx, p)
		if err == nil {
			continue
		}
		if failures++; first == nil {
			first = err
		}
		if !isThrottled(err) || failures == throttledAtMost {
			break
		}
	}
	if first == nil {
		e.metrics.cut(ctx, b.clipped)
		return nil
	}
	if d.delivered == 0 {
		return first
	}
	return consumererror.NewLogs(first, rest(ld, d.done))
}

// keptBatches is how many are kept: a consumer of the queue has one at a time.
const keptBatches = 4

// batch is an empty one.
func (e *lokiExporter) batch() *batch {
	select {
	case b := <-e.batches:
		b.reset()
		return b
	default:
		return newBatch(e.cfg)
	}
}

func (e *lokiExporter) giveBack(b *batch) {
	select {
	case e.batches <- b:
	default:
	}
}

// rest is what is not done yet.
func rest(ld plog.Logs, done []bool) plog.Logs {
	out := plog.NewLogs()
	ld.CopyTo(out)
	i := -1
	out.ResourceLogs().RemoveIf(func(rl plog.ResourceLogs) bool {
		rl.ScopeLogs().RemoveIf(func(sl plog.ScopeLogs) bool {
			sl.LogRecords().RemoveIf(func(plog.LogRecord) bool { i++; return done[i] })
			return sl.LogRecords().Len() == 0
		})
		return rl.ScopeLogs().Len() == 0
	})
	return out
}

// delivery is one batch on its way.
type delivery struct {
	exporter  *lokiExporter
	batch     *batch
	done      []bool // by record: Loki has it, or will never take it
	delivered int
}

func (d *delivery) finish(p push) {
	for _, one := range p {
		for _, e := range one.entries {
			d.done[e.record] = true
			d.delivered++
		}
	}
}
