package queuestorage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.uber.org/zap"
	"google.golang.org/protobuf/encoding/protowire"
)

// disk is a storage in memory that can be full, and that ends its process at a chosen write.
type disk struct {
	mu     sync.Mutex
	values map[string][]byte
	full   bool
	writes int // until the process is dead; negative: never
}

var errFull = errors.New("no space left on device")

func (d *disk) set(change func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change()
}

func (d *disk) Get(_ context.Context, key string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.values[key], nil
}

func (d *disk) Set(ctx context.Context, key string, value []byte) error {
	return d.Batch(ctx, storage.SetOperation(key, value))
}

func (d *disk) Delete(ctx context.Context, key string) error {
	return d.Batch(ctx, storage.DeleteOperation(key))
}

func (d *disk) Walk(ctx context.Context, fn storage.WalkFunc) error {
	var all []*storage.Operation
	for key, value := range d.values {
		ops, err := fn(key, value)
		if err != nil {
			return err
		}
		all = append(all, ops...)
	}
	return d.Batch(ctx, all...)
}

func (d *disk) Close(context.Context) error { return nil }

func (d *disk) Batch(_ context.Context, ops ...*storage.Operation) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.ContainsFunc(ops, func(o *storage.Operation) bool { return o.Type != storage.Get }) {
		if d.full || d.writes == 0 {
			return errFull
		}
		d.writes--
	}
	for _, o := range ops {
		switch o.Type {
		case storage.Get:
			o.Value = slices.Clone(d.values[o.Key])
		case storage.Set:
			d.values[o.Key] = slices.Clone(o.Value)
		case storage.Delete:
			delete(d.values, o.Key)
		}
	}
	return nil
}

// host has one storage extension.
type host struct {
	component.Component
	id     component.ID
	client storage.Client
}

func (h host) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{h.id: h}
}

func (h host) GetClient(context.Context, component.Kind, component.ID, string) (storage.Client, error) {
	return h.client, nil
}

// run is an exporter with a queue on the disk.
type run struct {
	exporter exporter.Logs
	tried    chan struct{} // something was handed out
	sent     chan string   // bodies that were delivered
}

func start(t *testing.T, d *disk, answer func(body string) error) *run {
	t.Helper()
	id := component.NewID(Type)
	q := exporterhelper.NewDefaultQueueConfig()
	q.StorageID = &id
	q.Batch.GetOrInsertDefault().FlushTimeout = time.Millisecond
	again := configretry.NewDefaultBackOffConfig() // as shipped, only faster
	again.InitialInterval, again.MaxInterval, again.MaxElapsedTime = time.Millisecond, 5*time.Millisecond, 0
	r := &run{tried: make(chan struct{}, 1), sent: make(chan string, 1000)}
	set := exportertest.NewNopSettings(component.MustNewType("some"))
	e, err := exporterhelper.NewLogs(t.Context(), set, &struct{}{}, func(_ context.Context, ld plog.Logs) error {
		select {
		case r.tried <- struct{}{}:
		default:
		}
		for _, rl := range ld.ResourceLogs().All() {
			body := rl.ScopeLogs().At(0).LogRecords().At(0).Body().Str()
			if err := answer(body); err != nil {
				return err
			}
			r.sent <- body
		}
		return nil
	}, exporterhelper.WithQueue(configoptional.Some(q)), exporterhelper.WithRetry(again))
	if err != nil {
		t.Fatal(err)
	}
	c := &client{Client: d, room: room{dir: t.TempDir(), least: 1}, log: zap.NewNop()}
	if err := e.Start(t.Context(), host{id: id, client: c}); err != nil {
		t.Fatal(err)
	}
	r.exporter = e
	return r
}

func (r *run) offer(t *testing.T, body string) error {
	t.Helper()
	ld := plog.NewLogs()
	ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr(body)
	return r.exporter.ConsumeLogs(t.Context(), ld)
}

func (r *run) until(t *testing.T, want ...string) {
	t.Helper()
	open := map[string]bool{}
	for _, w := range want {
		open[w] = true
	}
	for len(open) > 0 {
		select {
		case body := <-r.sent:
			delete(open, body)
		case <-time.After(10 * time.Second):
			t.Fatalf("never delivered: %v", open)
		}
	}
}

// leaveBehind ends a process with n records acknowledged, some of them under way to a store that is away.
func leaveBehind(t *testing.T, d *disk, n int) {
	t.Helper()
	r := start(t, d, func(string) error { return errAway })
	for _, b := range bodies(n) {
		if err := r.offer(t, b); err != nil {
			t.Fatal(err)
		}
	}
	<-r.tried
	if err := r.exporter.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func bodies(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprint("b", i))
	}
	return out
}

var errAway = errors.New("the store is away")

// What was acknowledged is delivered though the disk is full by the time it is handed out.
func TestHandedOutFromAFullDisk(t *testing.T) {
	d := &disk{values: map[string][]byte{}, writes: -1}
	leaveBehind(t, d, 40)
	d.set(func() { d.full = true })
	second := start(t, d, func(string) error { return nil })
	second.until(t, bodies(40)...)
	if err := second.offer(t, "late"); !errors.Is(err, errFull) {
		t.Errorf("taken without room: %v", err)
	}
	d.set(func() { d.full = false })
	if err := second.offer(t, "later"); err != nil {
		t.Error(err)
	}
	second.until(t, "later")
	if err := second.exporter.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(d.values) != 1 {
		t.Errorf("%d values are left, want the queue's metadata alone", len(d.values))
	}
}

// A process that ends at any write of its start, with items under way before, loses none of them.
func TestEndedAtAnyWriteOfTheStart(t *testing.T) {
	for writes := range 12 {
		d := &disk{values: map[string][]byte{}, writes: -1}
		leaveBehind(t, d, 20)
		d.writes = writes
		second := start(t, d, func(string) error { return errAway })
		if err := second.exporter.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.writes = -1
		third := start(t, d, func(string) error { return nil })
		third.until(t, bodies(20)...)
		if err := third.exporter.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Processes that end at any of their writes, one after the other, with the store away or back and the disk full or not:
// what was acknowledged is delivered in the end.
func TestEndedAgainAndAgain(t *testing.T) {
	for seed := range uint64(60) {
		dice := rand.New(rand.NewPCG(seed, 1))
		d := &disk{values: map[string][]byte{}, writes: -1}
		acked := map[string]bool{}
		var mu sync.Mutex
		delivered := map[string]bool{}
		for life := range 6 {
			away := dice.IntN(3) == 0
			d.set(func() { d.full, d.writes = false, -1 })
			r := start(t, d, func(body string) error {
				if away {
					return errAway
				}
				mu.Lock()
				delivered[body] = true
				mu.Unlock()
				return nil
			})
			end := dice.IntN(60)
			for n := range 30 {
				switch dice.IntN(12) {
				case 0:
					d.set(func() { d.full = !d.full })
				case 1:
					time.Sleep(time.Duration(dice.IntN(3)) * time.Millisecond)
				}
				if n == end {
					d.set(func() { d.writes = 0 })
				}
				body := fmt.Sprintf("life %d record %d", life, n)
				if r.offer(t, body) == nil {
					acked[body] = true
				}
			}
			d.set(func() { d.full = false })
			if dice.IntN(2) == 0 {
				d.set(func() { d.writes = 0 })
			}
			if err := r.exporter.Shutdown(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		d.set(func() { d.full, d.writes = false, -1 })
		last := start(t, d, func(body string) error {
			mu.Lock()
			delivered[body] = true
			mu.Unlock()
			return nil
		})
		if err := last.offer(t, "last"); err != nil {
			t.Fatal(err)
		}
		last.until(t, "last")
		if err := last.exporter.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		for body := range acked {
			if !delivered[body] {
				t.Fatalf("seed %d: %q was acknowledged and never delivered", seed, body)
			}
		}
		if len(d.values) != 1 {
			t.Errorf("seed %d: %d values are left", seed, len(d.values))
		}
	}
}

// The queue of this version keeps its state as resume reads it.
func TestTheQueueKeepsItsFormat(t *testing.T) {
	d := &disk{values: map[string][]byte{}, writes: -1}
	leaveBehind(t, d, 5)
	resumed, first := resume(d.values[metadataKey])
	before, after := fields(t, d.values[metadataKey]), fields(t, resumed)
	if len(before[fieldDispatched]) == 0 {
		t.Fatalf("nothing was under way: %v", before)
	}
	if read := after[fieldReadIndex]; len(after[fieldDispatched]) != 0 || len(read) != 1 || read[0] != slices.Min(before[fieldDispatched]) || read[0] != first {
		t.Errorf("%v became %v", before, after)
	}
	for _, odd := range [][]byte{nil, {0xff}, {0x19, 1}} {
		if got, first := resume(odd); string(got) != string(odd) || first != 0 {
			t.Errorf("%x became %x", odd, got)
		}
	}
}

// fields reads a message of fixed64.
func fields(t *testing.T, message []byte) map[protowire.Number][]uint64 {
	t.Helper()
	out := map[protowire.Number][]uint64{}
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		message = message[n:]
		var packed []byte
		if kind == protowire.BytesType {
			packed, n = protowire.ConsumeBytes(message)
		} else {
			packed, n = message[:8], 8
		}
		for ; len(packed) > 0; packed = packed[8:] {
			v, _ := protowire.ConsumeFixed64(packed)
			out[number] = append(out[number], v)
		}
		message = message[n:]
	}
	return out
}

// What a full disk kept a process from deleting is gone after the next start.
func TestSwept(t *testing.T) {
	d := &disk{values: map[string][]byte{}, writes: -1}
	first := start(t, d, func(string) error { return nil })
	for _, b := range bodies(5) {
		if err := first.offer(t, b); err != nil {
			t.Fatal(err)
		}
	}
	first.until(t, bodies(5)...)
	if err := first.exporter.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.values["2"] = []byte("delivered and never deleted")
	second := start(t, d, func(string) error { return nil })
	if err := second.exporter.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(d.values) != 1 {
		t.Errorf("%d values are left, want the queue's metadata alone", len(d.values))
	}
}

func TestFactory(t *testing.T) {
	cfg := createDefaultConfig().(*Config)
	cfg.Directory = t.TempDir()
	if err := cfg.Validate(); err != nil || !cfg.FSync || cfg.Compaction.Directory != cfg.Directory {
		t.Fatalf("%+v, %v", cfg, err)
	}
	e, err := NewFactory().Create(t.Context(), extensiontest.NewNopSettings(Type), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	c, err := e.(storage.Extension).GetClient(t.Context(), component.KindExporter, component.MustNewID("some"), "logs")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Set(t.Context(), "k", []byte("v")); err != nil {
		t.Fatal(err)
	}
	if v, err := c.Get(t.Context(), "k"); err != nil || string(v) != "v" {
		t.Errorf("%s, %v", v, err)
	}
	if err := errors.Join(c.Close(t.Context()), e.Shutdown(t.Context())); err != nil {
		t.Error(err)
	}
	cfg.MinFreeMiB = 0
	if err := cfg.Validate(); err == nil {
		t.Error("min_free_mib: 0 was accepted")
	}
}

func TestRoom(t *testing.T) {
	if err := (room{dir: t.TempDir(), least: 1 << 62}).check(); !errors.Is(err, storage.ErrStorageFull) {
		t.Errorf("%v", err)
	}
	if err := (room{dir: "/no/such/folder", least: 1 << 62}).check(); err != nil {
		t.Errorf("%v", err)
	}
}
