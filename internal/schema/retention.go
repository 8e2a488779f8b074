package schema

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Retention says for how many days each kind of evidence is kept, at least. A row goes with its week: rows that the
// store took in one calendar week expire together, up to seven days later, so that a week's part is rewritten once when
// a kind expires and dropped as a whole at the end, instead of being rewritten every few hours.
//
// Migrations have no TTL: a table of evidence gets the default's when it is made (Migration.steps), and Retain changes it.
type Retention struct {
	Raw       int `yaml:"raw_days"`       // log records and spans that name no node
	Node      int `yaml:"node_days"`      // those that name one; whether a layer was alive, by the minute
	Lifecycle int `yaml:"lifecycle_days"` // lifecycle events without heartbeats and polls; allocations and their states
	Links     int `yaml:"links_days"`     // who belonged to whom
	Verdicts  int `yaml:"verdicts_days"`  // verdicts as they were given
}

// UnmarshalYAML reads a part of a retention over the defaults: what is not stated is the default.
func (r *Retention) UnmarshalYAML(node *yaml.Node) error {
	type plain Retention
	known := []string{"raw_days", "node_days", "lifecycle_days", "links_days", "verdicts_days"}
	for i := 0; i+1 < len(node.Content); i += 2 { // a decoder's strictness does not reach in here
		if key := node.Content[i]; !slices.Contains(known, key.Value) {
			return fmt.Errorf("line %d: there is no key %s; there are %s", key.Line, key.Value, strings.Join(known, ", "))
		}
	}
	stated := plain(DefaultRetention())
	if *r != (Retention{}) {
		stated = plain(*r)
	}
	if err := node.Decode(&stated); err != nil {
		return err
	}
	*r = Retention(stated)
	return nil
}

// DefaultRetention is what new tables get. docs/sizing.md lists it.
func DefaultRetention() Retention {
	return Retention{Raw: 14, Node: 90, Lifecycle: 400, Links: 400, Verdicts: 400}
}

// maxDays is what a TTL of type Date can still express without wrapping, for a century.
const maxDays = 36500

// Validate names the key that is wrong.
func (r Retention) Validate() error {
	var errs []error
	for _, k := range []struct {
		key  string
		days int
	}{{"raw_days", r.Raw}, {"node_days", r.Node}, {"lifecycle_days", r.Lifecycle}, {"links_days", r.Links}, {"verdicts_days", r.Verdicts}} {
		if k.days < 1 || k.days > maxDays {
			errs = append(errs, fmt.Errorf("%s: %d is not within 1 and %d", k.key, k.days, maxDays))
		}
	}
	if r.Lifecycle < r.Raw || r.Lifecycle < r.Node {
		errs = append(errs, fmt.Errorf("lifecycle_days: %d is less than raw_days (%d) or node_days (%d): records without their lifecycle can't be judged", r.Lifecycle, r.Raw, r.Node))
	}
	return errors.Join(errs...)
}

// rule is what one table keeps.
type rule struct{ table, ttl string }

// rules lists the tables with evidence. The text of a TTL is as the store itself writes it, so that it can be compared.
// links_by_time and replicas are no evidence and keep what their own files say.
//
// Heartbeats and polls are plain records: liveness keeps what they say. Parts of events are rewritten when a kind expires, since
// ttl_only_drop_parts would keep a mixed part until the last of its rows expires.
func (r Retention) rules() []rule {
	return []rule{
		{"events", r.events()},
		{"liveness", week("last_ingested", max(r.Raw, r.Node))},
		{"allocations", week("last_ingested", r.Lifecycle)},
		{"labels", week("last_ingested", r.Lifecycle)},
		{"key_locations", week("last_ingested", r.Lifecycle)},
		{"states", week("ingested_time", r.Lifecycle)},
		{"steps", week("ended", r.Lifecycle)},
		{"links", week("ingested_time", r.Links)},
		{"links_by_object", week("ingested_time", r.Links)},
		{"verdicts", week("ingested_time", r.Verdicts)},
		{"supplements", fmt.Sprintf("toDateTime(ingested_time) + toIntervalDay(%d)", r.Verdicts)},
		{"assessments", fmt.Sprintf("toDateTime(ingested_time) + toIntervalDay(%d)", r.Verdicts)}, // small, and rewritten all the time
	}
}

// week ends so many days after the end of the week in which a row came.
func week(column string, days int) string {
	return fmt.Sprintf("toMonday(%s) + toIntervalDay(%d)", column, days+7)
}

func (r Retention) events() string {
	var names []string
	for _, name := range semconv.EventNames() {
		if name != semconv.EventHeartbeat && name != semconv.EventProviderPoll {
			names = append(names, literal(name))
		}
	}
	lifecycle := "name NOT IN (" + strings.Join(names, ", ") + ")"
	nameless := "(node_id = '') AND (node_instance_id = '')"
	return strings.Join([]string{
		week("ingested_time", r.Lifecycle),
		week("ingested_time", r.Raw) + " WHERE " + nameless + " AND (" + lifecycle + ")",
		week("ingested_time", r.Node) + " WHERE " + lifecycle,
	}, ", ")
}

func (u rule) statement(cluster string) string {
	table := u.table
	if cluster != "" {
		table += "_local ON CLUSTER " + cluster
	}
	return "ALTER TABLE " + table + " MODIFY TTL " + u.ttl
}

// Retain brings the tables to what r says and gives the statements that were needed; with dry it only lists them.
// Where nothing has changed nothing is done. What has expired goes with the store's next merges, not at once.
func Retain(ctx context.Context, conn driver.Conn, log *slog.Logger, r Retention, dry bool) ([]string, error) {
	return retain(ctx, conn, log, r, "", dry)
}

func retain(ctx context.Context, conn driver.Conn, log *slog.Logger, r Retention, cluster string, dry bool) ([]string, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	engines, err := engines(ctx, conn)
	if err != nil {
		return nil, err
	}
	if len(engines) == 0 {
		return nil, ErrNoTables
	}
	if err := sameKind(ctx, conn, cluster); err != nil {
		return nil, err
	}
	var done []string
	for _, u := range r.rules() {
		name := u.table
		if cluster != "" {
			name += "_local"
		}
		engine, ok := engines[name]
		if !ok || strings.Contains(engine, " TTL "+u.ttl+" SETTINGS ") {
			continue
		}
		done = append(done, u.statement(cluster))
		if dry {
			continue
		}
		if err := conn.Exec(ctx, u.statement(cluster)); err != nil {
			return done, fmt.Errorf("set the retention of %s: %w", u.table, err)
		}
		log.InfoContext(ctx, "retention set", "table", u.table, "ttl", u.ttl)
	}
	return done, nil
}

// ErrNoTables says that the database has none of ours yet.
var ErrNoTables = errors.New("the store has no tables yet: run faultline migrate")

// engines gives what the store says of each of its tables' engines, sorting keys, TTLs and settings.
func engines(ctx context.Context, conn driver.Conn) (map[string]string, error) {
	rows, err := conn.Query(ctx, "SELECT name, engine_full FROM system.tables WHERE database = currentDatabase()")
	if err != nil {
		return nil, fmt.Errorf("read tables: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := map[string]string{}
	for rows.Next() {
		var name, engine string
		if err := rows.Scan(&name, &engine); err != nil {
			return nil, fmt.Errorf("read tables: %w", err)
		}
		out[name] = engine
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read tables: %w", err)
	}
	return out, nil
}
