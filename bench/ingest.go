package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/exporter/clickhouseexporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/faultline-io/faultline/collector"
	"github.com/faultline-io/faultline/storebench"
)

// asCollector is the first argument with which this program is a Collector: the product's distribution, and the contrib exporter.
const asCollector = "collector"

func runCollector(args []string) error {
	settings := collector.Settings("bench")
	settings.Factories = func() (otelcol.Factories, error) {
		f, err := collector.Components()
		contrib := clickhouseexporter.NewFactory()
		f.Exporters[contrib.Type()] = contrib
		return f, err
	}
	cmd := otelcol.NewCommand(settings)
	cmd.SetArgs(args)
	return cmd.Execute()
}

// way is an exporter under measurement, with what a record cost in each round.
type way struct {
	name, exporter string // its configuration, with the store's address and database to fill in
	table          string // that counts what arrived
	collector      []time.Duration
	engine         []time.Duration
}

// ingest measures what a record costs on its way through a whole Collector into the store, ours beside contrib's: OTLP over gRPC in, the same queue
// and batches of both, the CPU of the Collector's process and of the engine's, merges of the five seconds after included.
func ingest(bin string, rounds, rows int) error {
	return besideStore(bin, func(folder string, engine *process, store string) error {
		return ingestInto(folder, engine, store, rounds, rows)
	})
}

func ingestInto(folder string, engine *process, store string, rounds, rows int) error {
	ways := []*way{
		{name: "ours", exporter: "faultline_clickhouse: {dsn: %q, create_schema: true, ", table: "events"},
		{name: "contrib", exporter: "clickhouse: {endpoint: %q, create_schema: true, async_insert: false, timeout: 60s, ", table: "otel_logs"},
	}
	count := 0
	for round := range rounds + 1 {
		var load [][]byte // records of its own each round: neither exporter may find its work done
		records := 0
		shape := storebench.Shape{Seed: uint64(round + 1), Rows: rows, Start: time.Now().Add(-13 * 24 * time.Hour)} //nolint:gosec // a count
		for b := range shape.Batches(1024) {
			text, err := plogotlp.NewExportRequestFromLogs(b.Logs).MarshalProto()
			if err != nil {
				return err
			}
			load, records = append(load, text), records+b.Logs.LogRecordCount()
		}
		for i := range ways {
			w := ways[(i+round)%len(ways)] // each is first in turn
			client, server, err := w.measure(folder, engine, store, fmt.Sprintf("%s_%d", w.name, round), load, records)
			if err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
			if round > 0 { // the first warms up
				w.collector, w.engine = append(w.collector, client/time.Duration(records)), append(w.engine, server/time.Duration(records))
			}
		}
		count = records
	}
	reportIngest(ways, count)
	return nil
}

func reportIngest(ways []*way, records int) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nthrough a Collector, %d records a round\tCollector, µs a record\tengine\ttogether, median\tof the rounds\trecords a CPU-second\n", records)
	for _, one := range ways {
		var both []float64
		micro := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
		for i := range one.collector {
			both = append(both, micro(one.collector[i]+one.engine[i]))
		}
		fmt.Fprintf(w, "%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.0f\n", one.name, micro(median(one.collector)), micro(median(one.engine)), median(both), both, 1e6/median(both))
	}
	_ = w.Flush()
}

func median[T ~int64 | ~float64](of []T) T {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// measure runs a Collector for one load into a database of its own.
func (w *way) measure(folder string, engine *process, store, database string, load [][]byte, records int) (client, server time.Duration, err error) {
	if _, err := query(store, "CREATE DATABASE "+database); err != nil {
		return 0, 0, err
	}
	defer func() { _, _ = query(store, "DROP DATABASE "+database+" SYNC") }()
	text := fmt.Sprintf(`receivers: {otlp: {protocols: {grpc: {endpoint: %q, max_recv_msg_size_mib: 32}}}}
exporters:
  %s
    sending_queue: {sizer: items, queue_size: 5000000, num_consumers: 2, batch: {flush_timeout: 200ms, min_size: 8192, max_size: 65536}}}
service:
  pipelines: {logs: {receivers: [otlp], exporters: [%s]}}
  telemetry: {metrics: {level: none}, logs: {level: warn}}
`, otlpAddress, fmt.Sprintf(w.exporter, store+"/"+database), map[bool]string{true: "faultline_clickhouse", false: "clickhouse"}[w.name == "ours"])
	file := filepath.Join(folder, "ingest.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return 0, 0, err
	}
	self, err := os.Executable()
	if err != nil {
		return 0, 0, err
	}
	c, err := startProcess(folder, "", nil, self, asCollector, "--config", file)
	if err != nil {
		return 0, 0, err
	}
	defer c.stop()
	conn, err := grpc.NewClient(otlpAddress, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodec(encoded{})))
	if err != nil {
		return 0, 0, err
	}
	defer conn.Close()
	arrived := func(n int) error {
		return until("rows", func() bool {
			got, err := query(store, "SELECT count() FROM "+database+"."+w.table)
			var rows int
			_, _ = fmt.Sscan(got, &rows)
			return err == nil && rows >= n
		})
	}
	if err := until("collector", func() bool { return send(conn, load[:1], 1, 1) == nil }); err != nil {
		return 0, 0, err
	}
	if err := arrived(1); err != nil { // its tables are made
		return 0, 0, err
	}
	if _, err := query(store, "TRUNCATE TABLE "+database+"."+w.table); err != nil {
		return 0, 0, err
	}
	clientBefore, engineBefore, err := used(c, engine)
	if err != nil {
		return 0, 0, err
	}
	if err := send(conn, load, 1, 4); err != nil {
		return 0, 0, err
	}
	if err := arrived(records); err != nil {
		return 0, 0, err
	}
	time.Sleep(5 * time.Second) // merges belong to the cost
	clientAfter, engineAfter, err := used(c, engine)
	return clientAfter - clientBefore, engineAfter - engineBefore, err
}

func used(c, engine *process) (client, server time.Duration, err error) {
	if client, err = c.used(); err != nil {
		return 0, 0, err
	}
	server, err = engine.used()
	return client, server, err
}
