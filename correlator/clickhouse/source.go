package clickhouse

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"strings"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"

	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/schema"
)

// Rows that one question fetches: few at first, since most readings are short; more as it goes on, since
// each question has to find its place again; never more than a number of bytes, by the size of the last.
const (
	firstFetch = 256
	mostFetch  = 16_384
	fetchBytes = 16 << 20
)

// earliest is the first time that a column of times can hold.
var earliest = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

// nanos is a time as a parameter.
func nanos(t int64) int64 { return max(t, earliest) }

// stretch is what is read of a source: after a position, with stamped times from `from` to `last`.
type stretch struct {
	mark, from, last int64
	after            query.Position
	most             int
	only             []string       // keys; empty is all
	low, high        query.Position // with only: where not to look
	settings         ch.Settings
}

// source asks one question, a part at a time, and keeps what was not taken yet.
type source struct {
	query       string // name of the statement, "" is reading
	condition   string // name of its condition
	params      params
	words       []string // of which each has to be there
	attrs       record.Attrs
	identifiers identity.Keys
	where       *keyLocations

	rows  []row // fetched, in order
	after query.Position
	size  int
	done  bool
}

// fill fetches the next rows where none are left. All copies at one position come together: a fetch that
// was cut off leaves its last position to the next.
func (s *source) fill(ctx context.Context, l *Reader, part stretch, most int) error {
	for len(s.rows) == 0 && !s.done {
		s.size = min(cmp.Or(s.size, firstFetch), most)
		part.after, part.most = s.after, s.size
		rows, err := s.fetch(ctx, l, part)
		switch {
		case schema.IsCode(err, memoryExceeded) && s.size > 1:
			most = s.size / 2 // records of megabytes
			s.size = most
			continue
		case err != nil:
			return err
		}
		if s.done = len(rows) < part.most; !s.done {
			last := rows[len(rows)-1].position()
			n := len(rows)
			for n > 0 && rows[n-1].position() == last {
				n--
			}
			if rows = rows[:n]; n == 0 {
				most, s.size = 2*s.size, 2*s.size // nothing but copies of one record
				continue
			}
		}
		if len(rows) > 0 {
			s.after = rows[len(rows)-1].position()
		}
		s.rows, s.size = rows, min(2*s.size, fetchBytes/size(rows)+1)
	}
	return nil
}

// size is about how many bytes one of the rows holds.
func size(rows []row) int {
	n := 0
	for _, r := range rows {
		n += len(r.Body) + len(r.StatusMessage)
		for _, attrs := range [...]record.Attrs{r.Attrs, r.Resource} {
			for _, a := range attrs {
				n += len(a.Key) + len(a.Value)
			}
		}
	}
	return 512 + n/max(1, len(rows))
}

func (r row) position() query.Position {
	return query.Position{Time: r.Time, Source: r.Service, Key: r.key}
}

// readingSettings let the engine sort by the narrow columns and read the wide ones of the rows that are
// left; in blocks of a size that does not hold much at once.
var readingSettings = ch.Settings{
	"query_plan_optimize_lazy_materialization": 1, "query_plan_max_limit_for_lazy_materialization": 0,
	"max_block_size": 1024,
}

func (s *source) fetch(ctx context.Context, l *Reader, part stretch) ([]row, error) {
	p := params{
		"mark": part.mark, "from": nanos(part.from), "last": part.last,
		"after": nanos(part.after.Time), "after_source": plain(part.after.Source), "after_key": part.after.Key,
		"only": list(part.only), "low": nanos(part.low.Time), "low_source": plain(part.low.Source), "low_key": part.low.Key,
		"high": nanos(part.high.Time), "high_source": plain(part.high.Source), "high_key": part.high.Key, "most": part.most,
	}
	for k, v := range s.params {
		p[k] = v
	}
	settings := maps.Clone(readingSettings)
	maps.Copy(settings, part.settings)
	c := choice{Condition: s.condition, Located: s.where.bind(p)}.withWords(s.words, p).withAttributes(s.attrs, p).withIdentifiers(s.identifiers, p)
	rows, err := l.run(ctx, cmp.Or(s.query, "reading"), c, p, settings)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.condition, err)
	}
	defer func() { _ = rows.Close() }()
	var out []row
	one := scanner{}
	for rows.Next() {
		key := ""
		r, err := one.scan(rows, &key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.condition, err)
		}
		out = append(out, row{r, key})
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.condition, err)
	}
	return out, nil
}

// list is an array parameter.
func list(all []string) string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = quoted(s)
	}
	return "[" + strings.Join(out, ",") + "]"
}

// plain writes text as a parameter that is no array.
func plain(s string) string {
	return strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`).Replace(s)
}

// later is the end of all times, where a selection has none.
func later(to int64) int64 {
	if to == 0 {
		return math.MaxInt64
	}
	return to - 1
}
