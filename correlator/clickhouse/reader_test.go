package clickhouse_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/faultline-io/faultline/collector/clickhouseexporter"
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/memory"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/internal/story"
	"github.com/faultline-io/faultline/processors/identityprocessor"
)

// fill writes records as the Collector does: one after the other, so that nothing is known of what comes
// later, through the identity processor where stamped.
func fill(t testing.TB, dsn string, records []*record.Record, stamped bool) {
	t.Helper()
	write, stop := collector(t, dsn, stamped)
	write(records)
	stop()
}

// collector starts the parts of a Collector that fill uses, until stop.
func collector(t testing.TB, dsn string, stamped bool) (write func([]*record.Record), stop func()) {
	t.Helper()
	ctx, host := t.Context(), componenttest.NewNopHost()
	f := clickhouseexporter.NewFactory()
	cfg := f.CreateDefaultConfig().(*clickhouseexporter.Config)
	cfg.DSN = configopaque.String(dsn)
	cfg.Queue = configoptional.None[exporterhelper.QueueBatchConfig]()
	logs, err := f.CreateLogs(ctx, exportertest.NewNopSettings(f.Type()), cfg)
	must(t, err)
	traces, err := f.CreateTraces(ctx, exportertest.NewNopSettings(f.Type()), cfg)
	must(t, err)
	parts := []component.Component{logs, traces}
	toLogs, toTraces := logs.ConsumeLogs, traces.ConsumeTraces
	if stamped {
		f := identityprocessor.NewFactory()
		cfg := f.CreateDefaultConfig()
		pl, err := f.CreateLogs(ctx, processortest.NewNopSettings(f.Type()), cfg, logs)
		must(t, err)
		pt, err := f.CreateTraces(ctx, processortest.NewNopSettings(f.Type()), cfg, traces)
		must(t, err)
		parts = append(parts, pl, pt)
		toLogs, toTraces = pl.ConsumeLogs, pt.ConsumeTraces
	}
	for _, part := range parts {
		must(t, part.Start(ctx, host))
	}
	write = func(records []*record.Record) {
		t.Helper()
		text, err := otlpfile.Write(records)
		must(t, err)
		for line := range bytes.SplitSeq(bytes.TrimSpace(text), []byte("\n")) {
			if bytes.Contains(line, []byte(`"resourceSpans"`)) {
				td, err := new(ptrace.JSONUnmarshaler).UnmarshalTraces(line)
				must(t, err)
				must(t, toTraces(ctx, td))
				continue
			}
			ld, err := new(plog.JSONUnmarshaler).UnmarshalLogs(line)
			must(t, err)
			must(t, toLogs(ctx, ld))
		}
	}
	return write, func() {
		for _, part := range slices.Backward(parts) {
			must(t, part.Shutdown(context.Background()))
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Every scenario gives the same verdict from the store as from the file, whatever was known when its
// records were written.
func TestTheStoreAndTheFileAgree(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	all, err := story.Load("../testdata/scenarios")
	must(t, err)
	rounds, err := filepath.Glob("../../truth/testdata/round-*")
	must(t, err)
	mine := len(all)
	for _, folder := range rounds {
		more, err := story.Load(folder)
		must(t, err)
		for _, s := range more {
			s.Name = filepath.Base(folder) + " " + s.Name
			all = append(all, s)
		}
	}
	for i, s := range all {
		if (i%10 != 0 || i >= mine) && !slices.Contains(readBesides, s.Name) && os.Getenv(everyStory) == "" {
			continue // each takes a database of its own; make test-stories takes all
		}
		parities := []bool{i%2 == 0}
		if os.Getenv(everyStory) == "both" {
			parities = append(parities, i%2 != 0)
		}
		for _, stamped := range parities {
			t.Run(fmt.Sprintf("%s stamped=%t", s.Name, stamped), func(t *testing.T) {
				dsn := embeddedtest.DSN(t)
				fill(t, dsn, s.Records, stamped)
				conn, err := schema.Open(t.Context(), dsn)
				must(t, err)
				defer func() { _ = conn.Close() }()
				compare(t, p, memory.New(p, asFile(t, s.Records)), clickhouse.New(conn, p).WithWords(rules.Words()), stamped)
			})
		}
	}
}

// asFile are records as a file holds them: a span says nothing of when it was observed.
func asFile(t *testing.T, records []*record.Record) []*record.Record {
	t.Helper()
	text, err := otlpfile.Write(records)
	must(t, err)
	path := filepath.Join(t.TempDir(), "story.jsonl")
	must(t, os.WriteFile(path, text, 0o600))
	var out []*record.Record
	r := otlpfile.Reader{
		Record: func(r *record.Record) { out = append(out, r) },
		Reject: func(r otlpfile.Rejection) { t.Error(r) },
	}
	must(t, r.ReadFile(path))
	return out
}

// readBesides are stories that are told by what lies beside an allocation: what its node said before it was given away, or by a clock that is
// wrong by years; what others ordinarily met, close to a trouble and while it lasted.
var readBesides = []string{
	"round-2 agent-breathes-but-does-not-ask", "round-2 new-years-day-2019", "round-2 bmc-no-free-session", "round-4 key-not-for-this-user",
	"round-7 view-that-lags-a-finished-release", "round-8 client-two-second-patience", "round-41 10-nginx-remembers-an-old-pod",
}

// everyStory is the environment variable that asks for all scenarios, not for every tenth; "both" asks for each with stamped
// and with unstamped records.
const everyStory = "FAULTLINE_EVERY_STORY"

func compare(t *testing.T, p *profile.Profile, file, store query.Store, stamped bool) {
	t.Helper()
	ctx := t.Context()
	listed, err := file.List(ctx, query.ListQuery{Limit: 1000})
	must(t, err)
	stored, err := store.List(ctx, query.ListQuery{Limit: 1000})
	must(t, err)
	if len(stored) != len(listed) {
		t.Errorf("the store lists %d allocations, the file %d", len(stored), len(listed))
	}
	for _, one := range listed {
		want, err := (&query.Service{Store: file, Profile: p, Rules: rules.All()}).Verdict(ctx, one.ID, 0)
		must(t, err)
		got, err := (&query.Service{Store: store, Profile: p, Rules: rules.All()}).Verdict(ctx, one.ID, 0)
		must(t, err)
		want.Verdict.AsOf, got.Verdict.AsOf = 0, 0 // a file ends with its newest record, a platform goes on
		if d := cmp.Diff(asJSON(want), asJSON(got)); d != "" {
			t.Errorf("%s: file (-) and store (+) differ:\n%s", one.ID, d)
		}
		if d := cmp.Diff(asJSON(got), asJSON(keptAnswer(t, p, store.(*clickhouse.Reader), got))); d != "" {
			t.Errorf("%s: judged (-) and put together of what was kept (+) differ:\n%s", one.ID, d)
		}
		if !stamped {
			continue // of what no Collector has seen nobody knows all that leads to it
		}
		for id := range identifiers(want) {
			want, err := file.Resolve(ctx, id)
			must(t, err)
			got, err := store.Resolve(ctx, id)
			must(t, err)
			if !slices.Equal(got, want) {
				t.Errorf("%s leads to %v in the file, to %v in the store", id, want, got)
			}
		}
	}
}

// identifiers are those that the timeline names, of allocations, traces and tasks: a few of each kind.
func identifiers(a correlator.Allocation) map[string]bool {
	out, named := map[string]bool{a.ID: true}, map[string]int{}
	for _, e := range a.Timeline {
		for kind, id := range e.IDs {
			if named[kind] < 3 && !out[id] {
				named[kind]++
				out[id] = true
			}
		}
	}
	return out
}

func asJSON(a correlator.Allocation) string {
	b, _ := json.MarshalIndent(a, "", " ")
	return string(b)
}

// A node that is still assigned is read to now, though nothing else of the allocation was heard for
// hours and nobody knew whose the node's lines were when they were written.
func TestANodeThatIsStillHeldIsReadToNow(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	records, err := story.Parse(`
03:00:00 provisioner node.assigned allocation_id=a-1 node_id=n-1
03:01:00 provisioner allocation.state allocation_id=a-1 from=provisioning to=active
06:30:00 kernel info node_id=n-1 | eth0: link up
09:00:00 node heartbeat node_id=n-1 component=node
`)
	must(t, err)
	dsn := embeddedtest.DSN(t)
	fill(t, dsn, records, false)
	conn, err := schema.Open(t.Context(), dsn)
	must(t, err)
	defer func() { _ = conn.Close() }()
	l := clickhouse.New(conn, p).WithWords(rules.Words())
	compare(t, p, memory.New(p, records), l, false)
	a, err := (&query.Service{Store: l, Profile: p, Rules: rules.All()}).Verdict(t.Context(), "a-1", 0)
	must(t, err)
	if len(a.Timeline) != 4 {
		t.Errorf("%d of 4 records", len(a.Timeline))
	}
}

// Whose a record is that no Collector has stamped, and that names a workflow alone, its links tell: what is somebody else's is nobody's proof.
func TestAnUnstampedRecordMayBeSomebodyElses(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	records, err := story.Parse(`
10:00:00 api allocation.state allocation_id=a-1 to=requested
10:00:00 api allocation.state allocation_id=a-2 to=requested
10:00:01 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:01 provisioner workflow.state allocation_id=a-2 workflow_id=w-2 operation=provision to=running
10:00:02 provisioner task.state workflow_id=w-2 task_id=k-2 node_id=n-2 to=queued
10:03:00 provisioner error workflow_id=w-2 | sql: database is closed
10:03:10 provisioner error task_id=k-2 | x509: certificate has expired or is not yet valid
10:05:00 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=failed
10:05:01 provisioner allocation.state allocation_id=a-1 to=failed
`)
	must(t, err)
	dsn := embeddedtest.DSN(t)
	fill(t, dsn, records, false)
	conn, err := schema.Open(t.Context(), dsn)
	must(t, err)
	defer func() { _ = conn.Close() }()
	l := clickhouse.New(conn, p).WithWords(rules.Words())
	a, err := (&query.Service{Store: l, Profile: p, Rules: rules.All()}).Verdict(t.Context(), "a-1", 0)
	must(t, err)
	if a.Verdict.Outcome != correlator.Undetermined {
		t.Errorf("a-1 is %s: %s", a.Verdict.Outcome, a.Verdict.Explanation)
	}
}

// A node leads to all that ever held it, one of its instances to those that held it while that lived.
func TestAnInstanceLeadsToWhoHeldItsNodeMeanwhile(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	records, err := story.Parse(`
10:00:00 api node.instance node_id=n-1 node_instance_id=i-1 to=live
10:01:00 provisioner node.assigned allocation_id=a-1 node_id=n-1
11:00:00 provisioner node.unassigned allocation_id=a-1 node_id=n-1
11:05:00 api node.instance node_id=n-1 node_instance_id=i-2 to=live
11:10:00 provisioner node.assigned allocation_id=a-2 node_id=n-1
12:00:00 provisioner node.unassigned allocation_id=a-2 node_id=n-1
12:05:00 api node.instance node_id=n-1 node_instance_id=i-3 to=live
`)
	must(t, err)
	dsn := embeddedtest.DSN(t)
	fill(t, dsn, records, false)
	conn, err := schema.Open(t.Context(), dsn)
	must(t, err)
	defer func() { _ = conn.Close() }()
	l := clickhouse.New(conn, p)
	for id, want := range map[string][]string{"i-1": {"a-1"}, "i-2": {"a-2"}, "i-3": nil, "n-1": {"a-1", "a-2"}} {
		got, err := l.Resolve(t.Context(), id)
		must(t, err)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s leads to %v, not to %v", id, got, want)
		}
	}
}

func TestResolveAnyIdentifier(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	records, err := story.Parse(`
10:00:00 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:01 provisioner task.state task_id=k-1 workflow_id=w-1 node_id=n-1 to=queued
10:00:02 api info request_id=r-1 task_id=k-1 | asked
10:00:03 provisioner node.assigned allocation_id=a-1 node_id=n-1
`)
	must(t, err)
	dsn := embeddedtest.DSN(t)
	fill(t, dsn, records, false)
	conn, err := schema.Open(t.Context(), dsn)
	must(t, err)
	defer func() { _ = conn.Close() }()
	l := clickhouse.New(conn, p).WithWords(rules.Words())
	for _, id := range []string{"a-1", "w-1", "k-1", "r-1", "n-1"} {
		got, err := l.Resolve(t.Context(), id)
		must(t, err)
		if d := cmp.Diff([]string{"a-1"}, got); d != "" {
			t.Errorf("%s: %s", id, d)
		}
	}
	for _, id := range []string{"nobody", "it's\\\t'", ""} {
		if got, err := l.Resolve(t.Context(), id); err != nil || len(got) > 0 {
			t.Errorf("%q: %v %v", id, got, err)
		}
	}
	// What looks like an escape of a parameter's text is the text itself: a\x2d1 is not a-1.
	for _, id := range []string{"nobody", `\`, `a-1\`, `a\x2d1`, `\a-1`} {
		if _, err := l.RecordSet(t.Context(), id, 0); !errors.Is(err, query.ErrUnknown) {
			t.Errorf("%s: %v", id, err)
		}
		if got, err := l.History(t.Context(), id, 10); err != nil || len(got) > 0 {
			t.Errorf("%s: %v %v", id, got, err)
		}
		if got, err := l.List(t.Context(), query.ListQuery{State: id, Limit: 10}); err != nil || len(got) > 0 {
			t.Errorf("%s: %v %v", id, got, err)
		}
		for e, err := range l.Events(t.Context(), query.Selection{Key: identity.Key{Kind: identity.Allocation, ID: id}}, query.Beginning()) {
			t.Errorf("%s: %v %v", id, e, err)
		}
	}
}
