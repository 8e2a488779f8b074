package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Ports of the processes under measurement.
const (
	otlpAddress  = "127.0.0.1:21101"
	storeAddress = "127.0.0.1:21102"
)

// pipeline is one configuration of a real Collector on one processor.
type pipeline struct {
	name       string
	processors string
	exporter   string
	passes     int // over all batches
	rates      []float64
}

// throughput measures records per processor second of a real Collector, OTLP over gRPC in, with the
// identity processor and without, in turn. What it is sent was made before. The store runs beside, on
// whatever processor is free; its time is not counted.
func throughput(bin string, rounds int) error {
	return besideStore(bin, func(folder string, _ *process, store string) error { return throughputInto(folder, bin, store, rounds) })
}

func throughputInto(folder, bin, store string, rounds int) error {
	known, load := encode(links()), encode(carriesOne())
	const clickhouse, nop = "faultline_clickhouse", "nop"
	all := []*pipeline{
		{name: "to nop", exporter: nop, passes: 10}, {name: "to nop, attributes, 3 constants", processors: "attributes", exporter: nop, passes: 10},
		{name: "to nop, identity", processors: "identity", exporter: nop, passes: 10},
		{name: "to ClickHouse", exporter: clickhouse, passes: 1}, {name: "to ClickHouse, attributes, 3 constants", processors: "attributes", exporter: clickhouse, passes: 1},
		{name: "to ClickHouse, identity", processors: "identity", exporter: clickhouse, passes: 1},
	}
	for round := range rounds {
		for i, p := range all {
			rate, err := p.measure(folder, bin, store, fmt.Sprintf("round_%d_%d", round, i), known, load)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			p.rates = append(p.rates, rate)
		}
	}
	reportThroughput(all)
	return nil
}

func reportThroughput(all []*pipeline) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nCollector on one processor, OTLP/gRPC in\trecords a CPU second, median\tleast\tmost\tof the same without\ttarget")
	var without float64
	for _, p := range all {
		slices.Sort(p.rates)
		median, share, target := p.rates[len(p.rates)/2], "", ""
		if p.processors == "" {
			without = median
		} else {
			share = fmt.Sprintf("%.0f %%", 100*median/without)
			if p.processors == "identity" {
				target = map[bool]string{true: "80 %", false: "95 %"}[p.exporter == "nop"]
			}
		}
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.0f\t%s\t%s\n", p.name, median, p.rates[0], p.rates[len(p.rates)-1], share, target)
	}
	_ = w.Flush()
}

// besideStore measures something beside a store in a folder, both of which are gone afterwards.
func besideStore(bin string, measure func(folder string, engine *process, store string) error) error {
	folder, err := os.MkdirTemp("", "faultline-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	engine, store, err := startStore(folder, bin)
	if err != nil {
		return err
	}
	defer engine.stop()
	return measure(folder, engine, store)
}

// startStore runs the embedded engine and says where it is, password included.
func startStore(folder, bin string) (p *process, store string, err error) {
	text := fmt.Sprintf("store:\n  listen: %s\n  data_dir: %s\n", storeAddress, filepath.Join(folder, "store"))
	file := filepath.Join(folder, "store.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, "", err
	}
	p, err = startProcess(folder, "", nil, filepath.Join(bin, "faultline"), "store", "--config", file)
	if err != nil {
		return nil, "", err
	}
	if err := until("store", func() bool {
		password, err := os.ReadFile(filepath.Join(folder, "store", "password"))
		store = "http://faultline:" + strings.TrimSpace(string(password)) + "@" + storeAddress
		if err == nil {
			_, err = query(store, "SELECT 1")
		}
		return err == nil
	}); err != nil {
		p.stop()
		return nil, "", err
	}
	return p, store, nil
}

// measure starts a Collector, lets it learn, sends the load, and waits until all of it is where it
// belongs.
func (p *pipeline) measure(folder, bin, store, database string, known, load [][]byte) (rate float64, err error) {
	if p.exporter != "nop" {
		if _, err := query(store, "CREATE DATABASE "+database); err != nil {
			return 0, err
		}
		defer func() { _, _ = query(store, "DROP DATABASE "+database+" SYNC") }()
	}
	text := fmt.Sprintf(`receivers: {otlp: {protocols: {grpc: {endpoint: %q, max_recv_msg_size_mib: 32}}}}
processors:
  identity: {}
  attributes: {actions: [{key: workflow_id, value: w-000001, action: insert}, {key: node_id, value: n-000001, action: insert}, {key: region, value: eu-1, action: insert}]}
exporters:
  nop: {}
  faultline_clickhouse:
    dsn: %q
    create_schema: true
    sending_queue: {sizer: items, queue_size: 5000000, num_consumers: 2, batch: {flush_timeout: 200ms, min_size: 8192, max_size: 65536}}
service:
  pipelines: {logs: {receivers: [otlp], processors: [%s], exporters: [%s]}}
  telemetry: {metrics: {level: none}, logs: {level: warn}}
`, otlpAddress, store+"/"+database, p.processors, p.exporter)
	file := filepath.Join(folder, "collector.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return 0, err
	}
	collector, err := startProcess(folder, "0", nil, filepath.Join(bin, "faultline-collector"), "--config", file)
	if err != nil {
		return 0, err
	}
	defer collector.stop()
	conn, err := grpc.NewClient(otlpAddress, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodec(encoded{})))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if err := until("collector", func() bool { return send(conn, known[:1], 1, 1) == nil }); err != nil {
		return 0, err
	}
	if err := send(conn, known, 1, 2); err != nil {
		return 0, err
	}
	arrived := func(n int, of string) error {
		if p.exporter == "nop" {
			return nil
		}
		return until("rows", func() bool {
			got, err := query(store, "SELECT count() FROM "+database+".events WHERE "+of)
			var rows int
			_, _ = fmt.Sscan(got, &rows)
			return err == nil && rows >= n
		})
	}
	if err := arrived((2*batches+1)*records, "1"); err != nil {
		return 0, err
	}
	time.Sleep(500 * time.Millisecond) // until the collector is at rest
	before, err := collector.used()
	if err != nil {
		return 0, err
	}
	if err := send(conn, load, p.passes, 4); err != nil {
		return 0, err
	}
	if err := arrived(records*batches, "mapContains(attrs, 'net.peer.ip')"); err != nil {
		return 0, err
	}
	after, err := collector.used()
	if err != nil {
		return 0, err
	}
	return float64(p.passes*records*batches) / (after - before).Seconds(), nil
}

// encode is what goes over the wire, made once.
func encode(all []plog.Logs) (out [][]byte) {
	for _, ld := range all {
		text, err := plogotlp.NewExportRequestFromLogs(ld).MarshalProto()
		if err != nil {
			panic(err) // cannot be: it was made here
		}
		out = append(out, text)
	}
	return out
}

// send posts every batch so many times, from so many senders at once.
func send(conn *grpc.ClientConn, load [][]byte, passes, senders int) error {
	var next atomic.Int64
	var group errgroup.Group
	for range senders {
		group.Go(func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= passes*len(load) {
					return nil
				}
				var answer []byte
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				err := conn.Invoke(ctx, "/opentelemetry.proto.collector.logs.v1.LogsService/Export", load[i%len(load)], &answer)
				cancel()
				if err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}

// encoded passes messages that are encoded already.
type encoded struct{}

func (encoded) Name() string                    { return "proto" }
func (encoded) Marshal(v any) ([]byte, error)   { return v.([]byte), nil }
func (encoded) Unmarshal(b []byte, v any) error { *v.(*[]byte) = b; return nil }
