package collector

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

// childVariable makes the test binary a Collector: one that can be killed.
const childVariable = "FAULTLINE_COLLECTOR_TEST_URI"

// baseVariable names the configuration that it lies over, where that is not DefaultConfig.
const baseVariable = "FAULTLINE_COLLECTOR_TEST_BASE"

// overVariable names a configuration that lies over that one.
const overVariable = "FAULTLINE_COLLECTOR_TEST_OVER"

// binaryVariable names a faultline-collector to test instead.
const binaryVariable = "FAULTLINE_COLLECTOR_BINARY"

func TestMain(m *testing.M) {
	if uri := os.Getenv(childVariable); uri != "" {
		uris := []string{cmp.Or(os.Getenv(baseVariable), DefaultConfig), uri}
		if over := os.Getenv(overVariable); over != "" {
			uris = append(uris, over)
		}
		c, err := otelcol.NewCollector(Settings("test", uris...))
		if err == nil {
			err = c.Run(context.Background())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process is a Collector with the configuration of one host, on ports of its own.
type process struct {
	t          *testing.T
	cmd        *exec.Cmd
	otlp       string // host:port of OTLP over HTTP
	health     string
	metrics    string
	env        []string
	stderrPath string
	uri        string   // of the configuration over that of one host
	wrap       []string // a command that runs it
}

func ports(t *testing.T, n int) []string {
	t.Helper()
	var out []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		out = append(out, l.Addr().String())
	}
	return out
}

// newProcess starts a Collector that keeps its queue in dataDir, else in a folder of its own.
func newProcess(t *testing.T, dsn string, dataDir ...string) *process {
	t.Helper()
	p := ports(t, 4)
	_, metricsPort, _ := net.SplitHostPort(p[3])
	uri := fmt.Sprintf(`yaml:
receivers: {otlp: {protocols: {grpc: {endpoint: %q}, http: {endpoint: %q}}}}
exporters: {faultline_clickhouse: {timeout: 5s, retry_on_failure: {initial_interval: 100ms, max_interval: 500ms}}}
extensions: {health_check: {endpoint: %q}, faultline_queue: {min_free_mib: 2, compaction: {rebound_needed_threshold_mib: 8, rebound_trigger_threshold_mib: 4, check_interval: 1s}}}
service: {telemetry: {metrics: {readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: %s}}}}]}}}
`, p[0], p[1], p[2], metricsPort)
	dir := t.TempDir()
	c := &process{t: t, otlp: p[1], health: p[2], metrics: p[3], stderrPath: filepath.Join(dir, "stderr"), uri: uri}
	c.env = append(os.Environ(), childVariable+"="+uri, "FAULTLINE_CLICKHOUSE_DSN="+dsn, "FAULTLINE_DATA="+append(dataDir, dir)[0])
	c.start()
	t.Cleanup(c.kill)
	return c
}

// start starts it, again after a kill, and waits until it takes data.
func (c *process) start() {
	c.t.Helper()
	c.launch()
	c.healthy()
}

// launch starts it. Where binaryVariable names a program, that is what runs.
func (c *process) launch() {
	c.t.Helper()
	stderr, err := os.OpenFile(c.stderrPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = stderr.Close() }()
	if binary := os.Getenv(binaryVariable); binary != "" && c.uri != "" {
		c.cmd = exec.Command(binary, "--config", DefaultConfig, "--config", c.uri)
	} else {
		command := append(slices.Clone(c.wrap), os.Args[0])
		c.cmd = exec.Command(command[0], command[1:]...)
	}
	c.cmd.Env, c.cmd.Stderr = c.env, stderr
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
}

func (c *process) healthy() {
	c.t.Helper()
	c.eventually("it is healthy", func() error {
		r, err := http.Get("http://" + c.health)
		if err != nil {
			return err
		}
		_ = r.Body.Close()
		if r.StatusCode != http.StatusOK {
			return errors.New(r.Status)
		}
		return nil
	})
}

// setting lies another configuration over it, from the next start on.
func (c *process) setting(text string) {
	c.env = append(c.env, overVariable+"="+"yaml:\n"+text)
}

func (c *process) kill() {
	if c.cmd.ProcessState == nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	}
}

// stop ends it as an operator would.
func (c *process) stop() {
	c.t.Helper()
	_ = c.cmd.Process.Signal(os.Interrupt)
	if err := c.cmd.Wait(); err != nil {
		c.t.Fatalf("stop: %v\n%s", err, c.said())
	}
}

func (c *process) said() string {
	text, _ := os.ReadFile(c.stderrPath)
	return string(text[max(0, len(text)-4000):])
}

func (c *process) eventually(what string, check func() error) {
	c.t.Helper()
	c.within(90*time.Second, what, check)
}

func (c *process) within(patience time.Duration, what string, check func() error) {
	c.t.Helper()
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(min(patience/1000, time.Second)) {
		if err = check(); err == nil {
			return
		}
	}
	c.t.Fatalf("not until now: %s: %v\n%s", what, err, c.said())
}

// post sends one request; the status is 0 where there was no answer.
func (c *process) post(path, contentType string, body []byte) (status int, answer string) {
	return send(http.DefaultClient, c.otlp, path, contentType, body)
}

func send(client *http.Client, address, path, contentType string, body []byte) (status int, answer string) {
	r, err := client.Post("http://"+address+path, contentType, bytes.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = r.Body.Close() }()
	text, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(text)
}

const protobuf = "application/x-protobuf"

func (c *process) postLogs(r plogotlp.ExportRequest) (int, string) {
	body, err := r.MarshalProto()
	if err != nil {
		c.t.Fatal(err)
	}
	return c.post("/v1/logs", protobuf, body)
}

func (c *process) postSpans(r ptraceotlp.ExportRequest) (int, string) {
	body, err := r.MarshalProto()
	if err != nil {
		c.t.Fatal(err)
	}
	return c.post("/v1/traces", protobuf, body)
}
