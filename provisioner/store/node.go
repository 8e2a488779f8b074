package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Node is one row of the inventory.
type Node struct {
	ID, Pool, Occupancy      string
	AllocationID, InstanceID string    // "" for none
	UsedAt                   time.Time // when it was last set aside
	SeenAt, CreatedAt        time.Time
}

const nodeColumns = `node_id, pool, occupancy, allocation_id, instance_id, used_at, seen_at, created_at`

// freeNode repeats the condition of index nodes_free.
const freeNode = `SELECT ` + nodeColumns + ` FROM nodes
	WHERE pool = ? AND occupancy = 'free' AND instance_id <> '' ORDER BY used_at, node_id LIMIT 1`

func scanNode(scan func(...any) error) (Node, error) {
	var n Node
	var used, seen, created int64
	err := scan(&n.ID, &n.Pool, &n.Occupancy, &n.AllocationID, &n.InstanceID, &used, &seen, &created)
	n.UsedAt, n.SeenAt, n.CreatedAt = timeOf(used), timeOf(seen), timeOf(created)
	return n, err
}

// RegisterNode adds a node, or leaves it as it is where it is known already.
func (t *Tx) RegisterNode(id, pool string) error {
	_, err := t.exec(`INSERT INTO nodes (node_id, pool, occupancy, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (node_id) DO UPDATE SET pool = excluded.pool`,
		id, pool, lifecycle.Free, nanos(t.Now()))
	return err
}

const oneNode = `SELECT ` + nodeColumns + ` FROM nodes WHERE node_id = ?`

// Node reads one; ErrNotFound where there is none. In an Update its allocation is locked, and then the
// node itself.
func (t *Tx) Node(id string) (Node, error) {
	for t.locking() { // until it is the node of the locked allocation, or of none
		n, err := scanNode(t.row(t.lockRows(oneNode+` AND allocation_id IN ('', ?)`, false), id, t.locked).Scan)
		if !errors.Is(err, sql.ErrNoRows) {
			return n, err
		}
		n, err = scanNode(t.row(oneNode, id).Scan)
		if err != nil {
			return n, wrapNotFound("node", id, err)
		}
		if t.locked != "" && t.locked != n.AllocationID { // another one's node: what is out of order may have to be run again
			n, err = scanNode(t.row(t.lockRows(oneNode, false), id).Scan)
			return n, wrapNotFound("node", id, err)
		}
		if err := t.Lock(n.AllocationID); err != nil {
			return n, err
		}
	}
	n, err := scanNode(t.row(oneNode, id).Scan)
	return n, wrapNotFound("node", id, err)
}

// Nodes lists all nodes by id.
func (t *Tx) Nodes() ([]Node, error) {
	var out []Node
	err := t.rows(func(r *sql.Rows) error {
		n, err := scanNode(r.Scan)
		out = append(out, n)
		return err
	}, `SELECT `+nodeColumns+` FROM nodes ORDER BY node_id`)
	return out, err
}

// FreeNode finds an enrolled node of the pool that nobody has; ErrNotFound where there is none. The
// one that was set aside longest ago comes first, so that use goes round.
func (t *Tx) FreeNode(pool string) (Node, error) {
	n, err := scanNode(t.row(t.lockRows(freeNode, true), pool).Scan)
	return n, wrapNotFound("free node in pool", pool, err)
}

// Reserve sets a free node aside for an allocation: the assignment begins.
func (t *Tx) Reserve(n *Node, a *Allocation) error {
	if n.AllocationID != "" {
		return lifecycle.Refuse(lifecycle.NodeBusy, "node "+n.ID, "belongs to "+n.AllocationID)
	}
	n.AllocationID = a.ID
	if err := t.MoveNode(n, lifecycle.Reserved, "placement", lifecycle.NodeFacts{}); err != nil {
		return err
	}
	if err := t.place(a, n.ID); err != nil {
		return err
	}
	t.event(t.nodeContext(*n), t.Now(), semconv.EventNodeAssigned)
	return nil
}

// MoveNode changes the occupancy if the domain allows it. A node that becomes free loses its
// allocation: the assignment ends.
func (t *Tx) MoveNode(n *Node, to, reason string, f lifecycle.NodeFacts) error {
	from := n.Occupancy
	now, ctx, tenant := t.Now(), t.nodeContext(*n), n.AllocationID
	if err := lifecycle.MoveNode(n.ID, from, to, f); err != nil {
		return t.refuse(ctx, err)
	}
	n.Occupancy = to
	switch to {
	case lifecycle.Free:
		n.AllocationID = ""
	case lifecycle.Reserved:
		n.UsedAt = now
	}
	changed, err := t.exec(`UPDATE nodes SET occupancy = ?, allocation_id = ?, used_at = ? WHERE node_id = ? AND occupancy = ?`,
		to, n.AllocationID, nanos(n.UsedAt), n.ID, from)
	if err != nil {
		return fmt.Errorf("update node: %w", err)
	}
	if changed != 1 {
		return fmt.Errorf("update node %s: occupancy is no longer %s", n.ID, from)
	}
	t.event(ctx, now, semconv.EventNodeOccupancy, slog.String(semconv.From, from), slog.String(semconv.To, to), slog.String(semconv.Reason, reason))
	if to != lifecycle.Free {
		return nil
	}
	t.touch(Workflows) // somebody may wait for capacity
	if tenant == "" {
		return nil
	}
	t.event(ctx, now, semconv.EventNodeUnassigned)
	_, err = t.exec(`UPDATE allocations SET node_id = '' WHERE allocation_id = ?`, tenant)
	return err
}

func (t *Tx) nodeContext(n Node) context.Context {
	return telemetry.With(t.ctx, semconv.NodeID, n.ID, semconv.NodeInstanceID, n.InstanceID, semconv.AllocationID, n.AllocationID)
}
