package collector

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	logproto "github.com/grafana/loki/pkg/push"
	"github.com/klauspost/compress/snappy"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"

	"github.com/faultline-io/faultline/internal/lokitest"
)

// awayVariable is for how long Loki is away in the middle of the load: three seconds where it is not set (make soak-loki: 30m).
const awayVariable = "FAULTLINE_LOKI_AWAY"

// killsAndAway are how many kills there are and for how long what is behind is away, by the environment or as given.
func killsAndAway(t *testing.T, kills int, away time.Duration) (int, time.Duration) {
	t.Helper()
	for variable, set := range map[string]func(string) error{
		killsVariable: func(s string) (err error) { kills, err = strconv.Atoi(s); return err },
		awayVariable:  func(s string) (err error) { away, err = time.ParseDuration(s); return err },
	} {
		if text := os.Getenv(variable); text != "" {
			if err := set(text); err != nil {
				t.Fatalf("%s: %v", variable, err)
			}
		}
	}
	return kills, away
}

// lokiProcess is a Collector with a way to Loki, and for agents a way in as to Loki.
func lokiProcess(t *testing.T, loki string) (c *process, push string) {
	t.Helper()
	p := ports(t, 4)
	_, metricsPort, _ := net.SplitHostPort(p[2])
	dir := t.TempDir()
	text := fmt.Sprintf(`yaml:
receivers: {otlp: {protocols: {http: {endpoint: %q}}}, faultline_loki: {endpoint: %q}}
processors: {identity: {}}
exporters:
  faultline_loki:
    endpoint: %q
    timeout: 5s
    retry_on_failure: {initial_interval: 100ms, max_interval: 500ms}
    sending_queue: {storage: faultline_queue, sizer: items, queue_size: 50000000, num_consumers: 2, batch: {flush_timeout: 200ms, min_size: 2000, max_size: 4000}}
extensions: {health_check: {endpoint: %q}, faultline_queue: {directory: %q, min_free_mib: 2}}
service:
  extensions: [health_check, faultline_queue]
  pipelines: {logs: {receivers: [otlp, faultline_loki], processors: [identity], exporters: [faultline_loki]}}
  telemetry: {metrics: {readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: %s}}}}]}}
`, p[0], p[3], loki, p[1], filepath.Join(dir, "queue"), metricsPort)
	c = &process{t: t, otlp: p[0], health: p[1], metrics: p[2], stderrPath: filepath.Join(dir, "stderr")}
	c.env = append(os.Environ(), baseVariable+"="+text, childVariable+"="+text)
	c.start()
	t.Cleanup(c.kill)
	return c, p[3]
}

// numbered sends batches of lines "batch N record I", each at a nanosecond of its own.
type numbered struct {
	mu    sync.Mutex
	acked map[int]bool
	sent  int
	done  chan struct{}
	all   sync.WaitGroup
}

// sendNumbered sends from several senders, each batch to one of the addresses.
func sendNumbered(senders int, pause time.Duration, addresses ...string) *numbered {
	l := &numbered{acked: map[int]bool{}, done: make(chan struct{})}
	for range senders {
		l.all.Go(func() {
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
			for {
				select {
				case <-l.done:
					return
				case <-time.After(pause):
				}
				l.mu.Lock()
				l.sent++
				batch := l.sent
				l.mu.Unlock()
				body, err := numberedBatch(batch).MarshalProto()
				if err != nil {
					panic(err) // it was made here
				}
				if status, _ := send(client, addresses[batch%len(addresses)], "/v1/logs", protobuf, body); status == http.StatusOK {
					l.mu.Lock()
					l.acked[batch] = true
					l.mu.Unlock()
				}
			}
		})
	}
	return l
}

func numberedBatch(batch int) plogotlp.ExportRequest {
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", fmt.Sprint("service-", batch%3))
	records := rl.ScopeLogs().AppendEmpty().LogRecords()
	now := time.Now().Truncate(time.Microsecond)
	for i := range perBatch {
		lr := records.AppendEmpty()
		lr.SetTimestamp(pcommon.NewTimestampFromTime(now.Add(time.Duration(i))))
		lr.SetSeverityNumber(plog.SeverityNumberInfo)
		lr.Body().SetStr(numberedLine(batch, i))
		lr.Attributes().PutStr("allocation_id", fmt.Sprintf("a-%d", batch%7))
		lr.Attributes().PutStr("node_instance_id", fmt.Sprintf("i-%d", batch%5))
	}
	return plogotlp.NewExportRequestFromLogs(ld)
}

func numberedLine(batch, i int) string {
	return fmt.Sprintf("batch %d record %d of a line that is about as long as lines are", batch, i)
}

func (l *numbered) stop() { close(l.done); l.all.Wait() }

// missing are the lines that were acknowledged and are not there.
func (l *numbered) missing(there map[string]int) (all []string) {
	for batch := range l.acked {
		for i := range perBatch {
			if line := numberedLine(batch, i); there[line] == 0 {
				all = append(all, line)
			}
		}
	}
	return all
}

// doubled is how many lines are there more than once.
func doubled(there map[string]int) (n int) {
	for _, times := range there {
		if times > 1 {
			n++
		}
	}
	return n
}

// everyLine reads all lines of the services, by pages, and counts each.
func everyLine(ctx context.Context, l *lokitest.Server, from, to time.Time) (map[string]int, error) {
	const page = 5000
	out := map[string]int{}
	for service := range 3 {
		at := from
		for {
			lines, _, err := l.Query(ctx, fmt.Sprintf(`{service_name="service-%d"}`, service), at, to, page)
			if err != nil {
				return nil, err
			}
			if len(lines) < page {
				for _, one := range lines {
					out[one.Text]++
				}
				break
			}
			// Of the last moment there may be more on the next page: it begins there.
			last := at
			for _, one := range lines {
				if one.Time.After(last) {
					last = one.Time
				}
			}
			for _, one := range lines {
				if one.Time.Before(last) {
					out[one.Text]++
				}
			}
			at = last
		}
	}
	return out, nil
}

// stopVariable, where it is set, has Loki ended as an operator does it, by SIGTERM, instead of killed (make soak-loki does both).
const stopVariable = "FAULTLINE_LOKI_STOPS"

// Collector and Loki are killed at random moments under load, now one, now the other, now both, and Loki is away for a while.
// Every line that was acknowledged comes to Loki, and is given by it once. What Loki has answered for and does not give
// after it was killed is its own loss: it is counted, and told.
func TestLokiKilledAtRandom(t *testing.T) {
	kills, away := killsAndAway(t, 6, 3*time.Second)
	begun := time.Now()
	seed := uint64(begun.UnixNano()) //nolint:gosec // any number does
	dice := rand.New(rand.NewPCG(seed, 0))
	loki := lokitest.Start(t, lokitest.Settings{Limits: lokitest.NoRates()})
	launch := func() {
		if err := loki.Launch(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	end := loki.Kill
	if os.Getenv(stopVariable) != "" {
		end = func() {
			if err := loki.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	accepted := newWitness(t, loki.URL)
	c, _ := lokiProcess(t, accepted.url)
	pause := 10 * time.Millisecond
	if away > time.Minute { // half a million lines in half an hour
		pause = 500 * time.Millisecond
	}
	load := sendNumbered(3, pause, c.otlp)
	for n := range kills {
		time.Sleep(time.Duration(dice.IntN(1500)) * time.Millisecond)
		what := n % 3 // the Collector, Loki, both
		if what != 1 {
			c.kill()
		}
		if what != 0 {
			end()
			time.Sleep(time.Duration(dice.IntN(1000)) * time.Millisecond)
			if n == 1 { // the Collector stays, and takes what is sent meanwhile
				time.Sleep(away)
			}
			if dice.IntN(2) == 0 { // in either order
				launch()
				if what == 2 {
					c.launch()
				}
				continue
			}
		}
		if what != 1 {
			c.launch()
		}
		if what != 0 {
			launch()
		}
	}
	c.healthy()
	load.stop()
	drain := time.Now()
	var there map[string]int
	forgotten := 0
	c.within(10*time.Minute, "every acknowledged line has come to Loki", func() (err error) {
		if there, err = everyLine(t.Context(), loki, begun.Add(-time.Minute), time.Now().Add(time.Minute)); err != nil {
			return err
		}
		missing := load.missing(there)
		forgotten = 0
		for _, line := range missing {
			if accepted.has(line) {
				forgotten++
			}
		}
		if n := len(missing) - forgotten; n > 0 || forgotten > 0 && time.Since(drain) < time.Minute {
			return fmt.Errorf("%d lines are missing of %d; of %d of them Loki has said that it took them", len(missing), len(load.acked)*perBatch, forgotten)
		}
		return nil
	})
	twice := doubled(there)
	if twice > 0 {
		t.Errorf("%d lines are there more than once", twice)
	}
	if len(load.acked) < 5*kills {
		t.Errorf("only %d batches were acknowledged", len(load.acked))
	}
	counted, err := loki.Count(t.Context(), `{service_name=~"service-.*"}`, time.Now().Add(time.Minute), time.Since(begun)+2*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if counted != len(there) {
		t.Errorf("count_over_time says %d of %d lines", counted, len(there))
	}
	t.Logf("seed %d: %d kills, Loki away for %s, %d lines acknowledged of %d sent: 0 lost, %d doubled, %d read, %d that Loki answered for and gives no more; count_over_time says %d; the last backlog took %s", seed, kills, away,
		len(load.acked)*perBatch, load.sent*perBatch, twice, len(there), forgotten, counted, time.Since(drain).Round(100*time.Millisecond))
	c.stop()
}

// What an agent pushes as it would to Loki goes through the Collector to Loki, stamped with whose it is.
func TestLokiFromAgentToLoki(t *testing.T) {
	loki := lokitest.Start(t, lokitest.Settings{})
	c, push := lokiProcess(t, loki.URL)
	now := time.Now().Truncate(time.Millisecond)
	assigned := plog.NewLogs()
	lr := assigned.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	lr.SetTimestamp(pcommon.NewTimestampFromTime(now.Add(-time.Minute)))
	_ = lr.Attributes().FromRaw(map[string]any{"event.name": "node.assigned", "node_id": "n-1", "allocation_id": "a-1"})
	if status, answer := c.postLogs(plogotlp.NewExportRequestFromLogs(assigned)); status != http.StatusOK {
		t.Fatal(status, answer)
	}
	plain, err := (&logproto.PushRequest{Streams: []logproto.Stream{{Labels: `{job="kernel", level="warning", node_id="n-1", node_instance_id="i-1"}`,
		Entries: []logproto.Entry{{Timestamp: now, Line: "NVRM: Xid 79", StructuredMetadata: logproto.LabelsAdapter{{Name: "unit", Value: "kernel"}}}}}}}).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{}
	if status, answer := send(client, push, "/loki/api/v1/push", protobuf, snappy.Encode(nil, plain)); status != http.StatusNoContent {
		t.Fatal(status, answer)
	}
	text := fmt.Sprintf(`{"streams":[{"stream":{"app":"cloud-init","node_id":"n-1"},"values":[["%d","done",{"node_instance_id":"i-1"}]]}]}`, now.UnixNano())
	if status, answer := send(client, push, "/loki/api/v1/push", "application/json", []byte(text)); status != http.StatusNoContent {
		t.Fatal(status, answer)
	}
	c.eventually("both lines are in Loki", func() error {
		lines, _, err := loki.Query(t.Context(), `{service_name=~"kernel|cloud-init"} | node_instance_id="i-1" | allocation_id="a-1"`, now.Add(-time.Hour), now.Add(time.Hour), 10)
		if err != nil {
			return err
		}
		if len(lines) != 2 {
			return fmt.Errorf("%d lines", len(lines))
		}
		for _, one := range lines {
			if one.Text == "NVRM: Xid 79" && (one.Labels["severity"] != "warn" || one.Labels["via"] == "" || one.Labels["unit"] != "kernel" || one.Labels["job"] != "kernel") || !one.Time.Equal(now) {
				return fmt.Errorf("%v", one)
			}
			if one.Text != "NVRM: Xid 79" && one.Text != "done" {
				return fmt.Errorf("%v", one)
			}
		}
		return nil
	})
	c.stop()
}
