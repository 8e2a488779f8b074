package identityprocessor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/processors/identityprocessor/linkstore"
)

// identityProcessor is what all pipelines of one configured processor share. It is safe for concurrent
// use.
type identityProcessor struct {
	profile   *profile.Profile
	index     *identity.Index
	names     *names
	telemetry *telemetry
	links     *linkstore.Follower // nil where nothing is shared
	now       func() time.Time

	cancel context.CancelFunc
	done   sync.WaitGroup
}

func newProcessor(cfg *Config, set processor.Settings) (*identityProcessor, error) {
	p, err := profile.Load(cfg.Profile)
	if err != nil {
		return nil, fmt.Errorf("profile: %w", err)
	}
	x := identity.New(cfg.options(p))
	t, err := newTelemetry(set.TelemetrySettings, x)
	if err != nil {
		return nil, err
	}
	out := &identityProcessor{profile: p, names: newNames(p), index: x, telemetry: t, now: time.Now}
	if cfg.Links.HasValue() {
		if out.links, err = linkstore.New(cfg.Links.Get(), x, set.TelemetrySettings); err != nil {
			return nil, errors.Join(fmt.Errorf("links: %w", err), t.stop())
		}
	}
	return out, nil
}

// Start waits for a warm start, within its bounds.
func (p *identityProcessor) Start(ctx context.Context, _ component.Host) error {
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.cancel = cancel
	p.done.Go(func() { p.telemetry.late.watch(run) })
	if p.links == nil {
		return nil
	}
	return p.links.Start(ctx)
}

// Shutdown waits for what Start began.
func (p *identityProcessor) Shutdown(context.Context) error {
	if p.cancel != nil {
		p.cancel()
		p.done.Wait()
	}
	if p.links == nil {
		return p.telemetry.stop()
	}
	return errors.Join(p.links.Stop(), p.telemetry.stop())
}

// logs learns from the whole batch before it resolves any of it, so that the order within a batch does
// not matter.
func (p *identityProcessor) logs(ctx context.Context, ld plog.Logs) (plog.Logs, error) {
	observed := pcommon.NewTimestampFromTime(p.now())
	t := p.telemetry.batch(observed)
	defer t.report(ctx)
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				if lr.Timestamp() == 0 && lr.ObservedTimestamp() == 0 {
					t.bad(badTimeMissing)
				}
				if lr.ObservedTimestamp() == 0 {
					lr.SetObservedTimestamp(observed)
				}
			}
		}
	}
	reader := p.read(ld.LogRecordCount(), t)
	defer reader.done()
	read := reader.logs(ld)
	p.measure(ctx, read)
	i := 0
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				p.stamp(lr.Attributes(), &read[i], t)
				p.miss(&read[i], t)
				i++
			}
		}
	}
	return ld, nil
}

func (p *identityProcessor) traces(ctx context.Context, td ptrace.Traces) (ptrace.Traces, error) {
	t := p.telemetry.batch(pcommon.NewTimestampFromTime(p.now()))
	defer t.report(ctx)
	reader := p.read(td.SpanCount(), t)
	defer reader.done()
	read := reader.spans(td)
	p.measure(ctx, read)
	i := 0
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, sp := range ss.Spans().All() {
				p.stamp(sp.Attributes(), &read[i], t)
				p.miss(&read[i], t)
				i++
			}
		}
	}
	return td, nil
}

// metrics stamps resources. Their points lie at different times: a resource is stamped where it was the
// same allocation's at the first and at the last of them.
func (p *identityProcessor) metrics(ctx context.Context, md pmetric.Metrics) (pmetric.Metrics, error) {
	t := p.telemetry.batch(pcommon.NewTimestampFromTime(p.now()))
	defer t.report(ctx)
	read := p.readResources(md)
	for i, rm := range md.ResourceMetrics().All() {
		first, last := span(rm)
		if len(read[i].keys) == 0 || last == 0 {
			continue
		}
		begin := p.index.Resolve(read[i].keys, first, first)
		if end := p.index.Resolve(read[i].keys, last, last); end.Allocation != begin.Allocation || end.NodeInstance != begin.NodeInstance {
			continue
		}
		read[i].at, read[i].observed = last, last
		p.stamp(rm.Resource().Attributes(), &read[i], t)
	}
	return md, nil
}

// measure times the look-up of one record of a batch. The batch makes it once more than it would have.
func (p *identityProcessor) measure(ctx context.Context, read []decoded) {
	if len(read) == 0 {
		return
	}
	c := &read[rand.IntN(len(read))]
	if len(c.keys) == 0 {
		return
	}
	begun := time.Now()
	p.index.ResolveFound(c.keys, c.found, c.at, c.observed)
	p.telemetry.lookup.Record(ctx, time.Since(begun).Seconds())
}

// miss shows the record that was resolved last to late, if nothing resolved it.
func (p *identityProcessor) miss(c *decoded, t *batchStats) {
	if !t.missed || t.noticed >= latePerBatch {
		return
	}
	t.noticed++
	p.telemetry.late.note(c.keys, c.at, c.observed, time.Unix(0, t.now))
}
