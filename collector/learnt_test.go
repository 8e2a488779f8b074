package collector

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/faultline-io/faultline/collector/clickhouseexporter"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/processors/identityprocessor/linkstore"
)

// A replica that hears everything from the store answers as one through which everything passed, and so
// does one that hears a part of it either way.
func TestLearntFromTheStore(t *testing.T) {
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	dsn := embeddedtest.DSN(t)
	factory := clickhouseexporter.NewFactory()
	cfg := factory.CreateDefaultConfig().(*clickhouseexporter.Config)
	cfg.DSN, cfg.Queue = configopaque.String(dsn), configoptional.None[exporterhelper.QueueBatchConfig]()
	set := exportertest.NewNopSettings(clickhouseexporter.Type)
	logs, err := factory.CreateLogs(t.Context(), set, cfg)
	if err != nil {
		t.Fatal(err)
	}
	spans, err := factory.CreateTraces(t.Context(), set, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := logs.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	var records []*record.Record
	keep := func(r *record.Record) bool {
		r.Keys = p.Keys(r)
		records = append(records, r)
		return true
	}
	files, err := filepath.Glob("../examples/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	allLogs, allSpans := plog.NewLogs(), ptrace.NewTraces()
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, `{"resourceSpans"`) {
				td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(line))
				if err != nil {
					t.Fatal(name, err)
				}
				td.ResourceSpans().MoveAndAppendTo(allSpans.ResourceSpans())
				continue
			}
			ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs([]byte(line))
			if err != nil {
				t.Fatal(name, err)
			}
			ld.ResourceLogs().MoveAndAppendTo(allLogs.ResourceLogs())
		}
	}
	otlp.Logs(allLogs, keep)
	otlp.Spans(allSpans, keep)
	if err := errors.Join(logs.ConsumeLogs(t.Context(), allLogs), spans.ConsumeTraces(t.Context(), allSpans)); err != nil {
		t.Fatal(err)
	}
	_, _ = logs.Shutdown(t.Context()), spans.Shutdown(t.Context())

	options := identity.Options{SharedNodes: p.SharedNodes, Forget: true}
	answers := func(x *identity.Index) (out []identity.Resolution) {
		for _, r := range records {
			out = append(out, x.Resolve(r.Keys, r.Time, r.Observed))
		}
		return out
	}
	stream := identity.New(options)
	for _, r := range records {
		_ = r.Learn(stream) // what is refused is refused either way
	}
	want := answers(stream)
	resolved := 0
	for _, r := range want {
		if r.Via != identity.Unresolved && r.Via != identity.Explicit {
			resolved++
		}
	}
	if resolved < 50 {
		t.Fatalf("only %d of %d records need anything that was learnt", resolved, len(records))
	}
	for _, share := range []float64{0, 0.3, 0.7} {
		x := identity.New(options)
		for _, r := range records {
			if rand.Float64() < share {
				_ = r.Learn(x)
			}
		}
		links := linkstore.DefaultConfig()
		links.DSN, links.WarmStart.MaxWait = cfg.DSN, time.Minute
		f, err := linkstore.New(&links, x, componenttest.NewNopTelemetrySettings())
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Start(t.Context()); err != nil { // waits for the warm start
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, answers(x)); diff != "" {
			t.Errorf("%v of the records passed through, the rest came from the store (-want +got):\n%.2000s", share, diff)
		}
		if err := f.Stop(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d records, %d resolved by what was learnt", len(records), resolved)
}
