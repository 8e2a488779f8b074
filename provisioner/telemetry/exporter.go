package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Exporter takes records from Emitters and sends them off. Make one with Open, end it with Close.
type Exporter struct {
	config Config
	log    *slog.Logger
	now    func() time.Time
	file   *fileSink
	post   *postSink

	mu      sync.Mutex // guards pending and closed
	pending []Record
	closed  bool
	wake    chan struct{} // a batch is full, or no more are taken
	done    chan struct{}

	taken, dropped atomic.Uint64
	full           rateLimiter // the warning that the queue is full
}

// Stats count records since the start.
type Stats struct {
	Taken   uint64 // accepted into the queue
	Dropped uint64 // refused or given up, for whatever reason
}

// Open starts an exporter. log gets what goes wrong with the telemetry itself.
func Open(c Config, log *slog.Logger) (*Exporter, error) {
	e := &Exporter{config: c, log: log, now: time.Now, wake: make(chan struct{}, 1), done: make(chan struct{})}
	if c.File != "" {
		f, err := openFile(c.File, log)
		if err != nil {
			return nil, fmt.Errorf("open telemetry file: %w", err)
		}
		e.file = f
	}
	if c.Endpoint != "" {
		e.post = newPostSink(c, log, &e.dropped)
	}
	go e.run()
	return e, nil
}

// Stats may be read at any time.
func (e *Exporter) Stats() Stats { return Stats{e.taken.Load(), e.dropped.Load()} }

// Waiting is the number of records in the queue.
func (e *Exporter) Waiting() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.pending)
}

// take queues a record. It wakes the sender for whole batches only: the sender looks by itself before long.
func (e *Exporter) take(r Record) {
	e.mu.Lock()
	closed, full := e.closed, len(e.pending) >= e.config.Queue
	if !closed && !full {
		e.pending = append(e.pending, r)
	}
	n := len(e.pending)
	e.mu.Unlock()
	switch {
	case closed:
		e.dropped.Add(1)
	case full:
		e.dropped.Add(1)
		if e.full.allow(e.now()) {
			e.log.Warn("telemetry queue is full, records are dropped", "queue", e.config.Queue)
		}
	default:
		e.taken.Add(1)
		if n%e.config.Batch == 0 {
			e.wakeUp()
		}
	}
}

func (e *Exporter) wakeUp() {
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// run sends what is pending, in batches, until no more are taken and none is left.
func (e *Exporter) run() {
	defer close(e.done)
	tick := time.NewTicker(e.config.Flush)
	defer tick.Stop()
	for {
		select {
		case <-e.wake:
		case <-tick.C:
		}
		e.mu.Lock()
		all, closed := e.pending, e.closed
		e.pending = nil
		e.mu.Unlock()
		for batch := range slices.Chunk(all, e.config.Batch) {
			e.send(encode(batch))
		}
		if closed {
			return
		}
	}
}

func (e *Exporter) send(b batch) {
	if e.file != nil {
		_ = e.file.write(b) // logged; nobody waits for it
	}
	if e.post != nil {
		e.post.offer(b)
	}
}

// Close takes no more records and sends what waits, for as long as ctx allows; what is left then is
// dropped and counted.
func (e *Exporter) Close(ctx context.Context) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.mu.Unlock()
	e.wakeUp()
	<-e.done
	if e.post != nil {
		e.post.close(ctx)
	}
	if e.file != nil {
		if err := e.file.close(); err != nil {
			return fmt.Errorf("close telemetry file: %w", err)
		}
	}
	if n := e.dropped.Load(); n > 0 {
		e.log.Warn("telemetry records were dropped", "records", n)
	}
	return nil
}
