package store

import (
	"context"
	"database/sql"
	"errors"
	"regexp"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// onPostgres is a server that several replicas share. Whoever changes anything of an allocation locks the
// allocation's row first, so that all of them see what they would see if they took turns.
var onPostgres = dialect{
	system: "postgresql",
	shared: true,
	open:   openPostgres,
	query:  numbered,
	schema: postgresSchema,
	lock: func(tx *sql.Tx) error {
		_, err := tx.Exec(`SELECT pg_advisory_xact_lock(5063180521)`) // any number that nobody else uses
		return err
	},
	retryable: lostRace,
	sendLast:  withCommit,
	listen:    listen,
}

// connections of one process.
const connections = 16

// sessionSettings bound what a replica that hangs can hold up: its locks go with its transaction.
var sessionSettings = map[string]string{
	"application_name": "faultline-provisioner", "statement_timeout": "30000", "lock_timeout": "10000",
	"idle_in_transaction_session_timeout": "10000",
}

func openPostgres(_ context.Context, dsn string) (writer, reader *sql.DB, err error) {
	c, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, nil, err // without the password, which pgx takes out
	}
	for key, value := range sessionSettings {
		if _, set := c.RuntimeParams[key]; !set {
			c.RuntimeParams[key] = value
		}
	}
	open := func() *sql.DB {
		db := sql.OpenDB(postgresConnector{stdlib.GetConnector(*c)})
		db.SetMaxOpenConns(connections / 2)
		db.SetMaxIdleConns(connections / 2)
		return db
	}
	return open(), open(), nil
}

// The few words in which PostgreSQL's tables differ from SQLite's.
var (
	wholeNumber = regexp.MustCompile(`\bINTEGER\b`)
	rowNumber   = regexp.MustCompile(`\bINTEGER PRIMARY KEY( AUTOINCREMENT)?`)
	bytesColumn = regexp.MustCompile(`\bBLOB\b`)
	strictTable = regexp.MustCompile(`\)\s*STRICT\b`)
)

func postgresSchema(text string) string {
	text = rowNumber.ReplaceAllString(text, "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
	text = wholeNumber.ReplaceAllString(text, "BIGINT")
	text = bytesColumn.ReplaceAllString(text, "BYTEA")
	return strictTable.ReplaceAllString(text, ")")
}

// lostRace: a deadlock, a serialization failure, a key that another transaction wrote first, a lock that
// was not to be had. Run again, the transaction sees what the other one did.
func lostRace(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case "40001", "40P01", "23505", "55P03":
		return true
	}
	return false
}
