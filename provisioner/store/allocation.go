package store

import (
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Allocation is one row.
type Allocation struct {
	ID, Pool, Image, RequestedBy, CorrelationID string
	State, Reason                               string
	Version                                     int64
	NodeID                                      string // "" before placement and after cleanup
	WasActive, Claimed                          bool
	Since, CreatedAt                            time.Time
}

const allocationColumns = `allocation_id, pool, image, requested_by, correlation_id, state, reason, version, node_id, was_active, claimed, since, created_at`

const listAllocations = `SELECT ` + allocationColumns + ` FROM allocations
	WHERE (?1 = '' OR state = ?1) AND (?2 = 0 OR state NOT IN ('released', 'canceled', 'failed'))
	  AND (?3 = '' OR (created_at, allocation_id) < (SELECT created_at, allocation_id FROM allocations WHERE allocation_id = ?3))
	ORDER BY created_at DESC, allocation_id DESC LIMIT ?4`

func scanAllocation(scan func(...any) error) (Allocation, error) {
	var a Allocation
	var since, created int64
	err := scan(&a.ID, &a.Pool, &a.Image, &a.RequestedBy, &a.CorrelationID, &a.State, &a.Reason, &a.Version, &a.NodeID,
		&a.WasActive, &a.Claimed, &since, &created)
	a.Since, a.CreatedAt = timeOf(since), timeOf(created)
	return a, err
}

// CreateAllocation writes a new allocation in state requested.
func (t *Tx) CreateAllocation(a Allocation) (Allocation, error) {
	a.State, a.Version, a.CreatedAt = semconv.Requested, 1, t.Now().UTC()
	a.Since = a.CreatedAt
	ctx := telemetry.With(t.ctx, semconv.AllocationID, a.ID)
	if err := lifecycle.MoveAllocation(a.ID, "", a.State, lifecycle.Facts{}); err != nil {
		return a, t.refuse(ctx, err)
	}
	_, err := t.exec(`INSERT INTO allocations (allocation_id, pool, image, requested_by, correlation_id, state, since, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		a.ID, a.Pool, a.Image, a.RequestedBy, a.CorrelationID, a.State, nanos(a.Since), nanos(a.CreatedAt))
	if err != nil {
		return a, fmt.Errorf("insert allocation: %w", err)
	}
	t.event(ctx, a.Since, semconv.EventAllocationState,
		slog.String(semconv.To, a.State), slog.String(semconv.Actor, a.RequestedBy))
	return a, nil
}

// Allocation reads one; ErrNotFound where there is none. In an Update it is locked until the end.
func (t *Tx) Allocation(id string) (Allocation, error) {
	a, err := scanAllocation(t.row(t.lockRows(`SELECT `+allocationColumns+` FROM allocations WHERE allocation_id = ?`, false), id).Scan)
	if err == nil && t.locked == "" {
		t.locked = id
	}
	return a, wrapNotFound("allocation", id, err)
}

// Filter chooses allocations of a list.
type Filter struct {
	State string // "": all
	Live  bool   // only those that are not over
	After string // only those that follow this id in the list
	Limit int
}

// Allocations lists newest first.
func (t *Tx) Allocations(f Filter) ([]Allocation, error) {
	var out []Allocation
	err := t.rows(func(r *sql.Rows) error {
		a, err := scanAllocation(r.Scan)
		out = append(out, a)
		return err
	}, listAllocations, f.State, f.Live, f.After, f.Limit)
	return out, err
}

// MoveAllocation changes the state if the domain allows it. What the rows say of the guards' facts is
// filled in here; f brings the rest. States in which others are interested leave an outbox message.
func (t *Tx) MoveAllocation(a *Allocation, to, reason string, f lifecycle.Facts) error {
	f.WasActive, f.Claimed = a.WasActive, a.Claimed
	if a.NodeID != "" {
		n, err := t.Node(a.NodeID)
		if err != nil {
			return err
		}
		if f.Occupancy = n.Occupancy; n.AllocationID != a.ID {
			f.Occupancy = ""
		}
	}
	from := a.State
	ctx := telemetry.With(t.ctx, semconv.AllocationID, a.ID, semconv.NodeID, a.NodeID)
	if err := lifecycle.MoveAllocation(a.ID, from, to, f); err != nil {
		return t.refuse(ctx, err)
	}
	now := t.Now()
	changed, err := t.exec(`UPDATE allocations SET state = ?, reason = ?, version = version + 1, since = ?, was_active = ? WHERE allocation_id = ? AND version = ?`,
		to, reason, nanos(now), a.WasActive || to == semconv.Active, a.ID, a.Version)
	if err != nil {
		return fmt.Errorf("update allocation: %w", err)
	}
	if changed != 1 {
		return fmt.Errorf("update allocation %s: version %d is no longer current", a.ID, a.Version)
	}
	a.State, a.Reason, a.Since = to, reason, now
	a.Version++
	a.WasActive = a.WasActive || to == semconv.Active
	attrs := []slog.Attr{slog.String(semconv.From, from), slog.String(semconv.To, to)}
	if reason != "" {
		attrs = append(attrs, slog.String(semconv.Reason, reason))
	}
	if f.Actor != "" {
		attrs = append(attrs, slog.String(semconv.Actor, f.Actor))
	}
	t.event(ctx, now, semconv.EventAllocationState, attrs...)
	if lifecycle.Settled(to) {
		_, err := t.PutOutbox("allocation."+to, a.ID, `{"version":`+fmt.Sprint(a.Version)+`}`)
		return err
	}
	return nil
}

// place writes which node an allocation has; "" for none.
func (t *Tx) place(a *Allocation, node string) error {
	a.NodeID = node
	_, err := t.exec(`UPDATE allocations SET node_id = ? WHERE allocation_id = ?`, node, a.ID)
	return err
}

func (t *Tx) markClaimed(allocation string) error {
	_, err := t.exec(`UPDATE allocations SET claimed = 1 WHERE allocation_id = ?`, allocation)
	return err
}

// CountAllocations is the number of those in a state.
func (t *Tx) CountAllocations(state string) (n int, err error) {
	err = t.row(`SELECT count(*) FROM allocations WHERE state = ?`, state).Scan(&n)
	return n, err
}
