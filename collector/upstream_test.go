package collector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/faultline-io/faultline/collector/clickhouseexporter"
	"github.com/faultline-io/faultline/collector/queuestorage"
)

// setup is a queue on disk and the retries above it: the Collector's own parts, as somebody configures them.
type setup struct {
	storage extension.Factory
	config  func(dir string) component.Config
	queue   exporterhelper.QueueBatchConfig
	retry   configretry.BackOffConfig
}

// upstream is what file_storage, sending_queue and retry_on_failure are by default.
func upstream() setup {
	return setup{
		storage: filestorage.NewFactory(),
		config: func(dir string) component.Config {
			c := filestorage.NewFactory().CreateDefaultConfig().(*filestorage.Config)
			c.Directory, c.Compaction.Directory = dir, dir
			return c
		},
		queue: exporterhelper.NewDefaultQueueConfig(),
		retry: configretry.NewDefaultBackOffConfig(),
	}
}

// ours is what the shipped configurations use.
func ours() setup {
	c := clickhouseexporter.NewFactory().CreateDefaultConfig().(*clickhouseexporter.Config)
	q := *c.Queue.Get()
	q.Batch.Get().FlushTimeout = 5 * time.Millisecond
	return setup{
		storage: queuestorage.NewFactory(),
		config: func(dir string) component.Config {
			c := queuestorage.NewFactory().CreateDefaultConfig().(*queuestorage.Config)
			c.Directory, c.Compaction.Directory, c.MinFreeMiB = dir, dir, 1
			return c
		},
		queue: q, retry: c.Retry,
	}
}

func (s setup) without(change func(*setup)) setup { change(&s); return s }

// retryLimit stands for upstream's five minutes after which a record is given up.
const retryLimit = 300 * time.Millisecond

// Three faults of the Collector's queue on disk that are open upstream, each as it is met there and as it is with our
// configuration. The version in go.mod has them: a row that says "lost" fails here when it no longer does.
//
//   - opentelemetry-collector#15677: stopped while the store is away, an exporter without retries deletes its queue.
//   - opentelemetry-collector#15324: the first hours of a long outage go missing, because retries end.
//   - opentelemetry-collector-contrib#50102: a backlog is gone after a restart with fsync off. The restart alone loses
//     nothing, synced or not, unless there are no retries (#15677 again); a loss of power does (TestLossOfPower).
func TestUpstreamFaults(t *testing.T) {
	noRetries := func(s *setup) { s.retry.Enabled = false }
	limited := func(s *setup) { s.retry.MaxElapsedTime = retryLimit }
	synced := func(on bool) func(*setup) {
		return func(s *setup) {
			s.config = func(dir string) component.Config {
				c := upstream().config(dir).(*filestorage.Config)
				c.FSync = on
				return c
			}
		}
	}
	cases := []struct {
		name  string
		with  setup
		stays bool // the store is away for longer than retryLimit; else the Collector is stopped at once
		lost  bool
	}{
		{name: "15677 as reported, no retries", with: upstream().without(noRetries), lost: true},
		{name: "15677 with upstream's retries", with: upstream()},
		{name: "15677 ours", with: ours()},
		{name: "15324 as reported, retries that end", with: upstream().without(limited), stays: true, lost: true},
		{name: "15324 our storage does not help where retries end", with: ours().without(limited), stays: true, lost: true},
		{name: "15324 ours", with: ours(), stays: true},
		{name: "50102 as reported, a restart without sync", with: upstream().without(synced(false)).without(noRetries), lost: true},
		{name: "50102 the same when synced", with: upstream().without(synced(true)).without(noRetries), lost: true},
		{name: "50102 a restart without sync, with retries", with: upstream().without(synced(false))},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const records = 60
			o := outage{t: t, setup: c.with, dir: t.TempDir(), delivered: map[string]bool{}, patient: !c.stays}
			o.setup.retry.InitialInterval, o.setup.retry.MaxInterval = 5*time.Millisecond, 20*time.Millisecond
			o.away.Store(true)
			stop := o.start()
			o.offer("first", records)
			o.until("the store is asked", func() bool { return o.asked.Load() > 0 })
			switch {
			case c.stays && c.lost:
				o.until("something is given up", func() bool { return o.dropped() > 0 })
			case c.stays:
				time.Sleep(4 * retryLimit)
			}
			if c.stays {
				o.offer("later", records)
				o.away.Store(false)
				o.until("all are delivered or given up", func() bool { return len(o.arrived())+o.dropped() == 2*records })
			}
			stop()
			o.away.Store(false)
			stop = o.start()
			o.offer("last", 1)
			o.until("the last is delivered", func() bool { return slices.Contains(o.arrived(), "last 0") })
			want := records + 1
			if c.stays {
				want += records
			}
			if !c.lost {
				o.until("every record is delivered", func() bool { return len(o.arrived()) == want })
			}
			stop()
			arrived, dropped := o.arrived(), o.dropped()
			all := len(arrived)
			t.Logf("%d of %d records delivered; the Collector says that it dropped %d", all, want, dropped)
			if c.lost {
				first := slices.DeleteFunc(arrived, func(body string) bool { return !strings.HasPrefix(body, "first ") })
				if len(first) == records || all+dropped != want {
					t.Errorf("the fault does not show: %d delivered, %d of the first, %d given up", all, len(first), dropped)
				}
			}
		})
	}
}

// outage is a Collector's exporter whose store is away or not, started and stopped over one folder.
type outage struct {
	t     *testing.T
	setup setup
	dir   string
	away  atomic.Bool
	asked atomic.Int64
	logs  []*observer.ObservedLogs

	patient  bool
	stopping chan struct{}

	exporter interface {
		ConsumeLogs(context.Context, plog.Logs) error
	}
	mu        sync.Mutex
	delivered map[string]bool
}

type storageHost struct {
	component.Host
	id component.ID
	is component.Component
}

func (h storageHost) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{h.id: h.is}
}

func (o *outage) start() (stop func()) {
	o.t.Helper()
	must := func(err error) {
		if err != nil {
			o.t.Fatal(err)
		}
	}
	ctx := context.Background()
	disk, err := o.setup.storage.Create(ctx, extensiontest.NewNopSettings(o.setup.storage.Type()), o.setup.config(o.dir))
	must(err)
	must(disk.Start(ctx, componenttest.NewNopHost()))
	if _, ok := disk.(storage.Extension); !ok {
		o.t.Fatalf("%T is no storage", disk)
	}
	id := component.NewID(o.setup.storage.Type())
	q := o.setup.queue
	q.StorageID = &id
	set := exportertest.NewNopSettings(clickhouseexporter.Type)
	set.ID = component.NewID(clickhouseexporter.Type) // its queue's file is named after it
	core, seen := observer.New(zap.ErrorLevel)
	set.Logger, o.logs = zap.New(core), append(o.logs, seen)
	o.stopping = make(chan struct{})
	e, err := exporterhelper.NewLogs(ctx, set, &struct{}{}, o.store, exporterhelper.WithQueue(configoptional.Some(q)), exporterhelper.WithRetry(o.setup.retry))
	must(err)
	must(e.Start(ctx, storageHost{componenttest.NewNopHost(), id, disk}))
	o.exporter = e
	return func() {
		close(o.stopping)
		must(errors.Join(e.Shutdown(ctx), disk.Shutdown(ctx)))
	}
}

// store takes records, or says that it is away: at once, or as an exporter does that tries by itself until it is stopped.
func (o *outage) store(_ context.Context, ld plog.Logs) error {
	stopping := o.stopping
	o.asked.Add(1)
	if o.away.Load() {
		if o.patient {
			<-stopping
		}
		return errors.New("the store is away")
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, rl := range ld.ResourceLogs().All() {
		o.delivered[rl.ScopeLogs().At(0).LogRecords().At(0).Body().Str()] = true
	}
	return nil
}

// offer hands on records, each by itself; all are acknowledged.
func (o *outage) offer(what string, n int) {
	o.t.Helper()
	for i := range n {
		ld := plog.NewLogs()
		ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr(fmt.Sprint(what, " ", i))
		if err := o.exporter.ConsumeLogs(context.Background(), ld); err != nil {
			o.t.Fatal(err)
		}
	}
}

func (o *outage) arrived() (out []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for body := range o.delivered {
		out = append(out, body)
	}
	return out
}

// dropped is how many records the Collector says that it dropped; stopped, it says so of what it keeps, too.
func (o *outage) dropped() (n int) {
	for _, l := range o.logs {
		for _, e := range l.All() {
			if items, ok := e.ContextMap()["dropped_items"].(int64); ok && strings.Contains(e.Message, "Dropping data") {
				n += int(items)
			}
		}
	}
	return n
}

func (o *outage) until(what string, is func() bool) {
	o.t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			o.t.Fatalf("not until now: %s: %d delivered, %d given up", what, len(o.arrived()), o.dropped())
		}
	}
}
