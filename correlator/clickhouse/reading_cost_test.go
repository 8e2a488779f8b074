package clickhouse_test

import (
	"crypto/md5" //nolint:gosec // made-up ids
	"encoding/hex"
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
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/collector/clickhouseexporter"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
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

// of gives the statements that ran while something was done.
func (m *meter) of(do func()) (ran []statement) {
	m.t.Helper()
	before := map[string]bool{}
	for _, s := range m.statements() {
		before[s.ID+s.Started] = true
	}
	do()
	for _, s := range m.statements() {
		if before[s.ID+s.Started] || "/"+s.Database != m.dsn.Path || strings.HasPrefix(s.Statement, "SELECT displayName()") { // the driver dials
			continue
		}
		if !s.Exact {
			m.t.Errorf("not counted exactly: %.60s", s.Statement)
		}
		ran = append(ran, s)
	}
	return ran
}

// measure runs what is measured.
func (m *meter) measure(do func()) cost {
	m.t.Helper()
	var c cost
	for _, s := range m.of(do) {
		c.statements++
		if strings.Contains(s.Statement, "FROM events") && !strings.Contains(s.Statement, "max(ingested_time)") { // that is a part's bound
			c.evidenceRows += s.ReadRows
			c.evidenceBytes += s.ReadBytes
		} else {
			c.otherRows += s.ReadRows
		}
	}
	return c
}

// began is when the telemetry of these tests begins.
const began = 1772445851000000000

// troubledOne is the number of an allocation that failed.
const troubledOne = 503

// log appends a record to a batch.
func log(to plog.LogRecordSlice, at int64, event, body string, attrs ...string) {
	r := to.AppendEmpty()
	r.SetTimestamp(pcommon.Timestamp(at)) //nolint:gosec // a time after 1970
	r.SetObservedTimestamp(pcommon.Timestamp(at + 5_000_000))
	r.SetEventName(event)
	r.SetSeverityNumber(plog.SeverityNumberInfo)
	r.Body().SetStr(body)
	for i := 0; i < len(attrs); i += 2 {
		if attrs[i] == "trace_id" {
			r.SetTraceID(md5.Sum([]byte(attrs[i+1]))) //nolint:gosec // a made-up id
			continue
		}
		r.Attributes().PutStr(attrs[i], attrs[i+1])
	}
}

// service gives the place of a service's records in a batch.
func service(ld plog.Logs, name string) plog.LogRecordSlice {
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", name)
	return rl.ScopeLogs().AppendEmpty().LogRecords()
}

// crowd fills the store with records of many allocations, 103 each. Those of an allocation with an even
// number name it, but for what its node says; of the others one in five does. Bodies are of a size that
// makes reading too much expensive.
func crowd(t testing.TB, dsn string, conn driver.Conn, allocations int) {
	t.Helper()
	w, err := clickhouseexporter.OpenWriter(t.Context(), dsn, nil)
	must(t, err)
	defer func() { must(t, w.Close()) }()
	padding := strings.Repeat("lorem ipsum ", 16)
	const atOnce = 50
	for first := 0; first < allocations; first += atOnce {
		ld := plog.NewLogs()
		var services [7]plog.LogRecordSlice
		for i := range services {
			services[i] = service(ld, fmt.Sprintf("svc-%d", i))
		}
		provisioner := service(ld, "provisioner")
		for n := first; n < min(first+atOnce, allocations); n++ {
			at := began + int64(n)*100_000_000
			a, workflow, correlation := fmt.Sprintf("a-%d", n), fmt.Sprintf("w-%d", n), fmt.Sprintf("c-%d", n)
			node := []string{"node_id", fmt.Sprintf("n-%d", n), "node_instance_id", fmt.Sprintf("i-%d", n)}
			log(provisioner, at, "node.instance", "", append(node, "to", "live")...)
			log(provisioner, at+1, "node.assigned", "", append(node[:2:2], "allocation_id", a)...)
			log(provisioner, at+2, "", "begun", "allocation_id", a, "workflow_id", workflow, "correlation_id", correlation)
			for i := range 100 {
				attrs := [...][]string{
					{"allocation_id", a}, {"trace_id", fmt.Sprintf("t-%d-%d", n, i/20)}, {"workflow_id", workflow}, node, {"correlation_id", correlation},
				}[i%5]
				if n%2 == 0 && i%5 != 3 {
					attrs = append(attrs[:len(attrs):len(attrs)], "allocation_id", a)
				}
				says := padding
				if n == 700 && i == 42 {
					says = "BUG: soft lockup" // once in all of this
				}
				if n == troubledOne && (i == 0 || i == 5) {
					log(provisioner, at+int64(i+1)*1_000_000, "allocation.state", "", append(attrs[:len(attrs):len(attrs)], "to", []string{"requested", "failed"}[i/5])...)
					continue
				}
				log(services[i%7], at+int64(i+1)*1_000_000, "", fmt.Sprintf("line %d says %s", i, says), attrs...)
			}
		}
		must(t, w.WriteLogs(t.Context(), ld))
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
	sum := md5.Sum([]byte("t-501-2")) //nolint:gosec // a made-up id
	const allocations, rows = 1000, 103_000
	crowd(t, m.dsn.String(), conn, allocations)
	store := clickhouse.New(conn, p)
	cases := []struct {
		kind  identity.Kind
		id    string
		found int
		most  uint64 // rows of evidence, of 103,000
		bytes uint64 // of evidence, uncompressed
		other uint64 // rows of links and lists
	}{
		{identity.Allocation, "a-500", 102, 4_800, 900_000, 10_000},  // named, but for its node's lines
		{identity.Allocation, "a-501", 82, 16_000, 3_000_000, 7_000}, // through links, but for a fifth
		{identity.Node, "n-500", 22, 3_600, 600_000, 2_600},
		{identity.NodeInstance, "i-500", 22, 4_000, 600_000, 1_600},
		{identity.Workflow, "w-501", 41, 10_000, 2_000_000, 2_600},
		{identity.Trace, hex.EncodeToString(sum[:]), 4, 4_800, 1_000_000, 1_800},
		{identity.Correlation, "c-501", 21, 10_000, 2_000_000, 1_800},
	}
	for _, c := range cases {
		t.Run(c.kind.String()+" "+c.id, func(t *testing.T) {
			s := query.Selection{Key: identity.Key{Kind: c.kind, ID: c.id}}
			var page query.Page
			spent := m.measure(func() {
				page, err = (&query.Service{Store: store}).Events(t.Context(), s, "", 1000)
				must(t, err)
			})
			t.Logf("%d records: %+v", len(page.Events), spent)
			if len(page.Events) != c.found {
				t.Errorf("%d of %d records", len(page.Events), c.found)
			}
			if spent.evidenceRows > c.most {
				t.Errorf("%d of %d rows of evidence read for %d", spent.evidenceRows, rows, c.found)
			}
			if spent.evidenceBytes > c.bytes || spent.otherRows > c.other {
				t.Errorf("%d bytes of evidence, %d rows of links and lists read for %d", spent.evidenceBytes, spent.otherRows, c.found)
			}
			s.Key.ID = "no-" + c.id
			spent = m.measure(func() {
				page, err = (&query.Service{Store: store}).Events(t.Context(), s, "", 1000)
				must(t, err)
			})
			if len(page.Events) > 0 || spent.evidenceRows > 0 {
				t.Errorf("nobody: %d records, %+v", len(page.Events), spent)
			}
		})
	}
	t.Run("every statement", func(t *testing.T) { everyStatement(t, m, store) })
	for _, c := range []struct {
		query query.Query
		found int
		most  uint64
	}{
		{query.Query{Text: "line 14", Services: []string{"svc-0"}, From: began, To: began + 1_000_000_000}, 10, rows / 4},
		{query.Query{Text: "line", Attrs: record.Attrs{{Key: "allocation_id", Value: "a-500"}}}, 80, rows / 10},
		{query.Query{Attrs: record.Attrs{{Key: "node_id", Value: "n-500"}}}, 22, rows / 10},
		{query.Query{Text: "lockup"}, 1, rows / 10},
		{query.Query{Text: "soft lockup", Services: []string{"svc-0"}}, 1, rows / 10},
		{query.Query{Text: "assigned a-731"}, 1, rows / 10}, // an event's attributes
		{query.Query{Text: "lockups"}, 0, rows / 20},
	} {
		var page query.Page
		spent := m.measure(func() {
			page, err = (&query.Service{Store: store.WithLimits(clickhouse.Limits{Rows: rows / 4})}).Search(t.Context(), c.query, "", 100)
			must(t, err) // what indexes leave out does not count
		})
		t.Logf("search %+v: %d records: %+v", c.query, len(page.Events), spent)
		if len(page.Events) != c.found || spent.evidenceRows > c.most {
			t.Errorf("search %+v: %d of %d records, %d rows of evidence", c.query, len(page.Events), c.found, spent.evidenceRows)
		}
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
	w, err := clickhouseexporter.OpenWriter(t.Context(), m.dsn.String(), nil)
	must(t, err)
	padding := strings.Repeat("lorem ipsum ", 40)
	for n := 0; n < rows; n += 5000 {
		ld := plog.NewLogs()
		for i := n; i < min(n+5000, rows); i++ {
			log(service(ld, fmt.Sprintf("svc-%d", i%7)), began+int64(i/3)*1_000_000, "", fmt.Sprintf("line %d says %s", i, padding), "allocation_id", "big")
		}
		must(t, w.WriteLogs(t.Context(), ld))
	}
	must(t, w.Close())
	store := clickhouse.New(conn, p)
	s := query.Selection{Key: identity.Key{Kind: identity.Allocation, ID: "big"}}
	s.AsOf, err = store.Mark(t.Context())
	must(t, err)
	var base, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&base)
	n, most, last := 0, uint64(0), query.Beginning()
	spent := m.measure(func() {
		for e, err := range store.Events(t.Context(), s, last) {
			must(t, err)
			if query.PositionOf(e).Compare(last) <= 0 {
				t.Fatalf("%+v after %+v", query.PositionOf(e), last)
			}
			last = query.PositionOf(e)
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
		page, err := (&query.Service{Store: store}).Events(t.Context(), s, "", 100)
		must(t, err)
		if len(page.Events) != 100 || page.Next == "" {
			t.Errorf("%d records", len(page.Events))
		}
	})
	t.Logf("one page: %+v, %s", spent, time.Since(begun))
}
