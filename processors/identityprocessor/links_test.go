package identityprocessor

import (
	"log/slog"
	"net/url"
	"testing"
	"time"

	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/processor"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/processors/identityprocessor/linkstore"
)

// replica is a processor that shares its links, running.
type replica struct {
	*bench
	logs processor.Logs
	out  *consumertest.LogsSink
}

func newReplica(t *testing.T, dsn string) *replica {
	t.Helper()
	b := newBench(t)
	links := linkstore.DefaultConfig()
	links.DSN, links.Interval, links.MaxBackoff = configopaque.String(dsn), 50*time.Millisecond, 200*time.Millisecond
	links.WarmStart.MaxWait = 30 * time.Second // a busy computer's
	b.cfg.Links = configoptional.Some(links)
	r := &replica{bench: b, out: new(consumertest.LogsSink)}
	var err error
	if r.logs, err = b.factory.CreateLogs(t.Context(), b.set, b.cfg, r.out); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := r.logs.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begun); took > links.WarmStart.MaxWait+time.Second {
		t.Errorf("the start took %s", took)
	}
	return r
}

func (r *replica) stop() {
	r.t.Helper()
	if err := r.logs.Shutdown(r.t.Context()); err != nil {
		r.t.Error(err)
	}
}

// allocation is whose a record with these attributes is said to be.
func (r *replica) allocation(a attrs) string {
	r.t.Helper()
	if err := r.logs.ConsumeLogs(r.t.Context(), logs(line(5, "api", a))); err != nil {
		r.t.Fatal(err)
	}
	all := r.out.AllLogs()
	id, ok := nth(all[len(all)-1], 0).Attributes().Get("allocation_id")
	if !ok {
		return ""
	}
	return id.AsString()
}

func (r *replica) learns(a attrs, want string) {
	r.t.Helper()
	got := ""
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if got = r.allocation(a); got == want {
			return
		}
	}
	r.t.Fatalf("%v is %q, want %q", a, got, want)
}

func open(t *testing.T, dsn string) driver.Conn {
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

// tell writes a link as another replica's exporter does.
func tell(t *testing.T, conn driver.Conn, subjectKind, subject, objectKind, object string) {
	t.Helper()
	if err := conn.Exec(t.Context(), `INSERT INTO links (subject_kind, subject_id, object_kind, object_id, type, service, ingested_time) VALUES (?, ?, ?, ?, 'seen', 'api', now64(9))`,
		subjectKind, subject, objectKind, object); err != nil {
		t.Fatal(err)
	}
}

func TestReplicas(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	conn := open(t, dsn)
	a, b := newReplica(t, dsn), newReplica(t, dsn)

	// Half of a chain passes through a replica itself, the other half comes from the store.
	if got := a.allocation(attrs{"task_id": "t-1", "workflow_id": "w-1"}); got != "" {
		t.Fatalf("is %q and nobody said so", got)
	}
	tell(t, conn, "workflow", "w-1", "allocation", "a-1")
	a.learns(attrs{"task_id": "t-1"}, "a-1")
	b.learns(attrs{"workflow_id": "w-1"}, "a-1")
	if got := b.allocation(attrs{"task_id": "t-1"}); got != "" {
		t.Errorf("nobody told b of the task, and yet it is %q", got)
	}
	tell(t, conn, "task", "t-1", "workflow", "w-1")
	b.learns(attrs{"task_id": "t-1"}, "a-1")
	b.learns(attrs{"node_id": "n-1"}, "")
	if err := conn.Exec(t.Context(), `INSERT INTO links (subject_kind, subject_id, object_kind, object_id, type, valid_from, service) VALUES ('node', 'n-1', 'allocation', 'a-1', 'open', ?, 'api')`, int64(at(1))); err != nil { //nolint:gosec // a time of now
		t.Fatal(err)
	}
	b.learns(attrs{"node_id": "n-1"}, "a-1")

	// A subject that the store binds to a second allocation is shared, as it would be by the stream.
	tell(t, conn, "workflow", "w-1", "allocation", "a-2")
	a.learns(attrs{"task_id": "t-1"}, "")

	// What was learnt before a restart is there at once.
	a.stop()
	a = newReplica(t, dsn)
	if got := a.allocation(attrs{"node_id": "n-1"}); got != "a-1" {
		t.Errorf("after a warm start the node is %q", got)
	}
	if n := a.sum("faultline_linkstore_rows_total", "new"); n != 4 {
		t.Errorf("%d links were new to the restarted replica", n)
	}
	a.stop()
	b.stop()
}

func TestReplicaWithoutStore(t *testing.T) {
	cfg := embeddedtest.Config(t.TempDir())
	store, err := embeddedtest.Start(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(store.DSN)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Listen = u.Host // it comes back where it was
	conn := open(t, store.DSN)
	tell(t, conn, "workflow", "w-1", "allocation", "a-1")
	if err := store.Kill(); err != nil {
		t.Fatal(err)
	}
	r := newReplica(t, store.DSN)
	if got := r.allocation(attrs{"workflow_id": "w-2", "allocation_id": "a-2"}); got != "a-2" {
		t.Errorf("without a store it is %q", got)
	}
	r.learns(attrs{"workflow_id": "w-2"}, "a-2")
	if store, err = embeddedtest.Start(t, cfg); err != nil {
		t.Fatal(err)
	}
	r.learns(attrs{"workflow_id": "w-1"}, "a-1")
	if err := store.Kill(); err != nil { // in the middle of its run
		t.Fatal(err)
	}
	r.learns(attrs{"workflow_id": "w-1"}, "a-1")
	for deadline := time.Now().Add(10 * time.Second); r.sum("faultline_linkstore_polls_total", "failed") < 3 && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
	if _, err = embeddedtest.Start(t, cfg); err != nil {
		t.Fatal(err)
	}
	tell(t, conn, "workflow", "w-3", "allocation", "a-3")
	r.learns(attrs{"workflow_id": "w-3"}, "a-3")
	if r.sum("faultline_linkstore_polls_total", "failed") == 0 || r.sum("faultline_linkstore_polls_total", "ok") == 0 {
		t.Error("polls are not counted")
	}
	r.stop()
}
