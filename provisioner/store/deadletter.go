package store

import (
	"database/sql"
	"fmt"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
)

const messageColumns = `seq, outbox_id, subject, allocation_id, payload, traceparent, tracestate, baggage, state, attempt_count, last_error, next_at, created_at, published_at`

func scanMessage(scan func(...any) error) (Message, error) {
	var m Message
	var next, created, published int64
	err := scan(&m.Seq, &m.ID, &m.Subject, &m.AllocationID, &m.Payload, &m.Carrier.Traceparent, &m.Carrier.Tracestate, &m.Carrier.Baggage, &m.State,
		&m.Attempts, &m.LastError, &next, &created, &published)
	m.NextAt, m.CreatedAt, m.PublishedAt = timeOf(next), timeOf(created), timeOf(published)
	return m, err
}

// Message reads one message of the outbox; ErrNotFound where there is none.
func (t *Tx) Message(id string) (Message, error) {
	m, err := scanMessage(t.row(`SELECT `+messageColumns+` FROM outbox WHERE outbox_id = ?`, id).Scan)
	return m, wrapNotFound("message", id, err)
}

// ReviveMessage has a message sent again, at once and with all its attempts before it.
func (t *Tx) ReviveMessage(m *Message) error {
	m.Attempts, m.NextAt = 0, time.Time{}
	t.touch(Outbox)
	return t.moveMessage(m, semconv.Pending, lifecycle.MessageFacts{Operator: true})
}

// SkipMessage makes a message dead, if it is not, and writes why it is not sent any more.
func (t *Tx) SkipMessage(m *Message, reason string) error {
	if _, err := t.exec(`INSERT INTO outbox_skipped (outbox_id, reason, skipped_at) VALUES (?, ?, ?) ON CONFLICT (outbox_id) DO NOTHING`,
		m.ID, reason, nanos(t.Now())); err != nil {
		return fmt.Errorf("insert skipped message: %w", err)
	}
	t.touch(Outbox) // later messages of its allocation may have waited for it
	if m.State == semconv.Dead {
		return nil
	}
	return t.moveMessage(m, semconv.Dead, lifecycle.MessageFacts{Operator: true})
}

// Skipped reports whether somebody has decided that a message is not sent any more.
func (t *Tx) Skipped(id string) (bool, error) {
	var n int
	err := t.row(`SELECT count(*) FROM outbox_skipped WHERE outbox_id = ?`, id).Scan(&n)
	return n > 0, err
}

// UnsentMessages lists what the relay did not bring out: dead messages that nobody has skipped, those that
// have failed, and those that wait since before the given time; in order of commit.
func (t *Tx) UnsentMessages(before time.Time, limit int) ([]Message, error) {
	return t.messages(`SELECT `+messageColumns+` FROM outbox WHERE (state IN ('dead', 'failed') OR state = 'pending' AND created_at < ?)
		AND outbox_id NOT IN (SELECT outbox_id FROM outbox_skipped) ORDER BY seq LIMIT ?`, nanos(before), limit)
}

func (t *Tx) messages(query string, args ...any) ([]Message, error) {
	var out []Message
	err := t.rows(func(r *sql.Rows) error {
		m, err := scanMessage(r.Scan)
		out = append(out, m)
		return err
	}, query, args...)
	return out, err
}
