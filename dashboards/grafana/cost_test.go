package grafana

import (
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/storebench"
)

// rowsVariable is how many records are filled in to be measured; largeVariable is the DSN of a store that has them already.
const (
	rowsVariable  = "FAULTLINE_GRAFANA_ROWS"
	largeVariable = "FAULTLINE_GRAFANA_DSN"
)

// narrow are the conditions of which a statement about records has one: an allocation's ranges, or where an identifier's records lie.
var narrow = []string{"WHERE allocation_id = ${allocation_id:sqlstring} AND minute >= heard.1", "WHERE allocation_id IN (SELECT arrayJoin(lies.1)) AND minute >= lies.2"}

// No statement scans records.
func TestRecordsAreReadByRange(t *testing.T) {
	about := 0
	for _, q := range statements(t) {
		if !regexp.MustCompile(`FROM (events|records|otel_\w+)\b`).MatchString(q.RawSQL) {
			continue
		}
		about++
		if !slices.ContainsFunc(narrow, func(c string) bool { return strings.Contains(q.RawSQL, c) }) {
			t.Errorf("%s: %s reads records of no allocation and no node:\n%s", q.dashboard, q.panel, q.RawSQL)
		}
	}
	if about < 5 {
		t.Errorf("%d statements about records: are they written in another way?", about)
	}
}

// kept fills what a correlator keeps of ten million records, a hundred an allocation: three verdicts each, ten steps, a provider.
var kept = []string{
	`INSERT INTO verdicts (allocation_id, as_of, rules_version, outcome, layer, mechanism, answer, ingested_time)
SELECT toString(reinterpretAsUUID(reverse(unhex(substring(hex(MD5(toString(intDiv(number, 3)))), 1, 32))))), at, 'v', if(number % 10 = 0, 'attributed', 'none'),
    if(number % 10 = 0, ['cert', 'provider', 'node', 'workflow'][1 + number % 4], ''), if(number % 10 = 0, 'expired', ''),
    concat('{"why":"records","assessment":{"state":"provisioning",', if(number % 20 = 0, '"stuck":{"what":"task k is queued and not claimed","owes":"node_agent","owner":{"team":"nodes"},"deadline":"2026-11-12T00:00:00Z"},', ''),
        '"verdict":{"outcome":"', if(number % 10 = 0, 'attributed', 'none'), '","faults":[],"explanation":"', repeat(hex(MD5(toString(number))), 20), '"}}}'), at
FROM (SELECT number, fromUnixTimestamp64Nano(toInt64(1794268800000000000 + number * 3456000000), 'UTC') AS at FROM numbers({from:UInt64}, {count:UInt64}))`,
	`INSERT INTO labels SELECT toString(reinterpretAsUUID(reverse(unhex(substring(hex(MD5(toString(number))), 1, 32))))), 'provider', if(number % 2 = 0, 'aap', 'eda'),
    fromUnixTimestamp64Nano(toInt64(1794268800000000000 + number * 10368000000), 'UTC'), toDateTime(1794268800 + intDiv(number * 10368, 1000))
FROM numbers(intDiv({from:UInt64}, 3), intDiv({count:UInt64}, 3))`,
	`INSERT INTO steps (step, ended, allocation_id, part, took)
SELECT ['job:provision', 'state:requested', 'state:reserved', 'state:provisioning', 'task.claim:prepare', 'task.run:prepare', 'outbox.publish', 'state:active', 'job:release', 'state:releasing'][1 + number % 10],
    fromUnixTimestamp64Nano(toInt64(1794268800000000000 + number * 1036800000), 'UTC'), toString(reinterpretAsUUID(reverse(unhex(substring(hex(MD5(toString(intDiv(number, 10)))), 1, 32))))),
    concat(if(intDiv(number, 10) % 2 = 0, 'aap', 'eda'), '/prod/job/', toString(number)), toInt64(1000000000 + cityHash64(number) % 60000000000)
FROM numbers(intDiv({from:UInt64} * 10, 3), intDiv({count:UInt64} * 10, 3))`,
}

const (
	begins    = 1794268800 // 2026-11-10, as in the statements above
	keptParts = 24         // inserts, of half a day each at ten million records
)

// TestRowsRead measures what each statement reads: those of records in a store that has them, where it only reads, those of what is kept in
// one of its own. It prints the table of README.md.
func TestRowsRead(t *testing.T) {
	dsn := os.Getenv(largeVariable)
	if n, err := strconv.Atoi(os.Getenv(rowsVariable)); err == nil && dsn == "" {
		dsn = fillRecords(t, n)
	}
	if dsn == "" {
		t.Skip(rowsVariable + " is not set; make bench-dashboards sets it")
	}
	large, err := schema.Open(t.Context(), dsn)
	must(t, err)
	defer func() { _ = large.Close() }()
	ownDSN := embeddedtest.DSN(t)
	var records uint64
	must(t, large.QueryRow(t.Context(), "SELECT count() FROM events").Scan(&records))
	own := fillKept(t, ownDSN, int(records)) //nolint:gosec // millions
	var first, last time.Time
	must(t, large.QueryRow(t.Context(), "SELECT min(first_seen), max(last_seen) FROM allocations").Scan(&first, &last))
	whole := window{first, last, 30 * time.Minute}
	samples := examples(t, large)
	mine := examples(t, own)

	type line struct{ dashboard, panel, text string }
	var lines []line
	most := regexp.MustCompile(`\b(?:FROM|JOIN) (verdicts|assessments|steps)\b`)
	from := regexp.MustCompile(`\bFROM ([a-z_.]+)`)
	list := statements(t)
	for i := range list {
		if list[i].of.Title != "" {
			list[i].panel = list[i].of.Title
		}
	}
	for _, q := range list {
		at, of := dsn, samples
		if most.MatchString(q.RawSQL) {
			at, of = ownDSN, mine
		}
		engine, err := storebench.NewEngine(at)
		must(t, err)
		database := at[strings.LastIndex(at, "/")+1:]
		var six, all []uint64
		var took []time.Duration
		returned := uint64(0)
		for _, e := range of {
			v := chosen()
			v["allocation_id"], v["node_id"] = []string{e.allocation}, []string{e.node}
			for range 2 { // the first time warms up
				hours := measure(t, engine, database, window{e.at.Add(-3 * time.Hour), e.at.Add(3 * time.Hour), time.Minute}.sql(t, v.variables(t, q.RawSQL)))
				returned, six, took = max(returned, hours.Returned), append(six, hours.Rows), append(took, hours.Took)
			}
			all = append(all, measure(t, engine, database, whole.sql(t, v.variables(t, q.RawSQL))).Rows)
		}
		engine.Close()
		slices.Sort(six)
		slices.Sort(all)
		slices.Sort(took)
		var tables []string
		for _, m := range from.FindAllStringSubmatch(q.RawSQL, -1) {
			if !slices.Contains(tables, m[1]) {
				tables = append(tables, m[1])
			}
		}
		slices.Sort(tables)
		lines = append(lines, line{q.dashboard, q.panel, fmt.Sprintf("| %s | %s | `%s` | %d | %d | %d | %.0f |", strings.TrimSuffix(q.dashboard, ".json"), q.panel,
			strings.Join(tables, "` `"), returned, six[len(six)/2], all[len(all)/2], float64(took[len(took)/2].Microseconds())/1000)})
		if strings.Contains(q.RawSQL, "FROM events") && all[len(all)/2] > 200_000 {
			t.Errorf("%s: %s reads %d rows", q.dashboard, q.panel, all[len(all)/2])
		}
	}
	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(a.dashboard+a.panel, b.dashboard+b.panel) })
	fmt.Println("| dashboard | panel | reads | rows returned | rows read, 6 h | rows read, 12 days | ms, 6 h |\n|---|---|---|---|---|---|---|")
	for _, l := range lines {
		fmt.Println(l.text)
	}
}

// example is an allocation to ask about, with a node of its own and a time in its life.
type example struct {
	allocation, node string
	at               time.Time
}

// examples are five allocations, the same every time.
func examples(t *testing.T, conn driver.Conn) (out []example) {
	t.Helper()
	rows, err := conn.Query(t.Context(), `SELECT allocation_id, min(subject), min(at) FROM (
		SELECT object_id AS allocation_id, subject_id AS subject, fromUnixTimestamp64Nano(valid_from, 'UTC') AS at FROM links_by_object WHERE object_kind = 'allocation' AND subject_kind = 'node' AND type = 'open'
		UNION ALL SELECT allocation_id, '', as_of FROM verdicts) GROUP BY allocation_id ORDER BY cityHash64(allocation_id) LIMIT 5`)
	must(t, err)
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var e example
		must(t, rows.Scan(&e.allocation, &e.node, &e.at))
		out = append(out, e)
	}
	must(t, rows.Err())
	if len(out) != 5 {
		t.Fatalf("%d allocations", len(out))
	}
	return out
}

// measure gives how many rows a statement returned and read, by the engine's own counters, and how long it took.
func measure(t *testing.T, e *storebench.Engine, database, text string) storebench.Cost {
	t.Helper()
	_, cost, err := e.Ask(t.Context(), database, text, map[string]string{"use_query_condition_cache": "0"})
	must(t, err)
	return cost
}

// fillRecords makes a store with records of a realistic shape.
func fillRecords(t *testing.T, rows int) string {
	t.Helper()
	dsn := embeddedtest.DSN(t)
	conn, err := schema.Open(t.Context(), dsn)
	must(t, err)
	defer func() { _ = conn.Close() }()
	must(t, schema.Migrate(t.Context(), conn, slog.New(slog.DiscardHandler)))
	shape := storebench.Shape{Seed: 1, Rows: rows, Start: time.Unix(begins, 0)}
	_, err = storebench.Fill(t.Context(), dsn, shape, 16_384, func(n int, took time.Duration) { t.Logf("%d records after %s", n, took) })
	must(t, err)
	return dsn
}

// fillKept makes a store with what is kept of so many records.
func fillKept(t *testing.T, dsn string, records int) driver.Conn {
	t.Helper()
	conn, err := schema.Open(t.Context(), dsn)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	must(t, schema.Migrate(t.Context(), conn, slog.New(slog.DiscardHandler)))
	of := records * 3 / 100 / keptParts
	for part := range keptParts {
		for _, text := range kept {
			ctx := clickhouse.Context(t.Context(), clickhouse.WithParameters(clickhouse.Parameters{"from": strconv.Itoa(part * of), "count": strconv.Itoa(of)}))
			if err := conn.Exec(ctx, text); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
		}
	}
	return conn
}
