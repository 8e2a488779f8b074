package store

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// PutEnrolment keeps the hash of a one-time token.
func (t *Tx) PutEnrolment(tokenHash, node string, expires time.Time) error {
	_, err := t.exec(`INSERT INTO enrolments (token_hash, node_id, expires_at) VALUES (?, ?, ?)`, tokenHash, node, nanos(expires))
	return err
}

// UseEnrolment spends a token and says whose it was. A token that is unknown, used or too old is refused.
func (t *Tx) UseEnrolment(tokenHash string) (node string, err error) {
	now := nanos(t.Now())
	n, err := t.exec(`UPDATE enrolments SET used_at = ?1 WHERE token_hash = ?2 AND used_at = 0 AND expires_at > ?1`, now, tokenHash)
	if err != nil {
		return "", err
	}
	if n != 1 {
		return "", lifecycle.Refuse(lifecycle.EnrolmentToken, "enrolment", "the token is unknown, used or too old")
	}
	err = t.row(`SELECT node_id FROM enrolments WHERE token_hash = ?`, tokenHash).Scan(&node)
	return node, err
}

// OpenInstance makes a new node instance the live one of its node. The one before is superseded, and
// its claims are lost.
func (t *Tx) OpenInstance(n *Node, instance, boot, host string) error {
	if old := n.InstanceID; old != "" {
		if err := t.moveInstance(n.ID, old, lifecycle.Live, lifecycle.Superseded, lifecycle.InstanceFacts{Current: old, Successor: instance}); err != nil {
			return err
		}
		if _, err := t.exec(`UPDATE tasks SET lease_until = ? WHERE instance_id = ? AND state IN ('dispatched', 'running')`, nanos(t.Now()), old); err != nil {
			return fmt.Errorf("end leases: %w", err)
		}
		n.InstanceID = ""
	}
	now := t.Now() // not before the old one's end: one node instance at a time
	ctx := telemetry.With(t.instanceContext(n.ID, instance), semconv.BootID, boot)
	if err := lifecycle.MoveInstance(instance, "", lifecycle.Enrolling, lifecycle.InstanceFacts{}); err != nil {
		return t.refuse(ctx, err)
	}
	if _, err := t.exec(`INSERT INTO node_instances (instance_id, node_id, state, boot_id, host_name, enrolled_at) VALUES (?, ?, ?, ?, ?, ?)`,
		instance, n.ID, lifecycle.Enrolling, boot, host, nanos(now)); err != nil {
		return fmt.Errorf("insert instance: %w", err)
	}
	t.event(ctx, now, semconv.EventNodeInstance, slog.String(semconv.To, lifecycle.Enrolling))
	if err := t.moveInstance(n.ID, instance, lifecycle.Enrolling, lifecycle.Live, lifecycle.InstanceFacts{Current: n.InstanceID}, semconv.BootID, boot); err != nil {
		return err
	}
	if _, err := t.exec(`UPDATE nodes SET instance_id = ?, seen_at = ? WHERE node_id = ?`, instance, nanos(now), n.ID); err != nil {
		return fmt.Errorf("update node: %w", err)
	}
	n.InstanceID = instance
	t.touch(Workflows)
	return nil
}

// moveInstance changes the state of a node instance if the domain allows it; ids are further ones of its event.
func (t *Tx) moveInstance(node, instance, from, to string, f lifecycle.InstanceFacts, ids ...string) error {
	ctx, now, closed := telemetry.With(t.instanceContext(node, instance), ids...), t.Now(), time.Time{}
	if err := lifecycle.MoveInstance(instance, from, to, f); err != nil {
		return t.refuse(ctx, err)
	}
	if to == lifecycle.Superseded {
		closed = now
	}
	changed, err := t.exec(`UPDATE node_instances SET state = ?, closed_at = ? WHERE instance_id = ? AND state = ?`, to, nanos(closed), instance, from)
	if err != nil {
		return fmt.Errorf("update instance: %w", err)
	}
	if changed != 1 {
		return fmt.Errorf("update instance %s: it is no longer %s", instance, from)
	}
	t.event(ctx, now, semconv.EventNodeInstance, slog.String(semconv.To, to))
	return nil
}

// Seen notes that the node's agent called.
func (t *Tx) Seen(node string) error {
	_, err := t.exec(`UPDATE nodes SET seen_at = ? WHERE node_id = ?`, nanos(t.Now()), node)
	return err
}

func (t *Tx) instanceContext(node, instance string) context.Context {
	return telemetry.With(t.ctx, semconv.NodeID, node, semconv.NodeInstanceID, instance)
}
