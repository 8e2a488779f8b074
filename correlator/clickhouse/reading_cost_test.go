package clickhouse_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/schema"
)

// cost is what the engine counted while something was done.
type cost struct{ statements, evidenceRows, evidenceBytes, otherRows uint64 }

// meter adds up the engine's own counters of the statements that ran in between. The DSN asks for exact
// ones.
type meter struct {
	t    testing.TB
	dsn  *url.URL
	seen map[string]bool
}

func newMeter(t testing.TB) (*meter, driver.Conn) {
	t.Helper()
	u, err := url.Parse(embeddedtest.DSN(t))
	must(t, err)
	u.RawQuery = "wait_end_of_query=1"
	conn, err := schema.Open(t.Context(), u.String())
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	must(t, schema.Migrate(t.Context(), conn, slog.New(slog.DiscardHandler)))
	return &meter{t, u, nil}, conn
}

type statement struct {
	ID        string `json:"query_id"`
	Started   string `json:"started"`
	Database  string `json:"database"`
	Statement string `json:"statement"`
	Exact     bool   `json:"exact"`
	ReadRows  uint64 `json:"read_rows"`
	ReadBytes uint64 `json:"read_bytes"`
}

func (m *meter) statements() []statement {
	m.t.Helper()
	r, err := http.NewRequestWithContext(m.t.Context(), http.MethodGet, "http://"+m.dsn.Host+"/faultline/queries", nil)
	must(m.t, err)
	password, _ := m.dsn.User.Password()
	r.SetBasicAuth(m.dsn.User.Username(), password)
	answer, err := http.DefaultClient.Do(r)
	must(m.t, err)
	defer func() { _ = answer.Body.Close() }()
	var body struct{ Queries []statement }
	must(m.t, json.NewDecoder(answer.Body).Decode(&body))
	return body.Queries
}

// measure runs what is measured.
func (m *meter) measure(do func()) cost {
	m.t.Helper()
	before := map[string]bool{}
	for _, s := range m.statements() {
		before[s.ID+s.Started] = true
	}
	do()
	var c cost
	for _, s := range m.statements() {
		if before[s.ID+s.Started] || "/"+s.Database != m.dsn.Path {
			continue
		}
		c.statements++
		if !s.Exact {
			m.t.Errorf("not counted exactly: %.60s", s.Statement)
		}
		if strings.Contains(s.Statement, "FROM events") && !strings.Contains(s.Statement, "max(ingested_time)") { // that is a part's bound
			c.evidenceRows += s.ReadRows
			c.evidenceBytes += s.ReadBytes
		} else {
			c.otherRows += s.ReadRows
		}
	}
	return c
}

// crowd fills the store with rows of many allocations, a hundred or so each, half of them stamped, and
// the links by which the others are found. Bodies are of a size that makes reading too much expensive.
func crowd(t testing.TB, conn driver.Conn, rows int) {
	t.Helper()
	must(t, conn.Exec(t.Context(), fmt.Sprintf(`INSERT INTO events (key, signal, time, end_time, observed_time, ingested_time, service, severity, body, trace_id,
  workflow_id, correlation_id, allocation_id, node_id, node_instance_id, keys, attrs)
WITH intDiv(number, 100) AS a, number %% 5 AS what
SELECT lower(hex(MD5(toString(number)))), 'log', fromUnixTimestamp64Nano(1772445851000000000 + number * 1000000, 'UTC') AS time, time, time, now64(9),
  concat('svc-', toString(number %% 7)), if(number %% 50 = 0, 17, 9), concat('line ', toString(number), ' says ', repeat('lorem ipsum ', 16)),
  if(what = 1, lower(hex(MD5(toString(intDiv(number, 20))))), '') AS trace_id,
  if(what = 2, concat('w-', toString(a)), '') AS workflow_id, if(what = 4, concat('c-', toString(a)), '') AS correlation_id,
  if(what = 0 OR a %% 2 = 0 AND what != 3, concat('a-', leftPad(toString(a), 6, '0')), ''),
  if(what = 3, concat('n-', toString(a)), '') AS node_id, if(what = 3, concat('i-', toString(a)), '') AS node_instance_id,
  multiIf(what = 0, [concat('allocation:a-', leftPad(toString(a), 6, '0'))], what = 1, [concat('trace:', trace_id)], what = 2, [concat('workflow:', workflow_id)],
    what = 3, [concat('node:', node_id), concat('node_instance:', node_instance_id)], [concat('correlation:', correlation_id)]),
  multiIf(what = 0, map('allocation_id', concat('a-', leftPad(toString(a), 6, '0'))), what = 1, map('k', 'v'), what = 2, map('workflow_id', workflow_id),
    what = 3, map('node_id', node_id, 'node_instance_id', node_instance_id), map('correlation_id', correlation_id))
FROM numbers(%d)`, rows)))
	for _, fact := range []string{
		"'workflow', concat('w-', toString(number)), 'allocation', a, 'seen', 0, 0",
		"'correlation', concat('c-', toString(number)), 'allocation', a, 'seen', 0, 0",
		"'node', concat('n-', toString(number)), 'allocation', a, 'open', 1772445851000000000 + number * 100000000, 0",
		"'node', concat('n-', toString(number)), 'node_instance', concat('i-', toString(number)), 'open', 1772445851000000000 + number * 100000000, 0",
	} {
		must(t, conn.Exec(t.Context(), fmt.Sprintf(`INSERT INTO links (subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to, observed_time, ingested_time)
WITH concat('a-', leftPad(toString(number), 6, '0')) AS a SELECT %s, now64(9), now64(9) FROM numbers(%d)`, fact, rows/100)))
	}
	for _, table := range []string{"events", "links", "links_by_object"} {
		must(t, conn.Exec(t.Context(), "OPTIMIZE TABLE "+table+" FINAL"))
	}
}

// Reading one of any kind reads a small part of the evidence, whether it was stamped or is found through
// links; and none for an identifier that nobody knows.
func TestReadingReadsAShortRange(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	m, conn := newMeter(t)
	const rows = 400_000
	crowd(t, conn, rows)
	store := clickhouse.New(conn, p)
	cases := []struct {
		kind    identity.Kind
		id      string
		found   int
		most    uint64 // granules of 8192 rows
		nothing uint64 // the same for an identifier that nobody knows: a Bloom filter errs once in a hundred
	}{
		{identity.Allocation, "a-002000", 80, 12, 0}, // stamped, but for its machine's lines
		{identity.Allocation, "a-002001", 80, 25, 0}, // through links alone, but for a fifth
		{identity.Node, "n-2000", 20, 6, 2},
		{identity.NodeInstance, "i-2000", 20, 6, 2},
		{identity.Workflow, "w-2000", 20, 6, 2},
		{identity.Trace, "", 4, 6, 2},
		{identity.Correlation, "c-2001", 20, 20, 2},
	}
	for _, c := range cases {
		if c.kind == identity.Trace {
			must(t, conn.QueryRow(t.Context(), "SELECT lower(hex(MD5('10000')))").Scan(&c.id))
		}
		t.Run(c.kind.String()+" "+c.id, func(t *testing.T) {
			s := correlator.Selection{Key: identity.Key{Kind: c.kind, ID: c.id}}
			var page correlator.Page
			spent := m.measure(func() {
				page, err = correlator.ReadEvents(t.Context(), store, s, "", 1000)
				must(t, err)
			})
			t.Logf("%d records: %+v", len(page.Events), spent)
			if len(page.Events) != c.found {
				t.Errorf("%d of %d records", len(page.Events), c.found)
			}
			if spent.evidenceRows > c.most*8192 {
				t.Errorf("%d of %d rows of evidence read for %d", spent.evidenceRows, rows, c.found)
			}
			s.Key.ID = "no-" + c.id
			spent = m.measure(func() {
				page, err = correlator.ReadEvents(t.Context(), store, s, "", 1000)
				must(t, err)
			})
			if len(page.Events) > 0 || spent.evidenceRows > c.nothing*8192 {
				t.Errorf("nobody: %d records, %+v", len(page.Events), spent)
			}
		})
	}
}

// large is the environment variable that says how many records the large allocation has.
const large = "FAULTLINE_LARGE_ALLOCATION"

// An allocation of any size is read in memory that does not grow with it, and each part of it without
// reading the wide columns of all that follows.
func TestALargeAllocationIsReadInBoundedMemory(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	m, conn := newMeter(t)
	rows := 60_000
	if n, err := strconv.Atoi(os.Getenv(large)); err == nil {
		rows = n
	}
	must(t, conn.Exec(t.Context(), fmt.Sprintf(`INSERT INTO events (key, signal, time, observed_time, ingested_time, service, body, allocation_id, keys, attrs)
SELECT lower(hex(MD5(toString(number)))), 'log', fromUnixTimestamp64Nano(1772445851000000000 + intDiv(number, 3) * 1000000, 'UTC') AS time, time, now64(9),
  concat('svc-', toString(number %% 7)), concat('line ', toString(number), ' says ', repeat('lorem ipsum ', 40)), 'big', ['allocation:big'],
  map('allocation_id', 'big') FROM numbers(%d)`, rows)))
	store := clickhouse.New(conn, p)
	s := correlator.Selection{Key: identity.Key{Kind: identity.Allocation, ID: "big"}}
	s.AsOf, err = store.Mark(t.Context())
	must(t, err)
	var base, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&base)
	n, most, last := 0, uint64(0), correlator.Beginning()
	spent := m.measure(func() {
		for e, err := range store.Events(t.Context(), s, last) {
			must(t, err)
			if e.Position().Compare(last) <= 0 {
				t.Fatalf("%+v after %+v", e.Position(), last)
			}
			last = e.Position()
			if n++; n%10_000 == 0 {
				runtime.GC()
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapAlloc-min(base.HeapAlloc, now.HeapAlloc))
			}
		}
	})
	t.Logf("%d records, %d MB of heap at most, %d bytes read a record, %+v", n, most>>20, spent.evidenceBytes/uint64(n), spent) //nolint:gosec // a count
	if n != rows {
		t.Errorf("%d of %d records", n, rows)
	}
	if most > 100<<20 {
		t.Errorf("%d MB of heap", most>>20)
	}
	begun := time.Now()
	spent = m.measure(func() {
		page, err := correlator.ReadEvents(t.Context(), store, s, "", 100)
		must(t, err)
		if len(page.Events) != 100 || page.Next == "" {
			t.Errorf("%d records", len(page.Events))
		}
	})
	t.Logf("one page: %+v, %s", spent, time.Since(begun))
}
