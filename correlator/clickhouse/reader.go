package clickhouse

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

// Bounds of one record set: an allocation of a million records is read in bounded memory, its beginning
// first.
const (
	maxRecords = 200_000
	maxContext = 20_000
	maxLinks   = 100_000
)

// around is how much of a node's and of the platform's telemetry is read before and after.
const around = 10 * time.Minute

// Reader is a store as a query.Store.
type Reader struct {
	conn    driver.Conn
	profile *profile.Profile
	limits  Limits
	pattern string // see WithWords
	replica string // see WithReplica
	said    *saidAt
	turns   turns

	cache *durationCache
}

// New reads from an open store; profile says which identifiers stand in a record.
func New(conn driver.Conn, p *profile.Profile) *Reader {
	return &Reader{conn: conn, profile: p, limits: DefaultLimits(), cache: &durationCache{}, said: &saidAt{}, turns: newTurns(conn.Stats().MaxOpenConns)}
}

// WithWords gives a reader that reads what belongs to nobody and holds one of these words, in lower case, whatever its severity is.
func (l *Reader) WithWords(words []string) *Reader {
	out := *l
	out.pattern = anyOf(words)
	return &out
}

// WithReplica gives a reader that writes verdicts under a replica's name.
func (l *Reader) WithReplica(name string) *Reader {
	out := *l
	out.replica = name
	return &out
}

var _ query.Store = (*Reader)(nil)

// Resolve implements query.Reader.
func (l *Reader) Resolve(ctx context.Context, id string) ([]string, error) {
	if !identity.ValidID(id) {
		return nil, nil
	}
	var keys []identity.Key
	for k := range identity.Kinds() {
		keys = append(keys, identity.Key{Kind: k, ID: id})
	}
	where, err := l.locateLinked(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", id, err)
	}
	if where.empty() {
		return l.linked(ctx, keys)
	}
	if only := where.only(); only != "" {
		return []string{only}, nil // whether records carry the identifier or a link leads from it: there is nothing to put in order
	}
	p := params{"keys": texts(keys)}
	rows, err := l.run(ctx, "allocations_of_keys", choice{Located: where.bind(p)}, p, nil)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", id, err)
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var allocation string
		var last time.Time
		if err := rows.Scan(&allocation, &last); err != nil {
			return nil, fmt.Errorf("resolve %s: %w", id, err)
		}
		out = append(out, allocation)
	}
	if err := rows.Err(); err != nil || len(out) > 0 {
		return out, err
	}
	return l.linked(ctx, keys)
}

// linked follows the links of an identifier that no stamped record carries.
func (l *Reader) linked(ctx context.Context, keys []identity.Key) ([]string, error) {
	c := newClosure(l, "", forever)
	if err := c.follow(ctx, keys); err != nil {
		return nil, err
	}
	return c.allocations(keys), nil
}

// RecordSet implements query.Reader.
func (l *Reader) RecordSet(ctx context.Context, allocation string, asOf int64) (*query.RecordSet, error) {
	s, err := l.recordSet(ctx, allocation, asOf)
	if err != nil {
		return nil, fmt.Errorf("read the records of %s: %w", allocation, err)
	}
	return s, nil
}

func (l *Reader) recordSet(ctx context.Context, allocation string, asOf int64) (*query.RecordSet, error) {
	until := forever
	if asOf != 0 {
		until = asOf
	}
	c, s := newClosure(l, allocation, until), &query.RecordSet{}
	begun := parallel[[]*record.Record]{
		func(ctx context.Context) ([]*record.Record, error) {
			return l.records(ctx, "events_of_allocation", params{"allocation": plain(allocation), "as_of": moment(until), "most": maxRecords})
		},
		func(ctx context.Context) (_ []*record.Record, err error) {
			s.Now, err = l.newest(ctx)
			return nil, err
		},
		func(ctx context.Context) (_ []*record.Record, err error) {
			s.Durations, err = l.durations(ctx, asOf)
			return nil, err
		},
	}
	own, err := begun.run(ctx)
	if err != nil {
		return nil, err
	}
	s.Records = own[0]
	if err := c.follow(ctx, append(c.named(s.Records), identity.Key{Kind: identity.Allocation, ID: allocation})); err != nil {
		return nil, err
	}
	s.Links = c.links
	if keys := c.keys(); len(keys) > 0 {
		late, err := l.late(ctx, keys, allocation, until)
		if err != nil {
			return nil, err
		}
		s.Records = append(s.Records, late...)
	}
	if len(s.Records) == 0 {
		return nil, query.ErrUnknown
	}
	reach := l.reach(c, s, asOf)
	nodes := l.nodes(c.nodes(), s.Records)
	around, err := l.surroundings(c, nodes, reach).run(ctx)
	if err != nil {
		return nil, err
	}
	s.Records = unique(slices.Concat(append([][]*record.Record{s.Records}, around...)...))
	circumstances, err := l.circumstances(c, s, asOf, nodes, reach).run(ctx)
	if err != nil {
		return nil, err
	}
	s.Records = unique(slices.Concat(append([][]*record.Record{s.Records}, circumstances...)...))
	if err := c.follow(ctx, c.ofNobody(slices.Concat(circumstances...))); err != nil {
		return nil, err
	}
	s.Links = c.links
	return s, nil
}

// surroundings ask for what was said around an allocation's own records by its nodes, and for what was done.
func (l *Reader) surroundings(c *closure, nodes []string, reach period) (all parallel[[]*record.Record]) {
	ask := func(query string, p params) {
		p["to"], p["as_of"] = moment(reach.to), moment(c.asOf)
		all = append(all, func(ctx context.Context) ([]*record.Record, error) { return l.records(ctx, query, p) })
	}
	if len(nodes) > 0 {
		ask("events_of_nodes", params{"nodes": list(nodes), "keys": texts(nodeKeys(nodes)), "allocation": plain(c.allocation), "most": maxRecords, "from": moment(reach.from - (complained - int64(around)))})
	}
	ask("actions", params{"most": maxContext, "from": moment(reach.from)})
	return all
}

func nodeKeys(nodes []string) []identity.Key {
	out := make([]identity.Key, len(nodes))
	for i, id := range nodes {
		out[i] = identity.Key{Kind: identity.Node, ID: id}
	}
	return out
}

// reach is the time of a story, and of the nodes that it held, or still holds.
func (l *Reader) reach(c *closure, s *query.RecordSet, asOf int64) period {
	from, to := l.window(s, asOf)
	for _, i := range c.held() {
		from, to = min(from, max(i.From, from-longest)-int64(around)), max(to, min(i.To, s.Now, c.asOf)+int64(around))
	}
	return period{from, to}
}

// anyOf is a regular expression that finds any of some words, whatever their case; "" of none.
func anyOf(words []string) string {
	if len(words) == 0 {
		return ""
	}
	quotes := make([]string, len(words))
	for i, w := range words {
		quotes[i] = regexp.QuoteMeta(w)
	}
	return "(?i)" + strings.Join(quotes, "|")
}

// nodes are those that links name, and those that the allocation's records do: a task says where it is done, and binds nobody to it.
func (l *Reader) nodes(linked []string, records []*record.Record) []string {
	for _, r := range records {
		if node := l.profile.Keys(r).First(identity.Node); node != "" {
			linked = append(linked, node)
		}
	}
	slices.Sort(linked)
	return slices.Compact(linked)
}

// late reads what carries one of these identifiers and was written before anyone knew whose it is.
func (l *Reader) late(ctx context.Context, keys []identity.Key, allocation string, asOf int64) ([]*record.Record, error) {
	where, err := l.locate(ctx, lookup{keys: keys, but: allocation, while: always})
	if err != nil || where.empty() {
		return nil, err
	}
	p := params{"keys": texts(keys), "allocation": plain(allocation), "as_of": moment(asOf), "most": maxRecords}
	rows, err := l.run(ctx, "events_by_keys", choice{Located: where.bind(p)}, p, nil)
	if err != nil {
		return nil, err
	}
	return scanAll("events_by_keys", rows)
}

// longest bounds how far before an allocation's first record an assignment of its node is believed.
const longest = int64(400 * 24 * time.Hour)

// window is the time of a story by its own records: from a little before the first to a little after the
// last. Nodes that it held, or still holds, extend it.
func (l *Reader) window(s *query.RecordSet, asOf int64) (from, to int64) {
	from, to = s.Records[0].Time, s.Records[0].Time
	for _, r := range s.Records {
		from, to = min(from, r.Time), max(to, r.Time, min(r.End, s.Now))
	}
	from, to = from-int64(around), to+int64(around)
	if asOf != 0 {
		to = min(to, asOf)
	}
	return from, to
}

// unique drops rows that were fetched by two ways. Records that were delivered twice stay: the
// the dataset counts them.
func unique(in []*record.Record) []*record.Record {
	type row struct {
		key                string
		observed, ingested int64
	}
	seen := make(map[row]bool, len(in))
	out := in[:0]
	for _, r := range in {
		k := row{r.Key(), r.Observed, r.Ingested}
		if !seen[k] {
			seen[k] = true
			out = append(out, r)
		}
	}
	return out
}

func (l *Reader) newest(ctx context.Context) (int64, error) {
	rows, err := l.query(ctx, "newest", nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	var at time.Time
	for rows.Next() {
		if err := rows.Scan(&at); err != nil {
			return 0, err
		}
	}
	return at.UnixNano(), rows.Err()
}

// List implements query.Reader.
func (l *Reader) List(ctx context.Context, q query.ListQuery) ([]query.Listed, error) {
	rows, err := l.query(ctx, "list", params{"state": plain(q.State), "most": q.Limit})
	if err != nil {
		return nil, fmt.Errorf("list allocations: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := []query.Listed{}
	for rows.Next() {
		var one query.Listed
		var state string
		var since *time.Time
		var last time.Time
		if err := rows.Scan(&one.ID, &state, &since, &last); err != nil {
			return nil, fmt.Errorf("list allocations: %w", err)
		}
		one.LastSeen = correlator.Time(last.UnixNano())
		if state != "" && since != nil {
			at := correlator.Time(since.UnixNano())
			one.State, one.Since = &state, &at
		}
		out = append(out, one)
	}
	return out, rows.Err()
}
