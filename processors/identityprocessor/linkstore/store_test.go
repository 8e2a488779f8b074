package linkstore

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/schema"
)

func migrated(t testing.TB, dsn string) driver.Conn {
	t.Helper()
	conn, err := schema.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := schema.Migrate(t.Context(), conn, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func do(t testing.TB, conn driver.Conn, query string, args ...any) {
	t.Helper()
	if err := conn.Exec(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

// insert writes links as the exporter does.
func insert(t *testing.T, conn driver.Conn, links ...identity.Link) {
	t.Helper()
	b, err := conn.PrepareBatch(t.Context(), `INSERT INTO links (subject_kind, subject_id, object_kind, object_id, type, valid_from, valid_to, service, ref, observed_time, ingested_time)`)
	if err != nil {
		t.Fatal(err)
	}
	wrong := time.Now().Add(-90 * time.Minute) // the writer's clock does not matter
	for _, f := range links {
		if err := b.Append(f.Subject.Kind.String(), f.Subject.ID, f.Object.Kind.String(), f.Object.ID, f.Type.String(), f.From, f.To, "api", "e-1", wrong, wrong); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Send(); err != nil {
		t.Fatal(err)
	}
}

// looker is a Follower whose looks the test makes itself.
func looker(t *testing.T, dsn string, change func(*Config)) (*Follower, *identity.Index) {
	t.Helper()
	cfg := DefaultConfig()
	cfg.DSN = configopaque.String(dsn)
	if change != nil {
		change(&cfg)
	}
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	x := identity.New(identity.Options{Forget: true})
	f, err := New(&cfg, x, componenttest.NewNopTelemetrySettings())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Stop() })
	return f, x
}

func (f *Follower) mustLook(t *testing.T) told {
	t.Helper()
	got, err := f.look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestLook(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	f, x := looker(t, dsn, nil)
	if _, err := f.look(t.Context()); !notYet(err) || !strings.Contains(err.Error(), "links_by_time") {
		t.Errorf("without tables: %v", err)
	}
	conn := migrated(t, dsn)
	if got := f.mustLook(t); got != (told{}) {
		t.Errorf("an empty store tells %+v", got)
	}
	node, boot := identity.Key{Kind: identity.Node, ID: "n-1"}, identity.Key{Kind: identity.Boot, ID: "b-1"}
	instance, allocation := identity.Key{Kind: identity.NodeInstance, ID: "i-1"}, identity.Key{Kind: identity.Allocation, ID: "a-1"}
	links := []identity.Link{
		request(1),
		{Type: identity.Bind, Subject: identity.Key{Kind: identity.Task, ID: `it's a "task" \ ü`}, Object: allocation, From: identity.Always, To: identity.Forever},
		{Type: identity.Opened, Subject: node, Object: allocation, From: 1772445851000000001},
		{Type: identity.Closed, Subject: node, Object: allocation, From: 1772445852000000002},
		{Type: identity.Opened, Subject: node, Object: instance, From: 1772445850000000000},
		{Type: identity.Lost, Subject: node, Object: instance, From: 1772445853000000000},
		{Type: identity.Seen, Subject: boot, Object: instance},
	}
	insert(t, conn, links...)
	if got := f.mustLook(t); got != (told{fresh: int64(len(links))}) {
		t.Errorf("%+v", got)
	}
	for _, link := range links {
		if !x.Knows(link) {
			t.Errorf("%+v did not come over", link)
		}
	}
	if got := f.mustLook(t); got != (told{}) {
		t.Errorf("nothing new, and yet %+v", got)
	}
	insert(t, conn, links[:3]...) // told again by another writer
	insert(t, conn, request(2))
	if got := f.mustLook(t); got != (told{fresh: 1, known: 3}) {
		t.Errorf("%+v", got)
	}
	do(t, conn, `INSERT INTO links (subject_kind, subject_id, object_kind, object_id, type) VALUES ('spell', 's', 'allocation', 'a-1', 'seen'), ('request', 'r', 'allocation', 'a-1', 'cast')`)
	if got := f.mustLook(t); got != (told{refused: 2}) {
		t.Errorf("of a newer writer: %+v", got)
	}
}

// A row whose stamp lies back, as that of a slow insert or of a lagging replica does, is not skipped.
func TestVisibleLate(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	conn := migrated(t, dsn)
	f, x := looker(t, dsn, func(c *Config) { c.WarmStart.MaxAge = 0 })
	insert(t, conn, request(1))
	f.mustLook(t)
	late := `INSERT INTO links_by_time (stored_time, subject_kind, subject_id, object_kind, object_id, type)
SELECT now64(6) - INTERVAL ? SECOND, 'request', ?, 'allocation', ?, 'seen'`
	do(t, conn, late, 100, "r-2", "a-2")
	do(t, conn, late, 300, "r-3", "a-3") // beyond the overlap of two minutes
	f.mustLook(t)
	if !x.Knows(request(1)) || !x.Knows(request(2)) || x.Knows(request(3)) {
		t.Error(x.Knows(request(1)), x.Knows(request(2)), x.Knows(request(3)))
	}
	// An insert of which only a part was visible.
	same := time.Now().UTC().Format("2006-01-02 15:04:05.000000")
	for i := 4; i < 6; i++ {
		do(t, conn, `INSERT INTO links_by_time (stored_time, subject_kind, subject_id, object_kind, object_id, type) VALUES (?, 'request', ?, 'allocation', ?, 'seen')`,
			same, fmt.Sprintf("r-%d", i), fmt.Sprintf("a-%d", i))
		f.mustLook(t)
		if !x.Knows(request(i)) {
			t.Errorf("part %d of an insert is missing", i)
		}
	}
}

// million writes a million links over eight days, in a thousand inserts.
func million(t *testing.T, conn driver.Conn) {
	t.Helper()
	do(t, conn, `INSERT INTO links_by_time (stored_time, service, subject_kind, subject_id, object_kind, object_id, type)
SELECT now64(6) - toIntervalSecond(692 * (1000 - intDiv(number, 1000))), 'api', 'request', concat('r-', toString(number)), 'allocation', concat('a-', toString(intDiv(number, 50))), 'seen'
FROM numbers(1000000)`)
}

// A warm start over a million links is bounded in rows, and what it takes of the store and of memory
// stays in bounds; a look afterwards reads next to nothing of them.
func TestMillionLinks(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	conn := migrated(t, dsn)
	million(t, conn)

	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f, x := looker(t, dsn, func(c *Config) { c.WarmStart.MaxRows = 200_000 })
	begun := time.Now()
	got := f.mustLook(t)
	took := time.Since(begun)
	runtime.GC()
	runtime.ReadMemStats(&after)
	t.Logf("warm start: %d links in %s, %d MB held", got.all(), took.Round(time.Millisecond), (int64(after.HeapAlloc)-int64(before.HeapAlloc))>>20)
	if got.fresh < 190_000 || got.fresh > 200_000 || !x.Knows(identity.Link{Type: identity.Seen, Subject: identity.Key{Kind: identity.Request, ID: "r-999999"}, Object: identity.Key{Kind: identity.Allocation, ID: "a-19999"}}) {
		t.Errorf("%+v", got)
	}

	insert(t, conn, request(-1), request(-2))
	do(t, conn, "OPTIMIZE TABLE links_by_time FINAL") // the newest rows share a part with older ones
	exact := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{"wait_end_of_query": 1}))
	got, err := f.look(exact)
	if err != nil || got != (told{fresh: 2}) {
		t.Fatal(got, err)
	}
	all := statements(t, dsn, "FROM links_by_time")
	for _, q := range all[len(all)-2:] {
		t.Logf("%d rows, %d bytes read of 1,000,002: %.50s…", q.Rows, q.Bytes, q.Statement)
		if !q.Exact || q.Rows > 2*8192 {
			t.Errorf("%d rows were read: %s", q.Rows, q.Statement)
		}
	}
}

type statement struct {
	Statement string
	Exact     bool
	Rows      int `json:"read_rows"`
	Bytes     int `json:"read_bytes"`
}

// statements are the last ones with a text that the store has run in the test's database, newest last.
func statements(t testing.TB, dsn, with string) []statement {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	database := strings.TrimPrefix(u.Path, "/")
	u.Path, u.RawQuery = "/faultline/queries", ""
	r, err := http.Get(u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Body.Close() }()
	var all struct {
		Queries []struct {
			statement
			Database string
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	var out []statement
	for _, q := range all.Queries {
		if q.Database == database && strings.Contains(q.Statement, with) {
			out = append(out, q.statement)
		}
	}
	return out
}
