package api_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/api/guard"
	"github.com/faultline-io/faultline/collector/clickhouseexporter"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/live"
	"github.com/faultline-io/faultline/correlator/overview"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/internal/story"
)

// twoTenants is a platform with an allocation of each of two tenants, on one node one after the other, and one of nobody.
const twoTenants = `
10:00:00    api             allocation.state allocation_id=a-blue request_id=r-blue correlation_id=c-blue tenant=blue to=requested
10:00:00.3  provisioner     workflow.state allocation_id=a-blue workflow_id=w-blue operation=provision to=running
10:00:00.4  provisioner     node.assigned allocation_id=a-blue node_id=n-7
10:00:00.45 provisioner     node.instance node_id=n-7 node_instance_id=i-blue to=live
10:00:00.5  provisioner     allocation.state allocation_id=a-blue from=reserved to=provisioning
10:00:00.6  provisioner     task.state task_id=k-blue workflow_id=w-blue node_id=n-7 type=prepare to=queued
10:00:00.7  provisioner     node.occupancy node_id=n-7 to=occupied allocation_id=a-blue
10:00:00.8  aap             provider_job.state provider=aap provider_job=aap/prod/job/1 operation=provision allocation_id=a-blue to=Pending
10:00:01.8  aap             provider_job.state provider=aap provider_job=aap/prod/job/1 operation=provision allocation_id=a-blue to=Running
10:00:02.8  aap             provider_job.state provider=aap provider_job=aap/prod/job/1 operation=provision allocation_id=a-blue to=Succeeded
10:00:03    ingress-proxy   error tls.client.subject=CN=n-7 | client certificate of CN=n-7 refused: x509: certificate has expired or is not yet valid
10:00:04    read-model      projection.observed allocation_id=a-blue projection=ui field=state value=active
10:01:00.6  provisioner     task.state task_id=k-blue workflow_id=w-blue node_id=n-7 type=prepare to=expired
10:01:00.9  provisioner     allocation.state allocation_id=a-blue from=provisioning to=failed
10:01:10    provisioner     node.unassigned allocation_id=a-blue node_id=n-7
10:02:00    api             allocation.state allocation_id=a-red request_id=r-red correlation_id=c-red tenant=red to=requested
10:02:00.3  provisioner     workflow.state allocation_id=a-red workflow_id=w-red operation=provision to=running
10:02:00.4  provisioner     node.assigned allocation_id=a-red node_id=n-7
10:02:00.5  provisioner     allocation.state allocation_id=a-red from=reserved to=provisioning
10:02:00.6  provisioner     task.state task_id=k-red workflow_id=w-red node_id=n-7 type=prepare to=queued
10:02:01    node            info node_id=n-7 | red secret on n-7
10:02:30.6  provisioner     task.state task_id=k-red workflow_id=w-red node_id=n-7 type=prepare to=failed
10:02:30.9  provisioner     allocation.state allocation_id=a-red from=provisioning to=failed
10:02:40    api             allocation.state allocation_id=a-none request_id=r-none to=requested
10:03:40    node            info node_id=n-8 | nobody's secret
`

// platform is a correlator at a real store, judging, behind its guard.
type platform struct {
	lines *keptLines
	*httptest.Server
	tokens map[string]string // by caller: all, blue, red, nothing
	write  func(tale string)
	log    *written
	ahead  *atomic.Int64 // how far its guard's clock is ahead, in nanoseconds
	store  *clickhouse.Reader
	// restart has another server answer from now on, which knows what the store has and nothing else; whoever is connected is cut off.
	restart func()
}

// served is what answers until the next restart.
type served struct {
	http.Handler
	board *overview.Overview
	end   func()
}

// later moves the guard's clock on, so that who is turned away need not wait to be told so again.
func (p *platform) later(by time.Duration) { p.ahead.Add(int64(by)) }

// written is a log that is read while it is written.
type written struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *written) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(text)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// newPlatform runs a platform on a tale that has just happened.
func newPlatform(t *testing.T, tale string) *platform {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	dsn := embeddedtest.DSN(t)
	conn, err := schema.Open(ctx, dsn)
	must(t, err)
	out := &platform{lines: &keptLines{}, tokens: map[string]string{}, log: &written{}, ahead: &atomic.Int64{}}
	log := slog.New(slog.NewTextHandler(out.log, &slog.HandlerOptions{Level: slog.LevelWarn}))
	must(t, schema.Migrate(ctx, conn, log))
	writer, err := clickhouseexporter.OpenWriter(ctx, dsn, nil)
	must(t, err)
	p, err := profile.Load("")
	must(t, err)
	store := clickhouse.New(conn, p).WithWords(rules.Words()).WithReplica("r-1")
	out.store = store
	provisioner := httptest.NewServer(http.HandlerFunc(fakeProvisioner))

	var cfg guard.Config
	for name, tenants := range map[string][]string{"all": nil, "blue": {"blue"}, "red": {"red"}, "nothing": {"green"}} {
		secret, token := access.NewToken(name, access.Operator, time.Time{}, tenants...)
		out.tokens[name], cfg.Tokens = secret, append(cfg.Tokens, token)
	}
	door, err := guard.New(cfg, guard.Limits{}, "127.0.0.1:0", log, func() time.Time { return time.Now().Add(time.Duration(out.ahead.Load())) })
	must(t, err)
	recovery := api.DefaultRecovery()
	recovery.Provisioner = provisioner.URL
	ops := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	group, within := errgroup.WithContext(ctx)
	var serving atomic.Pointer[served]
	out.restart = func() {
		board := overview.New(store, overview.DefaultConfig())
		service := &query.Service{Store: store, Profile: p, Rules: rules.All(), Overview: board, Supplements: store, Facts: store, Labels: store, Standings: store, Streams: board, Lines: out.lines}
		server := api.New(service, p, rules.All(), log, prometheus.NewRegistry()).WithRecovery(recovery)
		following, end := context.WithCancel(within)
		before := serving.Swap(&served{server.Handler(ops, door.Install), board, end})
		group.Go(func() error { return board.Follow(following, log) })
		if before != nil {
			before.end()
			out.CloseClientConnections()
		}
	}
	out.restart()
	out.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serving.Load().ServeHTTP(w, r) }))
	out.Config.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelError) // what panics is told there
	out.Start()

	out.write = func(tale string) {
		t.Helper()
		records, err := story.Parse(tale)
		must(t, err)
		last := int64(0)
		for _, r := range records {
			last = max(last, r.Time)
		}
		shift := time.Now().Add(-5*time.Second).UnixNano() - last
		for _, r := range records {
			r.Time, r.Observed = r.Time+shift, r.Observed+shift
			if r.End != 0 {
				r.End += shift
			}
		}
		text, err := otlpfile.Write(records)
		must(t, err)
		for line := range bytes.SplitSeq(bytes.TrimSpace(text), []byte("\n")) {
			if bytes.Contains(line, []byte(`"resourceSpans"`)) {
				td, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(line)
				must(t, err)
				must(t, writer.WriteSpans(ctx, td))
				continue
			}
			ld, err := new(plog.JSONUnmarshaler).UnmarshalLogs(line)
			must(t, err)
			must(t, writer.WriteLogs(ctx, ld))
		}
	}
	out.write(tale)
	judging := live.DefaultConfig()
	judging.Interval, judging.Replica = 500*time.Millisecond, "r-1" // oftener, judging takes the processors from what is asked
	judges := live.New(judging, live.Sources{
		Reader: store, History: store, Feed: store, Membership: store, Backlog: store, Durations: store, StartTimes: store, Supplements: store, Written: func() { serving.Load().board.Wake() },
	}, p, rules.All(), log, prometheus.NewRegistry())
	group.Go(func() error { return judges.Run(within) })
	t.Cleanup(func() {
		stop()
		out.CloseClientConnections()
		out.Close()
		provisioner.Close()
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
		_ = writer.Close()
		_ = conn.Close()
	})
	return out
}

// fakeProvisioner knows one action, and wants a token for it.
func fakeProvisioner(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.URL.Path == "/v1/recovery/actions":
		_, _ = io.WriteString(w, `{"actions":[{"name":"retry","of":"allocation","role":"operator","does":"x","when":"y","guards":[]}]}`)
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/retry"):
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, `{"path":"`+r.URL.Path+`","asked":`+string(body)+`,"as":"`+r.Header.Get("Authorization")+`"}`)
	default:
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"title":"a guard is not met","status":409,"detail":"the node is fenced"}`)
	}
}

// do sends a request as a caller, "" for nobody.
func (p *platform) do(t *testing.T, as, method, path, body string, header ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, p.URL+path, strings.NewReader(body))
	must(t, err)
	if as != "" {
		r.Header.Set("Authorization", "Bearer "+p.tokens[as])
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := p.Client().Do(r)
	must(t, err)
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	conforms(t, method, path, answer, text)
	return answer, text
}

// settled waits until an allocation was judged.
func (p *platform) settled(t *testing.T, words ...string) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(250 * time.Millisecond) {
		_, text := p.do(t, "all", http.MethodGet, "/api/v1/allocations", "")
		missing := ""
		for _, w := range words {
			if !strings.Contains(string(text), w) {
				missing = w
			}
		}
		if missing == "" {
			return
		}
		if time.Since(begun) > 30*time.Second {
			t.Fatalf("no %s in %s", missing, text)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
