package live_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	ch "github.com/ClickHouse/clickhouse-go/v2"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/collector/clickhouseexporter"
	"github.com/faultline-io/faultline/correlator/live"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/schema"
)

// TestLiveStore measures the correlator as a process of its own at a real store: 10,000 live allocations,
// 2,000 events a second for a minute. It takes minutes: make bench-live.
func TestLiveStore(t *testing.T) {
	if os.Getenv("FAULTLINE_LIVE") == "" {
		t.Skip("FAULTLINE_LIVE is not set; make bench-live sets it")
	}
	allocations, rate, seconds := 10_000, 2000, 60
	if n, err := strconv.Atoi(os.Getenv("FAULTLINE_LIVE")); err == nil && n > 1 { // a machine that is smaller, or busy
		allocations, rate = n, n/5
	}
	const listen = "127.0.0.1:21600"
	dsn := embeddedtest.DSN(t)
	conn, err := schema.Open(t.Context(), dsn)
	must(t, err)
	defer func() { _ = conn.Close() }()
	must(t, schema.Migrate(t.Context(), conn, slog.New(slog.DiscardHandler)))

	dir := t.TempDir()
	program := filepath.Join(dir, "faultline-correlator")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/faultline-correlator").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	config := filepath.Join(dir, "correlator.yaml")
	must(t, os.WriteFile(config, fmt.Appendf(nil, "listen: %s\n", listen), 0o600))
	cmd := exec.CommandContext(t.Context(), program, "--config", config)
	cmd.Env, cmd.Stderr = append(os.Environ(), schema.Variable+"="+dsn), os.Stderr
	must(t, cmd.Start())
	defer func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }()
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if answer, err := http.Get("http://" + listen + "/readyz"); err == nil && answer.StatusCode == http.StatusOK {
			break
		}
		if time.Since(begun) > time.Minute {
			t.Fatal("the correlator never was ready")
		}
	}

	logs := export(t, dsn)
	w := live.NewWorkload()
	for made := 0; made < allocations; made += 1000 {
		var batch []*record.Record
		for range 1000 {
			batch = append(batch, w.Begin(time.Now())...)
		}
		send(t, logs, batch)
	}
	t.Logf("%d allocations begun", allocations)
	time.Sleep(5 * time.Second)

	before, cpu, sent := scrape(t, listen), processor(t, cmd.Process.Pid), 0
	begun := time.Now()
	for tick := range seconds * 2 {
		var batch []*record.Record
		for len(batch) < rate/2 {
			batch = append(batch, w.Next(time.Now())...)
		}
		send(t, logs, batch)
		sent += len(batch)
		time.Sleep(time.Until(begun.Add(time.Duration(tick+1) * time.Second / 2)))
	}
	took := time.Since(begun)
	cpu = processor(t, cmd.Process.Pid) - cpu
	time.Sleep(4 * time.Second)
	after := scrape(t, listen)
	delta := func(name string) float64 { return after[name] - before[name] }
	t.Logf("\n| live allocations | events/s | verdicts changed | p50 | p99 | longest | cores of the process | judgements/s | memory |\n|---|---|---|---|---|---|---|---|---|\n| %d | %.0f | %.0f | ≤ %s s | ≤ %s s | ≤ %s s | %.2f | %.0f | %.0f MB |",
		allocations, float64(sent)/took.Seconds(), delta("faultline_judging_lag_seconds_count"),
		quantile(before, after, 0.5), quantile(before, after, 0.99), quantile(before, after, 1), cpu/took.Seconds(),
		delta("faultline_judging_judgement_duration_seconds_count")/took.Seconds(), after["process_resident_memory_bytes"]/1e6)

	for _, phase := range []string{"lease", "feed", "judge", "write"} {
		name := func(what string) string {
			return "faultline_judging_look_duration_seconds_" + what + `{phase="` + phase + `"}`
		}
		t.Logf("%s: %.0f looks of %.0f ms", phase, delta(name("count")), 1000*delta(name("sum"))/max(1, delta(name("count"))))
	}

	// What a look costs the store: the rows that it reads of all that are there.
	var read, all uint64
	ctx := ch.Context(t.Context(), ch.WithProgress(func(p *ch.Progress) { read += p.Rows }),
		ch.WithParameters(ch.Parameters{"since": time.Now().UTC().Add(-10 * time.Second).Format("2006-01-02 15:04:05.000000000"), "key": "", "most": "20000"}))
	query, err := os.ReadFile("../clickhouse/sql/arrivals.sql")
	must(t, err)
	rows, err := conn.Query(ctx, strings.Replace(string(query), `{{template "record_columns"}}`, "*", 1)) // which columns it reads is no matter for the rows
	must(t, err)
	got := 0
	for rows.Next() {
		got++
	}
	must(t, rows.Err())
	must(t, conn.QueryRow(t.Context(), "SELECT count() FROM events").Scan(&all))
	t.Logf("a look at the last 10 s gives %d records and reads %d of %d rows", got, read, all)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// export is the Collector's exporter, without a queue.
func export(t *testing.T, dsn string) exporter.Logs {
	t.Helper()
	f := clickhouseexporter.NewFactory()
	cfg := f.CreateDefaultConfig().(*clickhouseexporter.Config)
	cfg.DSN = configopaque.String(dsn)
	cfg.Queue = configoptional.None[exporterhelper.QueueBatchConfig]()
	logs, err := f.CreateLogs(t.Context(), exportertest.NewNopSettings(f.Type()), cfg)
	must(t, err)
	must(t, logs.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { _ = logs.Shutdown(context.Background()) })
	return logs
}

func send(t *testing.T, logs exporter.Logs, records []*record.Record) {
	t.Helper()
	text, err := otlpfile.Write(records)
	must(t, err)
	all := plog.NewLogs()
	for line := range bytes.SplitSeq(bytes.TrimSpace(text), []byte("\n")) {
		ld, err := new(plog.JSONUnmarshaler).UnmarshalLogs(line)
		must(t, err)
		ld.ResourceLogs().MoveAndAppendTo(all.ResourceLogs())
	}
	must(t, logs.ConsumeLogs(t.Context(), all))
}

// scrape reads /metrics: values by name, labels of buckets included.
func scrape(t *testing.T, listen string) map[string]float64 {
	t.Helper()
	answer, err := http.Get("http://" + listen + "/metrics")
	must(t, err)
	defer func() { _ = answer.Body.Close() }()
	out := map[string]float64{}
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), " "); ok && !strings.HasPrefix(name, "#") {
			out[name], _ = strconv.ParseFloat(value, 64)
		}
	}
	return out
}

// quantile is the bound of the first bucket that holds so much of the lags between two scrapes.
func quantile(before, after map[string]float64, q float64) string {
	name := func(le string) string { return `faultline_judging_lag_seconds_bucket{le="` + le + `"}` }
	all := after[name("+Inf")] - before[name("+Inf")]
	for _, le := range []string{"0.1", "0.25", "0.5", "0.75", "1", "1.5", "2", "3", "5", "10", "30", "60"} {
		if after[name(le)]-before[name(le)] >= q*all {
			return le
		}
	}
	return "+Inf"
}

// processor is the CPU time of a process, in seconds.
func processor(t *testing.T, pid int) float64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	must(t, err)
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100 // ticks of USER_HZ, 100 on Linux
}
