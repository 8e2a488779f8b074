package soak

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/journal"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Cost is what telemetry adds to the time of a transition: the same transactions on the same database,
// in small turns with and without it, so that whatever else the machine does strikes both.
type Cost struct {
	Target string
	Moves  int // of each kind
	Turn   int // moves of one turn; 0: 100
}

// CostResult is what came of it.
type CostResult struct {
	Off, On time.Duration // of one move: the median of the turns
	Ratio   float64       // the median of the turns' ratios
	Spread  string        // their quartiles
}

// Run times moves of allocations between active and degraded: one transaction that reads the
// allocation, moves it, and tells it, in the span of a request.
func (c Cost) Run(ctx context.Context) (out CostResult, err error) {
	if c.Turn == 0 {
		c.Turn = 100
	}
	receiver := httptest.NewServer(NewReceiver())
	defer receiver.Close()
	said := telemetry.DefaultConfig()
	said.Endpoint, said.Queue = receiver.URL, 1<<20
	log := slog.New(slog.DiscardHandler)
	emitter, err := telemetry.Open(said, log)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, emitter.Close(ctx)) }()
	says := emitter.Source("provisioner")
	silent, err := store.Open(ctx, c.Target, store.Options{})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, silent.Close()) }()
	telling, err := store.Open(ctx, c.Target, store.Options{DB: emitter.Source("db"), Says: says, Relay: emitter.Source("outbox-relay"), Journal: true})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, telling.Close()) }()
	ships := journal.New(telling, emitter, said, log)
	shipping, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- ships.Run(shipping) }()
	defer func() { stop(); err = errors.Join(err, <-done) }()

	ids, err := seed(ctx, silent)
	if err != nil {
		return out, err
	}
	var off, on []time.Duration
	var ratios []float64
	for turn := 0; turn*c.Turn < c.Moves; turn++ {
		a, err := c.turn(ctx, silent, nil, ids, turn)
		if err != nil {
			return out, err
		}
		b, err := c.turn(ctx, telling, says, ids, turn)
		if err != nil {
			return out, err
		}
		off, on, ratios = append(off, a), append(on, b), append(ratios, float64(b)/float64(a))
	}
	slices.Sort(off)
	slices.Sort(on)
	slices.Sort(ratios)
	n := len(ratios)
	out = CostResult{off[n/2], on[n/2], ratios[n/2], fmt.Sprintf("quartiles %+.1f and %+.1f %%, %d turns", 100*(ratios[n/4]-1), 100*(ratios[3*n/4]-1), n)}
	return out, nil
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
			ready := lifecycle.Facts{Occupancy: lifecycle.Reserved, TasksDone: true, Observed: true}
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

// turn is the mean time of one move.
func (c Cost) turn(ctx context.Context, s *store.Store, says *telemetry.Source, ids []string, turn int) (time.Duration, error) {
	began := time.Now()
	for i := range c.Turn {
		id := ids[(turn*c.Turn+i)%len(ids)]
		ctx, span := says.Start(telemetry.With(ctx, semconv.AllocationID, id, semconv.CorrelationID, "c-1"), "health", telemetry.Internal)
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
			return 0, err
		}
	}
	return time.Since(began) / time.Duration(c.Turn), nil
}
