package store

import (
	"database/sql"
	"fmt"
	"math/bits"
	"strings"
	"time"

	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// JournalRow is the telemetry of one transaction, written in that transaction. It stays until it has arrived.
type JournalRow struct {
	Seq int64
	telemetry.EncodedBatch
}

// writeJournal writes the transaction's records into the journal: one row, however many they are.
func (t *Tx) writeJournal() error {
	if !t.store.options.Journal || len(t.records) == 0 {
		return nil
	}
	b, err := telemetry.Encode(t.records)
	if err != nil {
		return fmt.Errorf("encode journal row: %w", err)
	}
	if err := t.execLast(`INSERT INTO journal (at, records, logs, traces) VALUES (?, ?, ?, ?)`, nanos(t.Now()), b.Records, b.Logs, b.Traces); err != nil {
		return fmt.Errorf("insert journal row: %w", err)
	}
	t.touch(Journal)
	return nil
}

// emitRecords emits after the commit what no journal keeps.
func (t *Tx) emitRecords() {
	if t.store.options.Journal {
		return
	}
	for _, r := range t.records {
		r.Emit()
	}
}

const oldestJournal = `SELECT seq, records, logs, traces FROM journal WHERE seq > 0 ORDER BY seq LIMIT ?`

// JournalRows lists the oldest rows.
func (t *Tx) JournalRows(limit int) ([]JournalRow, error) {
	var out []JournalRow
	err := t.rows(func(r *sql.Rows) error {
		var j JournalRow
		err := r.Scan(&j.Seq, &j.Records, &j.Logs, &j.Traces)
		out = append(out, j)
		return err
	}, oldestJournal, limit)
	return out, err
}

// ForgetJournal deletes rows that have arrived. Each is named: a row with a smaller number may be
// committed later than one with a greater.
func (t *Tx) ForgetJournal(rows []JournalRow) error {
	if len(rows) == 0 {
		return nil
	}
	n := 1 << bits.Len(uint(len(rows)-1)) // few different statements
	seqs := make([]any, n)
	for i := range seqs {
		seqs[i] = rows[min(i, len(rows)-1)].Seq
	}
	_, err := t.exec(`DELETE FROM journal WHERE seq IN (?`+strings.Repeat(", ?", n-1)+`)`, seqs...)
	return err
}

// JournalBacklog is the number of rows that wait, and when the oldest of them was written.
func (t *Tx) JournalBacklog() (waiting int, oldest time.Time, err error) {
	var at int64
	err = t.row(`SELECT count(*), coalesce(min(at), 0) FROM journal`).Scan(&waiting, &at)
	return waiting, timeOf(at), err
}

// TrimJournal deletes the oldest rows beyond the newest keep, and says how many records were in them.
func (t *Tx) TrimJournal(keep int) (records int, err error) {
	var last, lost sql.NullInt64
	if err := t.row(`SELECT max(seq), sum(records) FROM (SELECT seq, records FROM journal ORDER BY seq DESC LIMIT 1000000000 OFFSET ?) AS beyond`, keep).Scan(&last, &lost); err != nil || !last.Valid {
		return 0, err
	}
	_, err = t.exec(`DELETE FROM journal WHERE seq <= ?`, last.Int64)
	return int(lost.Int64), err
}
