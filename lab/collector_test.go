package lab_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/otelcol"

	"github.com/faultline-io/faultline/collector"
)

// collectorVariable makes the test binary a Collector with the configurations that it lists: one that can be killed.
const collectorVariable = "FAULTLINE_LAB_TEST_COLLECTOR"

func init() {
	uris := os.Getenv(collectorVariable)
	if uris == "" {
		return
	}
	c, err := otelcol.NewCollector(collector.Settings("test", strings.Split(uris, "\x1f")...))
	if err == nil {
		err = c.Run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// collectorProcess is a real Collector.
type collectorProcess struct {
	t      *testing.T
	env    []string
	health string
	stderr string
	cmd    *exec.Cmd
}

func address(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// newCollector prepares one; over lies over the configurations that have names.
func newCollector(t *testing.T, env []string, over string, names ...string) *collectorProcess {
	t.Helper()
	c := &collectorProcess{t: t, health: address(t), stderr: filepath.Join(t.TempDir(), "stderr")}
	_, metrics, _ := net.SplitHostPort(address(t))
	own := fmt.Sprintf("yaml:{extensions: {health_check: {endpoint: %q}}, service: {telemetry: {metrics: {readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: %s}}}}]}}}}", c.health, metrics)
	c.env = append(append(os.Environ(), env...), collectorVariable+"="+strings.Join(append(names, own, "yaml:"+over), "\x1f"))
	t.Cleanup(c.kill)
	return c
}

func (c *collectorProcess) start() {
	c.t.Helper()
	stderr, err := os.OpenFile(c.stderr, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = stderr.Close() }()
	c.cmd = exec.Command(os.Args[0])
	c.cmd.Env, c.cmd.Stderr = c.env, stderr
	if err := c.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	defer http.DefaultClient.CloseIdleConnections()
	eventually(c.t, "the Collector is healthy", func() error {
		r, err := http.Get("http://" + c.health)
		if err != nil {
			text, _ := os.ReadFile(c.stderr)
			return fmt.Errorf("%w: %s", err, text[max(0, len(text)-2000):])
		}
		defer func() { _ = r.Body.Close() }()
		if r.StatusCode != http.StatusOK {
			return errors.New(r.Status)
		}
		return nil
	})
}

// kill ends it without a word.
func (c *collectorProcess) kill() {
	if c.cmd != nil && c.cmd.ProcessState == nil {
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	}
}

// eventually is generous: the machine may be busy.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatalf("not until now: %s: %v", what, err)
}
