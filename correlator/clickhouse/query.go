package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
)

// params are the typed parameters of a query, as the server reads them.
type params map[string]any

// narrow are the statements that find a few rows by their order. They run on one thread each: more of them are handed granules of
// one part each, wait for a core that a merge has, and the slowest decides (docs/benchmarks.md, "The operator's view").
var narrow = []string{
	"allocation_known", "supplement", "locate", "locate_linked", "allocations_of_keys", "events_placed", "labels_of", "kinds_of", "mark",
	"observed_links", "ingested_links_of", "ingested_links_to", "occupancy_of", "last_of_nodes",
}

// query runs a statement that is always the same.
func (l *Reader) query(ctx context.Context, name string, p params) (driver.Rows, error) {
	return l.run(ctx, name, choice{}, p, nil)
}

// run composes a statement and runs it with the store's settings for it.
func (l *Reader) run(ctx context.Context, name string, c choice, p params, settings ch.Settings) (driver.Rows, error) {
	text, err := statement(name, c)
	if err != nil {
		return nil, err
	}
	if slices.Contains(narrow, name) {
		settings = maps.Clone(settings)
		if settings == nil {
			settings = ch.Settings{}
		}
		settings["max_threads"] = 1
	}
	rows, err := l.ask(ctx, text, p, settings)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return rows, nil
}

// ask runs a statement with its parameters and the store's settings for it.
func (l *Reader) ask(ctx context.Context, text string, p params, settings ch.Settings) (driver.Rows, error) {
	typed := ch.Parameters{}
	for k, v := range p {
		typed[k] = fmt.Sprint(v)
	}
	options := []ch.QueryOption{ch.WithParameters(typed)}
	if len(settings) > 0 {
		options = append(options, ch.WithSettings(settings))
		if _, limited := settings[maxTime]; limited {
			ctx = undated{ctx}
		}
	}
	release, err := l.turns.take(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := l.conn.Query(ch.Context(ctx, options...), text)
	if err != nil {
		release()
		return nil, plainly(err)
	}
	return turnRows{rows, release}, nil
}

// plainly leaves the address out of what a request failed with: it holds the whole statement's parameters, twenty thousand characters.
func plainly(err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		return request.Err
	}
	return err
}

const memoryExceeded = 241 // the store's error code

// moment is a time as a DateTime64(9) parameter, clipped to what the type can hold.
func moment(t int64) string {
	latest := time.Date(2261, 12, 31, 0, 0, 0, 0, time.UTC).UnixNano()
	earliest := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	return time.Unix(0, max(earliest, min(t, latest))).UTC().Format("2006-01-02 15:04:05.000000000")
}

// quoted writes text as an element of an array parameter.
func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\t", `\t`, "\n", `\n`).Replace(s) + "'"
}

// texts are keys as the keys column holds them: ["kind:id", …].
func texts(keys []identity.Key) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = quoted(k.Kind.String() + ":" + k.ID)
	}
	return "[" + strings.Join(out, ",") + "]"
}

func pairs(keys []identity.Key) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = "(" + quoted(k.Kind.String()) + "," + quoted(k.ID) + ")"
	}
	return "[" + strings.Join(out, ",") + "]"
}

func (l *Reader) links(ctx context.Context, query string, keys []identity.Key, asOf int64) ([]identity.Link, error) {
	rows, err := l.query(ctx, query, params{"keys": pairs(keys), "as_of": moment(asOf), "most": maxLinks})
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var out []identity.Link
	for rows.Next() {
		var subject, object, kind string
		f := identity.Link{}
		if err := rows.Scan(&subject, &f.Subject.ID, &object, &f.Object.ID, &kind, &f.From, &f.To); err != nil {
			return nil, fmt.Errorf("%s: %w", query, err)
		}
		f.Subject.Kind, f.Object.Kind, f.Type = identity.ParseKind(subject), identity.ParseKind(object), identity.ParseLinkType(kind)
		out = append(out, f)
	}
	return out, rows.Err()
}

// records runs a query whose columns make a record.
func (l *Reader) records(ctx context.Context, query string, p params) ([]*record.Record, error) {
	rows, err := l.query(ctx, query, p)
	if err != nil {
		return nil, err
	}
	return scanAll(query, rows)
}

func scanAll(query string, rows driver.Rows) ([]*record.Record, error) {
	defer func() { _ = rows.Close() }()
	var out []*record.Record
	s := scanner{}
	for rows.Next() {
		r, err := s.scan(rows)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", query, err)
		}
		out = append(out, r)
	}
	return out, rows.Err()
}
