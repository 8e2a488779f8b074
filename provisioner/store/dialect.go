package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// dialect is what differs between the databases. Everything else is written once, in SQLite's SQL:
// times are nanoseconds in an INTEGER, truth is 0 or 1, placeholders are ? or ?1.
type dialect struct {
	system    string // db.system.name of OpenTelemetry's conventions
	shared    bool   // several processes, and several transactions of one, write at a time
	open      func(ctx context.Context, target string) (writer, reader *sql.DB, err error)
	query     func(string) string                               // a statement in this dialect
	schema    func(string) string                               // a migration in this dialect
	lock      func(*sql.Tx) error                               // keeps two that migrate apart
	retryable func(error) bool                                  // the transaction lost against another one and may be run again
	sendLast  func(c *sql.Conn, query string, args []any) error // has a statement sent with the commit; nil: it is run at once
	listen    func(context.Context, *Store) (notifier, error)
}

// dialectOf tells a DSN from the path of a file.
func dialectOf(target string) *dialect {
	if strings.HasPrefix(target, "postgres://") || strings.HasPrefix(target, "postgresql://") {
		return &onPostgres
	}
	return &onSQLite
}

// Redacted is the target of Open without a password, for logs.
func Redacted(target string) string {
	if u, err := url.Parse(target); err == nil && u.User != nil {
		return u.Redacted()
	}
	return target
}

func same(text string) string { return text }

var (
	placeholders = regexp.MustCompile(`\?(\d*)`)
	indexHints   = regexp.MustCompile(`\s+INDEXED BY \w+`)
)

// numbered turns ? and ?1 into $1, and takes SQLite's hints out. No statement of ours has a question mark
// in a literal.
func numbered(query string) string {
	n := 0
	return placeholders.ReplaceAllStringFunc(indexHints.ReplaceAllString(query, ""), func(p string) string {
		if p != "?" {
			return "$" + p[1:]
		}
		n++
		return "$" + strconv.Itoa(n)
	})
}

// statements remembers what query made of each statement.
type statements struct {
	dialect *dialect
	known   sync.Map
}

func (s *statements) of(query string) string {
	if text, ok := s.known.Load(query); ok {
		return text.(string)
	}
	text := s.dialect.query(query)
	s.known.Store(query, text)
	return text
}

// bind is what both databases take: truth as a number, and text without the bytes that PostgreSQL's
// text cannot hold. A provider's message may have them.
func bind(args []any) []any {
	for i, a := range args {
		switch v := a.(type) {
		case bool:
			args[i] = 0
			if v {
				args[i] = 1
			}
		case string:
			if strings.ContainsRune(v, 0) {
				v = strings.ReplaceAll(v, "\x00", "\uFFFD")
			}
			args[i] = strings.ToValidUTF8(v, "\uFFFD")
		}
	}
	return args
}

// errTooOften is the error of a transaction that lost every time.
var errTooOften = errors.New("gave way to other transactions too often")

func tooOften(err error) error { return fmt.Errorf("%w: %w", errTooOften, err) }
