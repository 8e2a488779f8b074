// Package journal ships the telemetry that transactions wrote into the store's journal: at least once, each record
// under the id that it was given when it happened, so that one that comes twice counts once.
package journal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Receiver takes batches; *telemetry.Emitter is one.
type Receiver interface {
	// Deliver comes back when the batches have arrived. telemetry.ErrRefused: together they never will.
	Deliver(ctx context.Context, batches ...telemetry.EncodedBatch) error
	// Lost counts records that will not be delivered.
	Lost(records int)
}

// Shipper ships the journal of one store. Of several replicas one ships at a time.
type Shipper struct {
	store    *store.Store
	receiver Receiver
	config   telemetry.Config
	log      *slog.Logger
	holder   string

	leased time.Time // until when this replica ships
	down   bool      // the last batch did not arrive
}

// Rows of one delivery, and what a replica that has died keeps the others waiting.
const (
	rowsAtOnce = 512
	lease      = 5 * time.Second
	longWait   = 5 * time.Second
	toForget   = 2 * time.Second // what noting that a batch arrived may take a process that is stopping
)

// New makes a shipper. c says how long rows may wait to be sent together, and how many may wait in all.
func New(s *store.Store, r Receiver, c telemetry.Config, log *slog.Logger) *Shipper {
	return &Shipper{store: s, receiver: r, config: c, log: log, holder: telemetry.NewID("sh")}
}

// Run ships until ctx ends. What is left then stays for the next start; Drain tries once more.
func (s *Shipper) Run(ctx context.Context) error {
	wait := s.config.Flush
	for ctx.Err() == nil {
		changed := s.store.Changed(store.Journal)
		n, err := s.round(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			s.reportFailure(ctx, err)
			sleep(ctx, wait)
			wait = min(2*wait, longWait)
			continue
		case n == rowsAtOnce:
			continue
		}
		wait = s.config.Flush
		select {
		case <-ctx.Done():
		case <-changed:
			sleep(ctx, s.config.Flush) // more may be sent together
		case <-time.After(lease / 2):
		}
	}
	return nil
}

// Drain ships what waits, for as long as ctx allows.
func (s *Shipper) Drain(ctx context.Context) error {
	for {
		n, err := s.round(ctx)
		if err != nil || n == 0 {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// round ships one batch of rows and forgets its rows, and says how many they were.
func (s *Shipper) round(ctx context.Context) (rows int, err error) {
	mine, err := s.lead(ctx)
	if err != nil || !mine {
		return 0, err
	}
	var waiting []store.JournalRow
	if err := s.store.View(ctx, "read journal", func(t *store.Tx) (err error) {
		waiting, err = t.JournalRows(rowsAtOnce)
		return err
	}); err != nil || len(waiting) == 0 {
		return 0, err
	}
	if err := s.ship(ctx, waiting); err != nil {
		return 0, err
	}
	if s.down {
		s.down = false
		s.log.Info("telemetry receiver is back, the journal is shipped")
	}
	return len(waiting), s.forget(ctx, waiting)
}

// forget notes that rows have arrived, also when ctx ended while they were on their way: a process that is stopped
// in order sends nothing twice; only one that is killed here does.
func (s *Shipper) forget(ctx context.Context, rows []store.JournalRow) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), toForget)
	defer cancel()
	return s.store.Update(ctx, "forget journal", func(t *store.Tx) error { return t.ForgetJournal(rows) })
}

// lead takes the lease, or keeps it for longer when half of it is over.
func (s *Shipper) lead(ctx context.Context) (mine bool, err error) {
	now := s.store.Now()
	if !s.store.Shared() || s.leased.Sub(now) > lease/2 {
		return true, nil
	}
	until := now.Add(lease)
	if err := s.store.Update(ctx, "lease journal", func(t *store.Tx) error {
		mine, err = t.Lease("journal", s.holder, until)
		return err
	}); err != nil || !mine {
		return false, err
	}
	s.leased = until
	return true, nil
}

// ship delivers rows together. Where that is refused, each goes by itself, and only the ones that
// are refused again are lost.
func (s *Shipper) ship(ctx context.Context, rows []store.JournalRow) error {
	batches := make([]telemetry.EncodedBatch, len(rows))
	for i, r := range rows {
		batches[i] = r.EncodedBatch
	}
	err := s.receiver.Deliver(ctx, batches...)
	if !errors.Is(err, telemetry.ErrRefused) {
		return err
	}
	if len(rows) == 1 {
		s.receiver.Lost(rows[0].Records)
		s.log.Warn("telemetry of a transaction was refused and is given up", "records", rows[0].Records, "error", err)
		return nil
	}
	for i := range rows {
		if err := s.ship(ctx, rows[i:i+1]); err != nil {
			return err
		}
	}
	return nil
}

// reportFailure logs once that nothing arrives, and drops the oldest rows beyond the limit.
func (s *Shipper) reportFailure(ctx context.Context, err error) {
	if !s.down {
		s.down = true
		s.log.Warn("the journal cannot be shipped, it is kept and tried again", "error", err)
	}
	var lost int
	if err := s.store.Update(ctx, "trim journal", func(t *store.Tx) (err error) {
		lost, err = t.TrimJournal(s.config.Journal)
		return err
	}); err != nil {
		s.log.Error("trim journal", "error", fmt.Errorf("keep %d rows: %w", s.config.Journal, err))
		return
	}
	if lost > 0 {
		s.receiver.Lost(lost)
		s.log.Warn("telemetry receiver has been away for too long, the oldest records are dropped", "records", lost)
	}
}
