package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

// Emitter takes records from Sources and sends them off. Make one with Open, end it with Close.
type Emitter struct {
	config Config
	log    *slog.Logger
	now    func() time.Time
	file   *fileSink
	post   *postSink

	mu     sync.RWMutex // held for reading while a record is queued, so that Close may close the queue
	closed bool
	queue  chan Record
	done   chan struct{}

	taken, dropped atomic.Uint64
	full           seldom // the warning that the queue is full
}

// Stats count records since the start.
type Stats struct {
	Taken   uint64 // accepted into the queue
	Dropped uint64 // refused or given up, for whatever reason
}

// Open starts an emitter. log gets what goes wrong with the telemetry itself.
func Open(c Config, log *slog.Logger) (*Emitter, error) {
	e := &Emitter{config: c, log: log, now: time.Now, queue: make(chan Record, c.Queue), done: make(chan struct{})}
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
func (e *Emitter) Stats() Stats { return Stats{e.taken.Load(), e.dropped.Load()} }

// Waiting is the number of records in the queue.
func (e *Emitter) Waiting() int { return len(e.queue) }

func (e *Emitter) take(r Record) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closed {
		e.dropped.Add(1)
		return
	}
	select {
	case e.queue <- r:
		e.taken.Add(1)
	default:
		e.dropped.Add(1)
		if e.full.may(e.now()) {
			e.log.Warn("telemetry queue is full, records are dropped", "queue", e.config.Queue)
		}
	}
}

// run collects batches until the queue is closed and empty.
func (e *Emitter) run() {
	defer close(e.done)
	tick := time.NewTicker(e.config.Flush)
	defer tick.Stop()
	pending := make([]Record, 0, e.config.Batch)
	flush := func() {
		if len(pending) > 0 {
			e.send(encode(pending))
			pending = pending[:0]
		}
	}
	for {
		select {
		case r, ok := <-e.queue:
			if !ok {
				flush()
				return
			}
			if pending = append(pending, r); len(pending) == e.config.Batch {
				flush()
			}
		case <-tick.C:
			flush()
		}
	}
}

func (e *Emitter) send(b batch) {
	if e.file != nil {
		_ = e.file.write(b) // logged; nobody waits for it
	}
	if e.post != nil {
		e.post.offer(b)
	}
}

// Close takes no more records and sends what waits, for as long as ctx allows; what is left then is
// dropped and counted.
func (e *Emitter) Close(ctx context.Context) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	close(e.queue)
	e.mu.Unlock()
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
