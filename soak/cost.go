package soak

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/journal"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Cost is what telemetry adds to the time of a transition: the same transactions on two databases of one
// server or disk, in small turns with and without it, so that whatever else the machine does strikes both.
type Cost struct {
	Silent, Telling string // databases
	Moves           int    // of each kind
}

// CostResult is what came of it.
type CostResult struct {
	Off, On Times
	Records float64 // events and spans that one move tells of
}

// Times are those of one move: a quarter of all took no longer than Quarter, three quarters no longer than Most.
type Times struct{ Quarter, Median, Most time.Duration }

// Added is what On has more than Off, of the median.
func (r CostResult) Added() float64 { return float64(r.On.Median)/float64(r.Off.Median) - 1 }

// movesATurn is short: what else the machine does changes slowly beside it.
const movesATurn = 8

// Run times moves of allocations between active and degraded: one transaction that reads the
// allocation, moves it, leaves a message in the outbox, and tells both, in the span of a request.
func (c Cost) Run(ctx context.Context) (out CostResult, err error) {
	receiver := NewReceiver()
	server := httptest.NewServer(receiver)
	defer server.Close()
	said := telemetry.DefaultConfig()
	said.Endpoint, said.Queue = server.URL, 1<<20
	log := slog.New(slog.DiscardHandler)
	exporter, err := telemetry.Open(said, log)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, exporter.Close(ctx)) }()
	emitter := exporter.Emitter("provisioner")
	silent, err := store.Open(ctx, c.Silent, store.Options{})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, silent.Close()) }()
	telling, err := store.Open(ctx, c.Telling, store.Options{DB: exporter.Emitter("db"), Emitter: emitter, Relay: exporter.Emitter("outbox-relay"), Journal: true})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, telling.Close()) }()
	ships := journal.New(telling, exporter, said, log)
	shipping, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- ships.Run(shipping) }()
	defer func() { stop(); err = errors.Join(err, <-done) }()

	ids, err := seed(ctx, silent)
	if err != nil {
		return out, err
	}
	if _, err := seed(ctx, telling); err != nil {
		return out, err
	}
	var off, on []time.Duration
	before := exporter.Stats().Taken
	for turn := 0; turn*movesATurn < c.Moves; turn++ {
		pprof.Do(ctx, labelled("off"), func(ctx context.Context) { off, err = c.turn(ctx, silent, nil, ids, turn, off) })
		if err != nil {
			return out, err
		}
		pprof.Do(ctx, labelled("on"), func(ctx context.Context) { on, err = c.turn(ctx, telling, emitter, ids, turn, on) })
		if err != nil {
			return out, err
		}
	}
	events, _ := receiver.Events()
	out = CostResult{timesOf(off), timesOf(on), float64(uint64(len(events))+exporter.Stats().Taken-before) / float64(len(on))}
	return out, nil
}

func timesOf(all []time.Duration) (t Times) {
	if len(all) == 0 {
		return t
	}
	slices.Sort(all)
	return Times{all[len(all)/4], all[len(all)/2], all[len(all)*3/4]}
}

// seed makes allocations that are active.
func seed(ctx context.Context, s *store.Store) (ids []string, err error) {
	for i := range 64 {
		id := fmt.Sprintf("a-%02d", i)
		ids = append(ids, id)
		if err := s.Update(ctx, "seed", func(t *store.Tx) error {
			a, err := t.CreateAllocation(store.Allocation{ID: id, Pool: "p", Image: "i", RequestedBy: "alice"})
			if err != nil {
				return err
			}
			ready := lifecycle.Facts{Provided: true, TasksDone: true, Observed: true}
			for _, state := range []string{semconv.Reserved, semconv.Provisioning, semconv.Active} {
				if err := t.MoveAllocation(&a, state, "", ready); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// turn appends the times of some moves.
func (c Cost) turn(ctx context.Context, s *store.Store, emitter *telemetry.Emitter, ids []string, turn int, times []time.Duration) ([]time.Duration, error) {
	for i := range movesATurn {
		id := ids[(turn*movesATurn+i)%len(ids)]
		began := time.Now()
		ctx, span := emitter.Start(telemetry.With(ctx, semconv.AllocationID, id, semconv.CorrelationID, "c-1"), "health", telemetry.Internal)
		err := s.Update(ctx, "move allocation", func(t *store.Tx) error {
			a, err := t.Allocation(id)
			if err != nil {
				return err
			}
			to := semconv.Degraded
			if a.State == to {
				to = semconv.Active
			}
			return t.MoveAllocation(&a, to, "", lifecycle.Facts{})
		})
		span.End()
		if err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
	}
	return times, nil
}
