package collector

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/faultline-io/faultline/correlator/loki"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/lokitest"
)

// lossy passes requests on, and of every so many answers one is lost: who asked does not know that it was done.
type lossy struct {
	url  string
	lost atomic.Int64
}

func newLossy(t *testing.T, to string, every int64) *lossy {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	l := &lossy{}
	var answers atomic.Int64
	way := httputil.NewSingleHostReverseProxy(target)
	way.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) } // as if nobody were between
	way.ModifyResponse = func(r *http.Response) error {
		if r.StatusCode/100 == 2 && answers.Add(1)%every == 0 {
			l.lost.Add(1)
			panic(http.ErrAbortHandler)
		}
		return nil
	}
	gate := httptest.NewServer(way)
	t.Cleanup(gate.Close)
	l.url = gate.URL
	return l
}

// lokiAgent is a Collector on a node that sends to a gateway, with a queue on disk.
func lokiAgent(t *testing.T, exporter, gateway string) *process {
	t.Helper()
	p := ports(t, 3)
	_, metricsPort, _ := net.SplitHostPort(p[2])
	dir := t.TempDir()
	text := fmt.Sprintf(`yaml:
receivers: {otlp: {protocols: {http: {endpoint: %q}}}}
exporters:
  %[2]s:
    endpoint: %[3]q
    timeout: 5s
    retry_on_failure: {initial_interval: 50ms, max_interval: 300ms, max_elapsed_time: 0s}
    sending_queue: {storage: faultline_queue, sizer: items, queue_size: 50000000, num_consumers: 4, batch: {flush_timeout: 100ms, min_size: 100, max_size: 400}}
extensions: {health_check: {endpoint: %[4]q}, faultline_queue: {directory: %[5]q, min_free_mib: 2}}
service:
  extensions: [health_check, faultline_queue]
  pipelines: {logs: {receivers: [otlp], exporters: [%[2]s]}}
  telemetry: {metrics: {readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: %[6]s}}}}]}}
`, p[0], exporter, gateway, p[1], filepath.Join(dir, "queue"), metricsPort)
	c := &process{t: t, otlp: p[0], health: p[1], metrics: p[2], stderrPath: filepath.Join(dir, "stderr")}
	c.env = append(os.Environ(), baseVariable+"="+text, childVariable+"="+text)
	c.start()
	t.Cleanup(c.kill)
	return c
}

// A gateway between agents and Loki is killed at random moments under load, in its first moments too, and answers are lost before and behind
// it. One agent speaks OTLP to it, the other pushes as to Loki. What an agent has acknowledged comes to Loki, and is given by it once.
func TestLokiGatewayKilled(t *testing.T) {
	kills, away := killsAndAway(t, 8, 2*time.Second)
	begun := time.Now()
	seed := uint64(begun.UnixNano()) //nolint:gosec // any number does
	dice := rand.New(rand.NewPCG(seed, 0))
	l := lokitest.Start(t, lokitest.Settings{Limits: lokitest.NoRates()})
	behind := newLossy(t, l.URL, 10)
	gateway, push := lokiProcess(t, behind.url)
	beforeOTLP, beforePush := newLossy(t, "http://"+gateway.otlp, 7), newLossy(t, "http://"+push, 7)
	agents := []*process{lokiAgent(t, "otlp_http", beforeOTLP.url), lokiAgent(t, "faultline_loki", beforePush.url)}
	pause := 5 * time.Millisecond
	if away > time.Minute {
		pause = 250 * time.Millisecond
	}
	load := sendNumbered(3, pause, agents[0].otlp, agents[1].otlp)
	for n := range kills {
		wait := time.Duration(dice.IntN(1000)) * time.Millisecond
		if n%4 == 3 { // it meets a start
			wait = time.Duration(dice.IntN(100)) * time.Millisecond
		}
		time.Sleep(wait)
		gateway.kill()
		if n == 1 { // the agents take what is sent meanwhile
			time.Sleep(away)
		}
		gateway.launch()
	}
	gateway.healthy()
	load.stop()
	drain := time.Now()
	var there map[string]int
	gateway.within(5*time.Minute, "every acknowledged line has come to Loki", func() (err error) {
		if there, err = everyLine(t.Context(), l, begun.Add(-time.Minute), time.Now().Add(time.Minute)); err != nil {
			return err
		}
		if missing := load.missing(there); len(missing) > 0 {
			return fmt.Errorf("%d lines are missing of %d, such as %q", len(missing), len(load.acked)*perBatch, missing[0])
		}
		return nil
	})
	took := time.Since(drain)
	for _, agent := range agents {
		agent.stop()
	}
	gateway.stop() // what was on its way twice has arrived
	if there, err := everyLine(t.Context(), l, begun.Add(-time.Minute), time.Now().Add(time.Minute)); err != nil || doubled(there) > 0 {
		t.Errorf("%d lines are there more than once (%v)", doubled(there), err)
	}
	if len(load.acked) < 5*kills {
		t.Errorf("only %d batches were acknowledged", len(load.acked))
	}
	for where, gate := range map[string]*lossy{"Loki": behind, "the gateway's OTLP": beforeOTLP, "the gateway's push API": beforePush} {
		if gate.lost.Load() == 0 {
			t.Errorf("no answer of %s was lost", where)
		}
	}
	counted, err := l.Count(t.Context(), `{service_name=~"service-.*"}`, time.Now().Add(time.Minute), time.Since(begun)+2*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("seed %d: %d kills of the gateway, away for %s, %d lines acknowledged of %d sent, %d answers lost before it and %d behind: 0 lost, %d read; count_over_time says %d; the last backlog took %s", seed, kills, away,
		len(load.acked)*perBatch, load.sent*perBatch, beforeOTLP.lost.Load()+beforePush.lost.Load(), behind.lost.Load(), len(there), counted, took.Round(100*time.Millisecond))
}

// An agent's push is stamped anew when it comes again, and a gateway that was killed meanwhile may know less than before: what Loki has with more
// metadata is not sent. Where it knows more, Loki has the line twice; a query by what was stamped gives one, and so does what reads lines back,
// whatever it asks by.
func TestLokiStampedAnew(t *testing.T) {
	l := lokitest.Start(t, lokitest.Settings{})
	gateway, push := lokiProcess(t, l.URL)
	now := time.Now().Truncate(time.Millisecond)
	assigned := func() {
		t.Helper()
		r := logs(1, "assigned", map[string]any{"event.name": "node.assigned", "node_id": "n-1", "allocation_id": "a-1"})
		r.Logs().ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).SetTimestamp(pcommon.NewTimestampFromTime(now.Add(-time.Minute)))
		if status, answer := gateway.postLogs(r); status != http.StatusOK {
			t.Fatal(status, answer)
		}
	}
	send := func(service string) {
		t.Helper()
		text := fmt.Sprintf(`{"streams":[{"stream":{"service_name":%q},"values":[["%d","link down",{"node_id":"n-1"}]]}]}`, service, now.UnixNano())
		if status, answer := send(http.DefaultClient, push, "/loki/api/v1/push", "application/json", []byte(text)); status != http.StatusNoContent {
			t.Fatal(status, answer)
		}
	}
	found := func(question string, want int) {
		t.Helper()
		gateway.eventually(fmt.Sprintf("%s gives %d lines", question, want), func() error {
			lines, _, err := l.Query(t.Context(), question, now.Add(-time.Second), now.Add(time.Second), 10)
			if err == nil && len(lines) != want {
				err = fmt.Errorf("%v", lines)
			}
			return err
		})
	}
	send("kernel")
	found(`{service_name="kernel"}`, 1)
	assigned()
	send("dmesg")
	send("dmesg") // its answer was lost, and nothing else happened
	found(`{service_name="dmesg"} | allocation_id="a-1"`, 1)
	gateway.kill()
	gateway.start()
	send("dmesg") // its answer was lost, and the gateway was killed: it knows less
	send("last")  // what is behind it is in Loki, too, when this is
	found(`{service_name="last"}`, 1)
	found(`{service_name="dmesg"}`, 1)
	assigned()
	send("kernel") // it knows more
	found(`{service_name="kernel"}`, 2)
	found(`{service_name="kernel"} | allocation_id="a-1"`, 1)
	c := loki.DefaultConfig()
	c.URL = l.URL
	reader, err := loki.New(c)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := reader.Lines(t.Context(), query.LineQuestion{Sources: []string{"kernel"}, Key: "node_id", ID: "n-1", From: now.UnixNano(), To: now.UnixNano() + 1, Most: 10})
	if err != nil || len(lines) != 1 || lines[0].Labels["allocation_id"] != "a-1" {
		t.Errorf("%v, %v", lines, err)
	}
	gateway.stop()
}
