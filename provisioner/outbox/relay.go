// Package outbox sends what transactions left in the outbox: at least once, in order of commit for each
// allocation, with growing waits after failures, and not for ever.
package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Publisher takes messages. It may get one twice and must not mind. ctx carries the identifiers and
// the span of the work that wrote the message.
type Publisher interface {
	Publish(ctx context.Context, m store.Message) error
}

// Config is the `outbox` section.
type Config struct {
	Poll        time.Duration `yaml:"poll"`         // longest wait before the table is looked at again
	Batch       int           `yaml:"batch"`        // messages of one look
	FirstWait   time.Duration `yaml:"first_wait"`   // after a failure; doubles with each
	LongestWait time.Duration `yaml:"longest_wait"` // and ends here
	Attempts    int           `yaml:"attempts"`     // then the message is dead
	Lease       time.Duration `yaml:"lease"`        // a replica that dies holds its batch this long
	Retention   time.Duration `yaml:"retention"`    // of messages that were published; 0: for ever
}

// DefaultConfig gives up on a message after about ten minutes, and keeps those that were published for 14 days.
func DefaultConfig() Config {
	return Config{Poll: time.Second, Batch: 64, FirstWait: time.Second, LongestWait: time.Minute, Attempts: 15, Lease: 10 * time.Second,
		Retention: 14 * 24 * time.Hour}
}

// Validate names the key that is wrong.
func (c Config) Validate() error {
	if c.Poll <= 0 || c.Lease <= 0 || c.FirstWait <= 0 || c.LongestWait < c.FirstWait {
		return errors.New("outbox: poll, lease and first_wait must be positive, longest_wait not below first_wait")
	}
	if c.Retention < 0 {
		return errors.New("outbox: retention must not be negative")
	}
	if c.Batch < 1 || c.Attempts < 1 {
		return errors.New("outbox: batch and attempts must be at least 1")
	}
	return nil
}

// Relay moves messages from the outbox to a publisher.
type Relay struct {
	store     *store.Store
	publisher Publisher
	config    Config
	emitter   *telemetry.Emitter
	log       *slog.Logger
}

// New makes a relay; emitter has its spans and log records.
func New(s *store.Store, p Publisher, c Config, emitter *telemetry.Emitter, log *slog.Logger) *Relay {
	return &Relay{s, p, c, emitter, log}
}

// Run relays until ctx ends.
func (r *Relay) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		changed := r.store.Changed(store.Outbox)
		if more, err := r.round(ctx); err != nil {
			if ctx.Err() == nil {
				r.log.Error("outbox round ended early", "error", err)
			}
		} else if more {
			continue
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-time.After(r.config.Poll):
		}
	}
	return nil
}

func (r *Relay) round(ctx context.Context) (more bool, err error) {
	due, err := r.store.DueMessages(ctx, r.config.Lease, r.config.Batch)
	if err != nil {
		return false, err
	}
	if r.store.Shared() {
		return len(due) == r.config.Batch, r.together(ctx, due)
	}
	held := map[string]bool{} // allocations whose earlier message has just failed
	for _, m := range due {
		if held[m.AllocationID] {
			continue
		}
		sent, err := r.send(ctx, m)
		if err != nil {
			return false, err
		}
		held[m.AllocationID] = !sent
	}
	return len(due) == r.config.Batch, nil
}

// parallelMessages is the number of messages that are sent at a time where the database lets several write.
const parallelMessages = 4

// together sends messages of which no two are of one allocation.
func (r *Relay) together(ctx context.Context, due []store.Message) error {
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(parallelMessages)
	for _, m := range due {
		work.Go(func() error {
			_, err := r.send(ctx, m)
			return err
		})
	}
	return work.Wait()
}

// send publishes one message and writes what became of it. The error is one of writing.
func (r *Relay) send(ctx context.Context, m store.Message) (sent bool, err error) {
	ctx, span := r.emitter.Start(m.Context(ctx), "publish "+m.Subject, telemetry.Producer,
		slog.String("messaging.system", "faultline-outbox"), slog.String("messaging.destination.name", m.Subject))
	defer span.End()
	failure := r.publisher.Publish(ctx, m)
	m.Attempts++
	to := semconv.Published
	switch {
	case failure == nil:
		m.LastError = ""
	case ctx.Err() != nil:
		return false, ctx.Err()
	default:
		to = semconv.Failed
		if m.Attempts >= r.config.Attempts {
			to = semconv.Dead
		}
		m.LastError = failure.Error()
		m.NextAt = r.store.Now().Add(wait(r.config, m.Attempts))
		span.Fail(failure, "publish")
		r.emitter.Log(ctx, telemetry.Error, fmt.Sprintf("publish %s, attempt %d: %v", m.Subject, m.Attempts, failure),
			slog.String(semconv.Subject, m.Subject), slog.Int(semconv.AttemptCount, m.Attempts))
	}
	err = r.store.Update(ctx, "mark message "+to, func(t *store.Tx) error { return t.MoveMessage(&m, to) })
	var refused *lifecycle.Refusal
	if errors.As(err, &refused) { // an operator has skipped it while this attempt was under way
		err = nil
	}
	return failure == nil, err
}

func wait(c Config, attempts int) time.Duration {
	d := c.FirstWait
	for i := 1; i < attempts && d < c.LongestWait; i++ {
		d *= 2
	}
	return min(d, c.LongestWait)
}
