package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/story"
)

func benchCommand() *cobra.Command {
	b := bench{}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Run the product without the lab and measure delay, CPU and memory",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	cmd.Flags().IntVar(&b.verdicts, "verdicts", 200, "verdicts to wait for, one after the other")
	cmd.Flags().IntVar(&b.records, "records", 100_000, "records to send through the Collector")
	cmd.AddCommand(benchStoreCommand())
	return cmd
}

// bench is one measurement of a product of its own, on free ports and in a folder that it removes.
type bench struct {
	verdicts, records int
	cfg               upConfig
}

func (b *bench) run(ctx context.Context, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "faultline-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	b.cfg = defaultUpConfig()
	b.cfg.DataDir, b.cfg.RunLab = dir, false
	for _, a := range []*string{&b.cfg.Store, &b.cfg.OTLP.GRPC, &b.cfg.OTLP.HTTP, &b.cfg.CollectorHealth, &b.cfg.CollectorMetrics, &b.cfg.Correlator} {
		if *a, err = freePort(ctx); err != nil {
			return err
		}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- up(ctx, b.cfg, &onReady{ready: ready}) }()
	select {
	case <-ready:
	case err := <-done:
		return err
	}
	err = b.measure(ctx, out)
	stop()
	if e := <-done; err == nil {
		err = e
	}
	return err
}

// onReady closes its channel when the product says that it is up.
type onReady struct{ ready chan struct{} }

func (o *onReady) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("faultline is up")) {
		close(o.ready)
	}
	return len(p), nil
}

func freePort(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}

func (b *bench) measure(ctx context.Context, out io.Writer) error {
	pause(ctx, 10*time.Second)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer func() { _ = t.Flush() }()
	for _, p := range programsRunning() {
		_, _ = fmt.Fprintf(t, "memory at rest\t%s\t%.0f MB\n", p.name, float64(p.rss)/1e6)
	}
	delays := make([]time.Duration, 0, b.verdicts)
	for i := range b.verdicts {
		d, err := b.delay(ctx, i)
		if err != nil {
			return err
		}
		delays = append(delays, d)
	}
	slices.Sort(delays)
	at := func(q float64) time.Duration {
		return delays[min(len(delays)-1, int(q*float64(len(delays))))].Round(time.Millisecond)
	}
	_, _ = fmt.Fprintf(t, "emission to readable verdict\tp50 of %d\t%s\n", len(delays), at(0.5))
	_, _ = fmt.Fprintf(t, "emission to readable verdict\tp99 of %d\t%s\n", len(delays), at(0.99))
	return b.throughput(ctx, t)
}

// tale is a failing allocation of thirteen records; %[1]d makes its identifiers its own.
const tale = `
%[2]s provisioner allocation.state allocation_id=b-%[1]d correlation_id=c-%[1]d to=requested
%[2]s provisioner workflow.state allocation_id=b-%[1]d workflow_id=w-%[1]d operation=provision to=running
%[2]s provisioner node.assigned allocation_id=b-%[1]d node_id=n-%[1]d
%[2]s provisioner allocation.state allocation_id=b-%[1]d from=reserved to=provisioning
%[2]s provisioner task.state task_id=k-%[1]d workflow_id=w-%[1]d node_id=n-%[1]d type=prepare to=queued
%[3]s ingress-proxy error tls.client.subject=CN=n-%[1]d | client certificate of CN=n-%[1]d refused: x509: certificate has expired or is not yet valid
%[3]s node-agent error resource.node_id=n-%[1]d | claim: remote error: tls: expired certificate
%[3]s node heartbeat resource.node_id=n-%[1]d component=node
%[4]s provisioner task.state task_id=k-%[1]d workflow_id=w-%[1]d node_id=n-%[1]d type=prepare to=expired reason="not claimed before expires_at"
%[4]s provisioner error workflow_id=w-%[1]d | retries exhausted
%[4]s provisioner workflow.state allocation_id=b-%[1]d workflow_id=w-%[1]d operation=provision to=failed
%[4]s provisioner allocation.state allocation_id=b-%[1]d from=provisioning to=failed
%[4]s cli error allocation_id=b-%[1]d | b-%[1]d is failed
`

// delay is the time from the emission of a failing allocation to its verdict, read over REST.
func (b *bench) delay(ctx context.Context, i int) (time.Duration, error) {
	now := time.Now().UTC()
	stamp := func(ago time.Duration) string { return now.Add(-ago).Format(time.RFC3339Nano) }
	records, err := story.Parse(fmt.Sprintf(tale, i, stamp(300*time.Millisecond), stamp(200*time.Millisecond), stamp(100*time.Millisecond)))
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	if err := b.send(ctx, records); err != nil {
		return 0, err
	}
	q := question{server: "http://" + b.cfg.Correlator}
	for time.Since(begun) < 30*time.Second {
		var a correlator.Allocation
		if err := q.get(ctx, fmt.Sprintf("/api/v1/allocations/b-%d", i), &a); err == nil && a.Verdict.Outcome == correlator.Attributed {
			return time.Since(begun), nil
		}
		pause(ctx, 5*time.Millisecond)
	}
	return 0, fmt.Errorf("no verdict on b-%d after 30 s", i)
}

// send posts log records to the Collector as one OTLP/JSON request each line.
func (b *bench) send(ctx context.Context, records []*record.Record) error {
	text, err := otlpfile.Write(records)
	if err != nil {
		return err
	}
	var resources []json.RawMessage
	for line := range bytes.SplitSeq(bytes.TrimSpace(text), []byte("\n")) {
		var one struct {
			ResourceLogs []json.RawMessage `json:"resourceLogs"`
		}
		if err := json.Unmarshal(line, &one); err != nil {
			return err
		}
		resources = append(resources, one.ResourceLogs...)
	}
	body, err := json.Marshal(map[string]any{"resourceLogs": resources})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+b.cfg.OTLP.HTTP+"/v1/logs", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the Collector answered %s", answer.Status)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

// throughput sends records in requests of 520 and reads what the Collector spent until all were written.
func (b *bench) throughput(ctx context.Context, t io.Writer) error {
	cpu := func() (time.Duration, int64) {
		for _, p := range programsRunning() {
			if p.name == "faultline-collector" {
				return p.cpu, p.rss
			}
		}
		return 0, 0
	}
	before, _ := cpu()
	rowsBefore, err := b.rows(ctx)
	if err != nil {
		return err
	}
	begun, sent := time.Now(), 0
	for i := 0; sent < b.records; i++ {
		var records []*record.Record
		for range 40 {
			now := time.Now().UTC()
			more, err := story.Parse(fmt.Sprintf(tale, 1_000_000+sent+len(records), now.Format(time.RFC3339Nano), now.Format(time.RFC3339Nano), now.Format(time.RFC3339Nano)))
			if err != nil {
				return err
			}
			records = append(records, more...)
		}
		if err := b.send(ctx, records); err != nil {
			return err
		}
		sent += len(records)
	}
	for time.Since(begun) < 5*time.Minute {
		n, err := b.rows(ctx)
		if err != nil {
			return err
		}
		if n-rowsBefore >= sent {
			after, rss := cpu()
			took := time.Since(begun)
			_, _ = fmt.Fprintf(t, "Collector CPU per 1,000 records\t%d log records, OTLP/JSON, 520 a request\t%s\n", sent, ((after - before) * 1000 / time.Duration(sent)).Round(10*time.Microsecond))
			_, _ = fmt.Fprintf(t, "sent to written\t%d records\t%.0f records/s\n", sent, float64(sent)/took.Seconds())
			_, _ = fmt.Fprintf(t, "Collector memory after that\t\t%.0f MB\n", float64(rss)/1e6)
			return nil
		}
		pause(ctx, 20*time.Millisecond)
	}
	return fmt.Errorf("not all of %d records were written within 5 minutes", sent)
}

// rows reads the exporter's own count of written rows.
func (b *bench) rows(ctx context.Context) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.cfg.CollectorMetrics+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	total := 0.0
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "faultline_exporter_rows_total") {
			v, err := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:], 64)
			if err != nil {
				return 0, fmt.Errorf("read the Collector's metrics: %w", err)
			}
			total += v
		}
	}
	return int(total), nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// program is one of our child processes.
type program struct {
	name string
	rss  int64         // bytes
	cpu  time.Duration // user and system
}

// clockTicks a second is what Linux tells every process on every machine of today.
const clockTicks = 100

// programsRunning reads our children from /proc.
func programsRunning() []program {
	var out []program
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		f := strings.Fields(after)
		if len(f) < 22 || f[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		args := strings.Split(string(line), "\x00")
		name := filepath.Base(args[0])
		if name == "faultline" && len(args) > 1 {
			name += " " + args[1]
		}
		user, _ := strconv.ParseInt(f[11], 10, 64)
		system, _ := strconv.ParseInt(f[12], 10, 64)
		pages, _ := strconv.ParseInt(f[21], 10, 64)
		out = append(out, program{name, pages * int64(os.Getpagesize()), time.Duration(user+system) * time.Second / clockTicks})
	}
	slices.SortFunc(out, func(a, b program) int { return strings.Compare(a.name, b.name) })
	return out
}
