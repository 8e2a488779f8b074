package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Message is one row of the outbox: written in the transaction of the change that it announces, sent by the relay.
type Message struct {
	Seq                            int64
	ID, Subject, AllocationID      string
	Payload                        string // JSON
	Carrier                        telemetry.Carrier
	State                          string
	Attempts                       int
	LastError                      string
	NextAt, CreatedAt, PublishedAt time.Time
}

// Context is that of the work that wrote the message.
func (m Message) Context(ctx context.Context) context.Context {
	return telemetry.With(m.Carrier.Resume(ctx), semconv.AllocationID, m.AllocationID, semconv.OutboxID, m.ID)
}

// PutOutbox writes a message that carries the context of this transaction's caller.
func (t *Tx) PutOutbox(subject, allocation, payload string) (id string, err error) {
	m := Message{ID: telemetry.NewID("ob"), Subject: subject, AllocationID: allocation, State: semconv.Pending, CreatedAt: t.Now()}
	m.Carrier = telemetry.Carry(telemetry.With(t.ctx, semconv.AllocationID, allocation))
	if err := lifecycle.MoveMessage(m.ID, "", m.State, lifecycle.MessageFacts{}); err != nil {
		return "", t.refuse(m.Context(t.ctx), err)
	}
	_, err = t.exec(`INSERT INTO outbox (outbox_id, subject, allocation_id, payload, traceparent, tracestate, baggage, state, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		m.ID, subject, allocation, payload, m.Carrier.Traceparent, m.Carrier.Tracestate, m.Carrier.Baggage, m.State, nanos(m.CreatedAt))
	if err != nil {
		return "", fmt.Errorf("insert outbox message: %w", err)
	}
	t.touch(Outbox)
	t.messageEvent(m, m.State)
	return m.ID, nil
}

const (
	dueMessages = `SELECT ` + messageColumns + ` FROM outbox m WHERE state IN ('pending', 'failed') AND next_at <= ?1
		AND NOT EXISTS (SELECT 1 FROM outbox earlier WHERE earlier.allocation_id = m.allocation_id AND earlier.seq < m.seq
			AND earlier.state IN ('pending', 'failed') AND earlier.next_at > ?1)
		ORDER BY seq LIMIT ?2`
	// The earliest of each allocation, by passes and never by a join: a connection keeps the plan that it made
	// when the table was empty, and a join made for an empty table compares each with each.
	leaseMessages = `WITH earliest (n) AS MATERIALIZED (SELECT seq FROM (
			SELECT DISTINCT ON (allocation_id) seq, next_at FROM outbox WHERE state IN ('pending', 'failed') ORDER BY allocation_id, seq) AS first
			WHERE next_at <= ?1 ORDER BY seq LIMIT ?2),
		due (n) AS MATERIALIZED (SELECT seq FROM outbox WHERE seq = ANY (ARRAY (SELECT n FROM earliest)) AND state IN ('pending', 'failed') AND next_at <= ?1
			FOR NO KEY UPDATE SKIP LOCKED)
		UPDATE outbox SET next_at = ?3 WHERE seq = ANY (ARRAY (SELECT n FROM due)) RETURNING ` + messageColumns
)

// DueMessages lists what the relay has to send, in order of commit. A message waits for the earlier ones
// of its allocation: on a database of one process they are in the same list before it; where replicas
// share one, only the earliest of each allocation is in the list, and its due time is moved on by the
// lease, so that no other replica has it until then.
func (s *Store) DueMessages(ctx context.Context, lease time.Duration, limit int) (out []Message, err error) {
	list := func(t *Tx, query string, args ...any) error {
		out = out[:0]
		return t.rows(func(r *sql.Rows) error {
			m, err := scanMessage(r.Scan)
			out = append(out, m)
			return err
		}, query, args...)
	}
	if !s.dialect.shared {
		err = s.View(ctx, "due messages", func(t *Tx) error { return list(t, dueMessages, nanos(t.Now()), limit) })
		return out, err
	}
	err = s.Update(ctx, "lease messages", func(t *Tx) error {
		return list(t, leaseMessages, nanos(t.Now()), limit, nanos(t.Now().Add(lease)))
	})
	slices.SortFunc(out, func(a, b Message) int { return cmp.Compare(a.Seq, b.Seq) })
	return out, err
}

// OutboxBacklog is the number of messages that wait, and when the oldest of them was written.
func (t *Tx) OutboxBacklog() (waiting int, oldest time.Time, err error) {
	var at int64
	err = t.row(`SELECT count(*), coalesce(min(created_at), 0) FROM outbox WHERE state IN ('pending', 'failed')`).Scan(&waiting, &at)
	return waiting, timeOf(at), err
}

// MoveMessage writes what became of an attempt to send, if the domain allows it. One that another replica has
// published meanwhile stays published, without an event.
func (t *Tx) MoveMessage(m *Message, to string) error {
	return t.moveMessage(m, to, lifecycle.MessageFacts{Attempts: m.Attempts})
}

func (t *Tx) moveMessage(m *Message, to string, f lifecycle.MessageFacts) error {
	for {
		from := m.State
		if err := lifecycle.MoveMessage(m.ID, from, to, f); err != nil {
			return t.refuse(m.Context(t.ctx), err)
		}
		if to == semconv.Published {
			m.PublishedAt = t.Now()
		}
		n, err := t.exec(`UPDATE outbox SET state = ?, attempt_count = ?, last_error = ?, next_at = ?, published_at = ? WHERE outbox_id = ? AND state = ?`,
			to, m.Attempts, m.LastError, nanos(m.NextAt), nanos(m.PublishedAt), m.ID, from)
		if err != nil {
			return fmt.Errorf("update outbox message: %w", err)
		}
		if n == 1 {
			m.State = to
			t.messageEvent(*m, to)
			return nil
		}
		have, err := t.Message(m.ID) // somebody was faster
		switch {
		case err != nil:
			return err
		case have.State == semconv.Published:
			m.State, m.PublishedAt = have.State, have.PublishedAt
			return nil
		case have.State == from:
			return fmt.Errorf("update outbox message %s: it is %s and stays so", m.ID, from)
		}
		m.State = have.State
	}
}

func (t *Tx) messageEvent(m Message, to string) {
	attrs := []slog.Attr{slog.String(semconv.Subject, m.Subject), slog.String(semconv.To, to), slog.Int(semconv.AttemptCount, m.Attempts)}
	if m.LastError != "" {
		attrs = append(attrs, slog.String(semconv.LastError, m.LastError))
	}
	t.record(t.store.options.Relay.ComposeEvent(m.Context(t.ctx), t.Now(), semconv.EventOutbox, attrs...))
}

// ForgetMessages deletes messages that were published before the given time, of those that come after a seq
// in order of commit, and looks at up to limit of them. What is not published, or dead, stays. last is
// the seq that it came to, 0 where nothing that old is left.
func (t *Tx) ForgetMessages(before time.Time, after int64, limit int) (last int64, forgotten int64, err error) {
	var old []any
	over := false
	if err := t.rows(func(r *sql.Rows) error {
		var seq, created, published int64
		var state string
		if err := r.Scan(&seq, &state, &created, &published); err != nil || over {
			return err
		}
		if over = created >= nanos(before); over { // so are those behind it
			return nil
		}
		if last = seq; state == semconv.Published && published < nanos(before) {
			old = append(old, seq)
		}
		return nil
	}, `SELECT seq, state, created_at, published_at FROM outbox WHERE seq > ? ORDER BY seq LIMIT ?`, after, limit); err != nil || len(old) == 0 {
		return last, 0, err
	}
	for len(old) < limit { // one statement, whatever the number
		old = append(old, old[0])
	}
	forgotten, err = t.exec(`DELETE FROM outbox WHERE state = 'published' AND seq IN (?`+strings.Repeat(", ?", limit-1)+`)`, old...)
	return last, forgotten, err
}
