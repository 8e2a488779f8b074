package store

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// RefusedMove is a kind of refusal: what was to move, and why it may not.
type RefusedMove struct {
	Of     string
	Reason lifecycle.Reason
}

// refusals counts moves that were refused.
type refusals struct {
	mu    sync.Mutex
	count map[RefusedMove]int64
}

func (r *refusals) add(m RefusedMove) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == nil {
		r.count = map[RefusedMove]int64{}
	}
	r.count[m]++
}

// RefusedMoves is how often moves were refused since the start.
func (s *Store) RefusedMoves() map[RefusedMove]int64 {
	s.refusals.mu.Lock()
	defer s.refusals.mu.Unlock()
	return maps.Clone(s.refusals.count)
}

// refusal is one that is reported when the transaction is over, whichever way.
type refusal struct {
	ctx context.Context
	why *lifecycle.Refusal
}

// refuse passes on what a table says against a move. It is reported, whatever the caller makes of it; ctx has the
// identifiers of what was to move.
func (t *Tx) refuse(ctx context.Context, err error) error {
	var why *lifecycle.Refusal
	if errors.As(err, &why) {
		t.refused = append(t.refused, refusal{ctx, why})
	}
	return err
}

// report logs and counts the refusals of a transaction that is over. They are no failures of the transaction: a workflow that gives
// up for one logs that itself. Refusals of a dry run are left out.
func (s *Store) report(t *Tx) {
	if t.dryRun {
		return
	}
	for _, r := range t.refused {
		s.refusals.add(RefusedMove{r.why.Of, r.why.Reason})
		s.options.Emitter.Log(r.ctx, telemetry.Info, "move refused: "+r.why.Error(),
			slog.String(semconv.Reason, string(r.why.Reason)), slog.String(semconv.From, r.why.From), slog.String(semconv.To, r.why.To))
	}
}
