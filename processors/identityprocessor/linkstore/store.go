package linkstore

import (
	"context"
	"embed"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/schema"
)

//go:embed sql/*.sql
var queries embed.FS

// link is one row: a link, the service that told it and the store's stamp, in Unix microseconds.
type link struct {
	stamp   int64
	service string
	link    identity.Link
}

// recent is the end of links_by_time: the store's clock and the last inserts.
type recent struct {
	now     int64
	stamps  []int64
	visible []uint64 // rows, by stamp
}

// source is where links are followed. Times are the store's, in Unix microseconds. What is given to
// each is valid during the call.
type source interface {
	// recent lists the inserts since a stamp, but no further back than reach.
	recent(ctx context.Context, since int64, reach time.Duration) (recent, error)
	// inserts reads all that is visible of some inserts, in any order.
	inserts(ctx context.Context, stamps []int64, each func(*link)) error
	// between reads [from, to), in order.
	between(ctx context.Context, from, to int64, each func(*link)) error
	// newest gives the stamp behind the newest so many links of [from, to), from-1 where there are fewer.
	newest(ctx context.Context, from, to int64, rows int) (int64, error)
	close() error
}

// store is the source in ClickHouse.
type store struct{ conn driver.Conn }

func dial(dsn string) (*store, error) {
	o, err := schema.Options(dsn)
	if err != nil {
		return nil, fmt.Errorf("dsn: %w", err)
	}
	o.MaxOpenConns, o.MaxIdleConns = 2, 1
	conn, err := clickhouse.Open(o)
	if err != nil {
		return nil, fmt.Errorf("dsn: %w", err)
	}
	return &store{conn}, nil
}

func (s *store) close() error { return s.conn.Close() }

func (s *store) query(ctx context.Context, name string, p clickhouse.Parameters) (driver.Rows, error) {
	text, err := queries.ReadFile("sql/" + name + ".sql")
	if err != nil {
		return nil, err // the folder is embedded: a name that is not there is a mistake of ours
	}
	rows, err := s.conn.Query(clickhouse.Context(ctx, clickhouse.WithParameters(p)), string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows, nil
}

func (s *store) recent(ctx context.Context, since int64, reach time.Duration) (recent, error) {
	var r recent
	rows, err := s.query(ctx, "recent", clickhouse.Parameters{"since": moment(since), "reach": fmt.Sprint(reach.Microseconds())})
	if err != nil {
		return r, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&r.now, &r.stamps, &r.visible); err != nil {
			return r, fmt.Errorf("recent: %w", err)
		}
	}
	return r, rows.Err()
}

func (s *store) inserts(ctx context.Context, stamps []int64, each func(*link)) error {
	text := make([]string, len(stamps))
	for i, at := range stamps {
		text[i] = "'" + moment(at) + "'"
	}
	return s.links(ctx, "inserts", clickhouse.Parameters{"stamps": "[" + strings.Join(text, ",") + "]"}, each)
}

func (s *store) between(ctx context.Context, from, to int64, each func(*link)) error {
	return s.links(ctx, "between", clickhouse.Parameters{"from": moment(from), "to": moment(to)}, each)
}

func (s *store) newest(ctx context.Context, from, to int64, n int) (int64, error) {
	rows, err := s.query(ctx, "newest", clickhouse.Parameters{"from": moment(from), "to": moment(to), "rows": fmt.Sprint(n)})
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	behind := from - 1
	for rows.Next() {
		if err := rows.Scan(&behind); err != nil {
			return 0, fmt.Errorf("newest: %w", err)
		}
	}
	return behind, rows.Err()
}

func (s *store) links(ctx context.Context, name string, p clickhouse.Parameters, each func(*link)) error {
	rows, err := s.query(ctx, name, p)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	var l link
	for rows.Next() {
		var subject, object, kind string
		if err := rows.Scan(&l.stamp, &l.service, &subject, &l.link.Subject.ID, &object, &l.link.Object.ID, &kind, &l.link.From, &l.link.To); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		// What is none that this binary knows is refused by the index, and counted.
		l.link.Subject.Kind, l.link.Object.Kind, l.link.Type = identity.ParseKind(subject), identity.ParseKind(object), identity.ParseLinkType(kind)
		each(&l)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// notYet says whether all that is missing is the database or its tables: the store is new.
func notYet(err error) bool {
	const unknownTable, unknownDatabase = 60, 81 // ClickHouse's error codes
	return schema.IsCode(err, unknownTable) || schema.IsCode(err, unknownDatabase)
}

// moment is a time as a DateTime64(6) parameter.
func moment(micros int64) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02 15:04:05.000000")
}
