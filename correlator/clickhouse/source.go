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

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
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
	after            correlator.Position
	most             int
	only             []string            // keys; empty is all
	low, high        correlator.Position // with only: where not to look
	settings         ch.Settings
}

// source asks one question, a part at a time, and keeps what was not taken yet.
type source struct {
	query  string // name of the query, "" is reading
	whose  string // name of the condition
	params params
	words  []string     // of which each has to be there, for a condition on each
	attrs  record.Attrs // likewise
	lies   *whereabouts

	rows  []row // fetched, in order
	after correlator.Position
	size  int
	done  bool
}

// fill fetches the next rows where none are left. All copies at one position come together: a fetch that
// was cut off leaves its last position to the next.
func (s *source) fill(ctx context.Context, l *Library, part stretch, most int) error {
	for len(s.rows) == 0 && !s.done {
		s.size = min(cmp.Or(s.size, firstFetch), most)
		part.after, part.most = s.after, s.size
		rows, err := s.fetch(ctx, l, part)
		switch {
		case isCode(err, memoryExceeded) && s.size > 1:
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

func (r row) position() correlator.Position {
	return correlator.Position{Time: r.Time, Source: r.Service, Key: r.key}
}

// readingSettings let the engine sort by the narrow columns and read the wide ones of the rows that are
// left; in blocks of a size that does not hold much at once.
var readingSettings = ch.Settings{
	"query_plan_optimize_lazy_materialization": 1, "query_plan_max_limit_for_lazy_materialization": 0,
	"max_block_size": 1024,
}

func (s *source) fetch(ctx context.Context, l *Library, part stretch) ([]row, error) {
	text, err := statement(cmp.Or(s.query, "reading"), s.whose)
	if err != nil {
		return nil, err
	}
	p := params{
		"mark": part.mark, "from": nanos(part.from), "last": part.last,
		"after": nanos(part.after.Time), "after_source": plain(part.after.Source), "after_key": part.after.Key,
		"only": list(part.only), "low": nanos(part.low.Time), "low_source": plain(part.low.Source), "low_key": part.low.Key,
		"high": nanos(part.high.Time), "high_source": plain(part.high.Source), "high_key": part.high.Key, "most": part.most,
	}
	for k, v := range s.params {
		p[k] = v
	}
	text = s.lies.into(everyAttribute(forEach(text, s.words, p), s.attrs, p), p)
	settings := maps.Clone(readingSettings)
	maps.Copy(settings, part.settings)
	rows, err := l.ask(ctx, text, p, settings)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.whose, err)
	}
	defer func() { _ = rows.Close() }()
	var out []row
	one := scanner{}
	for rows.Next() {
		key := ""
		r, err := one.scan(rows, &key)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.whose, err)
		}
		out = append(out, row{r, key})
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", s.whose, err)
	}
	return out, nil
}

// statement puts a condition into a query; both are files.
func statement(name, whose string) (string, error) {
	text, err := queries.ReadFile("sql/" + name + ".sql")
	if err != nil {
		return "", err
	}
	condition, err := queries.ReadFile("sql/" + whose + ".sql")
	if err != nil {
		return "", err
	}
	return strings.Replace(string(text), "/* whose */\n", strings.TrimSpace(string(condition))+"\n", 1), nil
}

// forEach repeats the lines that end in "-- each" for every word, since indexes of words understand one at a time.
func forEach(text string, words []string, p params) string {
	return repeated(text, "-- each\n", len(words), func(i int) *strings.Replacer {
		name := fmt.Sprintf("word%d", i)
		p[name] = plain(words[i])
		return strings.NewReplacer("{word:", "{"+name+":")
	})
}

// everyAttribute repeats the lines that end in "-- every attribute".
func everyAttribute(text string, attrs record.Attrs, p params) string {
	return repeated(text, "-- every attribute\n", len(attrs), func(i int) *strings.Replacer {
		name, value := fmt.Sprintf("name%d", i), fmt.Sprintf("value%d", i)
		p[name], p[value] = plain(attrs[i].Key), plain(attrs[i].Value)
		return strings.NewReplacer("{name:", "{"+name+":", "{value:", "{"+value+":")
	})
}

// repeated has the lines that end in a mark n times, each with the parameters' names of its turn.
func repeated(text, mark string, n int, names func(i int) *strings.Replacer) string {
	turns := make([]*strings.Replacer, n)
	for i := range turns {
		turns[i] = names(i)
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, mark) {
			out.WriteString(line)
			continue
		}
		for _, turn := range turns {
			out.WriteString(turn.Replace(line))
		}
	}
	return out.String()
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
