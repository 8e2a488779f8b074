package store

import (
	"errors"
	"log/slog"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Enrolment is a one-time token, known by its hash, and what it was spent on.
type Enrolment struct {
	NodeID          string
	ExpiresAt       time.Time
	UsedAt          time.Time // zero: not yet
	InstanceID, Key string    // the node instance that it opened and the hash of its key; "" where none was written down
}

// Enrolment reads a token by its hash; ErrNotFound where it was never issued.
func (t *Tx) Enrolment(tokenHash string) (e Enrolment, err error) {
	var expires, used int64
	err = t.row(`SELECT node_id, expires_at, used_at FROM enrolments WHERE token_hash = ?`, tokenHash).Scan(&e.NodeID, &expires, &used)
	if err != nil {
		return e, wrapNotFound("enrolment", "by this token", err)
	}
	e.ExpiresAt, e.UsedAt = timeOf(expires), timeOf(used)
	err = wrapNotFound("use of enrolment", "", t.row(`SELECT instance_id, key_hash FROM enrolment_uses WHERE token_hash = ?`, tokenHash).Scan(&e.InstanceID, &e.Key))
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return e, err
}

// PutEnrolmentUse writes down what a token was spent on.
func (t *Tx) PutEnrolmentUse(tokenHash, instance, keyHash string) error {
	_, err := t.exec(`INSERT INTO enrolment_uses (token_hash, instance_id, key_hash) VALUES (?, ?, ?)`, tokenHash, instance, keyHash)
	return err
}

// Booted notes the boot that a node instance runs in. A new one is emitted as a link.
func (t *Tx) Booted(node, instance, boot string) error {
	changed, err := t.exec(`UPDATE node_instances SET boot_id = ? WHERE instance_id = ? AND boot_id <> ?`, boot, instance, boot)
	if err != nil || changed == 0 {
		return err
	}
	now := t.Now()
	t.event(telemetry.With(t.instanceContext(node, instance), semconv.BootID, boot), now, semconv.EventBinding,
		slog.String(semconv.SubjectKind, "boot"), slog.String(semconv.SubjectID, boot), slog.String(semconv.ObjectKind, "node_instance"),
		slog.String(semconv.ObjectID, instance), slog.Time(semconv.ValidFrom, now))
	return nil
}

// HeldTask is the open task that a node instance has claimed; ErrNotFound where it holds none.
func (t *Tx) HeldTask(node, instance string) (Task, error) {
	k, err := scanTask(t.row(`SELECT `+taskColumns+` FROM tasks
		WHERE node_id = ? AND instance_id = ? AND state IN ('dispatched', 'running') ORDER BY created_at LIMIT 1`, node, instance).Scan)
	return k, wrapNotFound("task held by", instance, err)
}
