package grafana

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/collector/clickhouseexporter"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/fleet"
	"github.com/faultline-io/faultline/correlator/live"
	"github.com/faultline-io/faultline/correlator/overview"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/internal/service"
	"github.com/faultline-io/faultline/internal/story"
)

// platform is a correlator at a real store, wired as cmd/faultline-correlator wires it, judging and counting.
type platform struct {
	*httptest.Server // its API and its metrics
	conn             driver.Conn
	grafana          driver.Conn // as Grafana asks: it may read, and change no setting either
	writer           *clickhouseexporter.Writer
	known            []story.Scenario
	logs             plog.Logs // all log records that were written
}

// newPlatform runs a platform on stories, and on a tale, that have just happened.
func newPlatform(t *testing.T) *platform {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	dsn := embeddedtest.DSN(t)
	conn, err := schema.Open(ctx, dsn)
	must(t, err)
	log := slog.New(slog.DiscardHandler)
	must(t, schema.Migrate(ctx, conn, log))
	reads, err := schema.Open(ctx, dsn+"?readonly=1")
	must(t, err)
	p := &platform{conn: conn, grafana: reads, logs: plog.NewLogs()}
	p.writer, err = clickhouseexporter.OpenWriter(ctx, dsn, nil)
	must(t, err)

	p.known, err = story.Load("../../correlator/testdata/scenarios")
	must(t, err)
	for _, name := range stories {
		p.scenario(t, name, 30*time.Second)
	}
	p.tell(t, past(), 20*time.Second)

	prof, err := profile.Load("")
	must(t, err)
	ops := service.NewOps()
	store := clickhouse.New(conn, prof).WithWords(rules.Words()).WithReplica("r-1")
	board := overview.New(store, overview.DefaultConfig())
	answers := &query.Service{Store: store, Profile: prof, Rules: rules.All(), Overview: board, Supplements: store, Facts: store, Labels: store, Standings: store, Streams: board}
	figures := fleet.New(board, answers, prof, rules.All(), "https://faultline.example", log)
	board.WithWatcher(figures)
	ops.Registry.MustRegister(figures)
	p.Server = httptest.NewServer(api.New(answers, prof, rules.All(), log, ops.Registry).Handler(ops.Handler()))
	judging := live.DefaultConfig()
	judging.Interval, judging.Replica = 100*time.Millisecond, "r-1"
	judges := live.New(judging, live.Sources{
		Reader: store, History: store, Feed: store, Membership: store, Backlog: store, Durations: store, StartTimes: store, Supplements: store, Written: board.Wake,
	}, prof, rules.All(), log, ops.Registry)
	group, within := errgroup.WithContext(ctx)
	group.Go(func() error { return board.Follow(within, log) })
	group.Go(func() error { return figures.Run(within) })
	group.Go(func() error { return judges.Run(within) })
	t.Cleanup(func() {
		stop()
		p.CloseClientConnections()
		p.Close()
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
		_ = p.writer.Close()
		_ = reads.Close()
		_ = conn.Close()
	})
	return p
}

// scenario writes a story of the correlator's, whose last record was made some time ago.
func (p *platform) scenario(t *testing.T, name string, ago time.Duration) {
	t.Helper()
	for _, s := range p.known {
		if s.Name == name {
			p.write(t, s.Records, ago)
			return
		}
	}
	t.Fatalf("there is no scenario %s", name)
}

// tell writes a tale whose last record was made some time ago.
func (p *platform) tell(t *testing.T, tale string, ago time.Duration) {
	t.Helper()
	records, err := story.Parse(tale)
	must(t, err)
	p.write(t, records, ago)
}

func (p *platform) write(t *testing.T, records []*record.Record, ago time.Duration) {
	t.Helper()
	last := int64(0)
	for _, r := range records {
		last = max(last, r.Time)
	}
	shift := time.Now().Add(-ago).UnixNano() - last
	for _, r := range records {
		r.Time, r.Observed = r.Time+shift, r.Observed+shift
		if r.End != 0 {
			r.End += shift
		}
	}
	text, err := otlpfile.Write(records)
	must(t, err)
	logs, spans := plog.NewLogs(), ptrace.NewTraces()
	for line := range bytes.SplitSeq(bytes.TrimSpace(text), []byte("\n")) {
		if bytes.Contains(line, []byte(`"resourceSpans"`)) {
			td, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(line)
			must(t, err)
			td.ResourceSpans().MoveAndAppendTo(spans.ResourceSpans())
			continue
		}
		ld, err := new(plog.JSONUnmarshaler).UnmarshalLogs(line)
		must(t, err)
		ld.ResourceLogs().MoveAndAppendTo(logs.ResourceLogs())
	}
	must(t, p.writer.WriteLogs(t.Context(), logs))
	logs.ResourceLogs().MoveAndAppendTo(p.logs.ResourceLogs())
	if spans.SpanCount() > 0 {
		must(t, p.writer.WriteSpans(t.Context(), spans))
	}
}

// get asks the API.
func (p *platform) get(t *testing.T, path string, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+path, nil)
	must(t, err)
	answer, err := p.Client().Do(r)
	must(t, err)
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", path, answer.Status)
	}
	must(t, json.NewDecoder(answer.Body).Decode(into))
}

// eventually waits until something holds; it says what lacks.
func eventually(t *testing.T, atMost time.Duration, lacks func() string) {
	t.Helper()
	for end := time.Now().Add(atMost); ; time.Sleep(200 * time.Millisecond) {
		what := lacks()
		if what == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// settled waits until every allocation was judged.
func (p *platform) settled(t *testing.T) {
	t.Helper()
	eventually(t, 30*time.Second, func() string {
		var unjudged uint64
		must(t, p.conn.QueryRow(t.Context(), `SELECT count() FROM (SELECT DISTINCT allocation_id FROM allocations) AS a
			LEFT ANTI JOIN assessments AS s ON a.allocation_id = s.allocation_id`).Scan(&unjudged))
		if unjudged == 0 {
			return ""
		}
		return "allocations are not judged"
	})
}
