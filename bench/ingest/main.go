// Command ingest measures what a record costs on its way into the store: our exporter and the contrib
// one, each made by its own factory in this process, from the same OTLP bytes into the same engine. CPU
// of this process and of the engine are told apart: run the engine as a process of its own,
// `faultline store`, and give its DSN and process id.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/clickhouseexporter"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/plog"

	ours "github.com/faultline-io/faultline/collector/clickhouseexporter"
	"github.com/faultline-io/faultline/internal/storebench"
)

func main() {
	dsn := flag.String("dsn", "", "http://user:secret@host:port of the store")
	pid := flag.Int("pid", 0, "process id of the store")
	rows := flag.Int("rows", 200_000, "records a round")
	size := flag.Int("batch", 8192, "records an insert")
	rounds := flag.Int("rounds", 5, "rounds, each of both, after one to warm up")
	flag.Parse()
	if err := run(*dsn, *pid, *rows, *size, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "ingest:", err)
		os.Exit(1)
	}
}

// contender is an exporter under way.
type contender struct {
	name string
	logs exporter.Logs
}

func run(dsn string, pid, rows, size, rounds int) error {
	e, err := storebench.NewEngine(dsn)
	if err != nil {
		return err
	}
	defer e.Close()
	ctx := context.Background()
	stamp := strconv.FormatInt(time.Now().Unix(), 36)
	var all []contender
	for _, c := range []struct {
		name    string
		factory exporter.Factory
		config  map[string]any
	}{
		{"ours", ours.NewFactory(), map[string]any{"dsn": e.DSN("ingest_ours_" + stamp), "sending_queue": map[string]any{"enabled": false}}},
		{"contrib", clickhouseexporter.NewFactory(), map[string]any{
			"endpoint": e.DSN(""), "database": "ingest_contrib_" + stamp, "async_insert": false, "timeout": "60s", "sending_queue": map[string]any{"enabled": false},
		}},
	} {
		cfg := c.factory.CreateDefaultConfig()
		if err := confmap.NewFromStringMap(c.config).Unmarshal(cfg); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		set := exporter.Settings{ID: component.NewID(c.factory.Type()), TelemetrySettings: componenttest.NewNopTelemetrySettings()}
		logs, err := c.factory.CreateLogs(ctx, set, cfg)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		if err := logs.Start(ctx, componenttest.NewNopHost()); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		defer func() { _ = logs.Shutdown(ctx) }()
		all = append(all, contender{c.name, logs})
	}
	defer func() {
		for _, name := range []string{"ingest_ours_", "ingest_contrib_"} {
			_ = e.Exec(ctx, "", "DROP DATABASE IF EXISTS "+name+stamp+" SYNC")
		}
	}()
	// Each round has records of its own: neither exporter may find its work done.
	for round := range rounds + 1 {
		var sent [][]byte
		count := 0
		marshal := plog.ProtoMarshaler{}
		shape := storebench.Shape{Seed: uint64(round + 1), Rows: rows, Start: time.Now().Add(-13 * 24 * time.Hour)} //nolint:gosec // a count
		for b := range shape.Batches(size) {
			bytes, err := marshal.MarshalLogs(b.Logs)
			if err != nil {
				return err
			}
			sent, count = append(sent, bytes), count+b.Logs.LogRecordCount()
		}
		for _, c := range all {
			client, engine, err := c.take(ctx, pid, sent)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			per := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / float64(count) }
			if round > 0 {
				fmt.Printf("%-8s %d records: exporter %.1f µs, engine %.1f µs, together %.1f µs a record; %.0f records a CPU-second\n",
					c.name, count, per(client), per(engine), per(client+engine), 1e6/per(client+engine))
			}
		}
	}
	return nil
}

// take decodes and exports, until the engine has nothing more to do for it.
func (c contender) take(ctx context.Context, pid int, sent [][]byte) (client, engine time.Duration, err error) {
	unmarshal := plog.ProtoUnmarshaler{}
	clientBefore, engineBefore := own(), of(pid)
	for _, bytes := range sent {
		ld, err := unmarshal.UnmarshalLogs(bytes)
		if err != nil {
			return 0, 0, err
		}
		for try := 0; ; try++ { // ours says so while its tables are being made
			if err = c.logs.ConsumeLogs(ctx, ld); err == nil || try > 100 {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	client = own() - clientBefore
	time.Sleep(5 * time.Second) // merges belong to the cost
	return client, of(pid) - engineBefore, nil
}

// own is this process's CPU time.
func own() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// of is another process's CPU time, in steps of ten milliseconds.
func of(pid int) time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}
