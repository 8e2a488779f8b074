package store

import (
	"context"
	"database/sql"
	"net/url"
)

// onSQLite is one file for one process. Writers take turns.
var onSQLite = dialect{
	system:    "sqlite",
	open:      openSQLite,
	query:     same,
	schema:    same,
	lock:      func(*sql.Tx) error { return nil }, // the transaction's own is enough
	retryable: func(error) bool { return false },
}

func openSQLite(_ context.Context, path string) (writer, reader *sql.DB, err error) {
	// synchronous(FULL): what a client was told survives a power cut.
	pragmas := url.Values{"_pragma": {"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)"}}
	file := (&url.URL{Scheme: "file", Opaque: url.PathEscape(path)}).String()
	writer = sql.OpenDB(connector{file + "?" + pragmas.Encode() + "&_txlock=immediate"})
	writer.SetMaxOpenConns(1)
	pragmas.Add("_pragma", "query_only(1)")
	reader = sql.OpenDB(connector{file + "?" + pragmas.Encode()})
	reader.SetMaxOpenConns(4)
	reader.SetMaxIdleConns(4)
	return writer, reader, nil
}
