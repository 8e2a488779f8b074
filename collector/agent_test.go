package collector

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

// newAgent prepares a Collector with the configuration of a node, as it is shipped but for its ports,
// the files that it reads and how soon it tries again. wrap is a command that runs it.
func newAgent(t *testing.T, gateway *process, receivers, files string, wrap ...string) *process {
	t.Helper()
	p := ports(t, 2)
	_, metricsPort, _ := net.SplitHostPort(p[1])
	dir := t.TempDir()
	c := &process{t: t, health: p[0], metrics: p[1], stderrPath: filepath.Join(dir, "stderr"), wrap: wrap}
	c.env = append(os.Environ(), "FAULTLINE_GATEWAY=http://"+gateway.otlp, "FAULTLINE_DATA="+dir,
		"FAULTLINE_NODE_ID=n-1", "FAULTLINE_NODE_INSTANCE_ID=i-1", baseVariable+"=embedded:agent", childVariable+"="+fmt.Sprintf(`yaml:
receivers: {file_log: {include: [%q], poll_interval: 50ms}}
exporters: {otlp_http: {retry_on_failure: {initial_interval: 100ms, max_interval: 500ms}}}
extensions: {health_check: {endpoint: %q}}
service: {pipelines: {logs: {receivers: [%s]}}, telemetry: {metrics: {readers: [{pull: {exporter: {prometheus: {host: 127.0.0.1, port: %s}}}}]}}}
`, files, p[0], receivers, metricsPort))
	t.Cleanup(func() {
		if c.cmd != nil {
			c.kill()
		}
	})
	return c
}

// A node's files reach the store, named with the node and stamped with the allocation that held it,
// across a gateway that is away and an agent that is killed meanwhile.
func TestAgentFiles(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	gateway := newProcess(t, dsn)
	conn := connect(t, dsn)
	file := filepath.Join(t.TempDir(), "cloud-init.log")
	written := 0
	write := func(lines int) {
		t.Helper()
		f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		w := bufio.NewWriter(f)
		for range lines {
			written++
			_, _ = fmt.Fprintf(w, "cloud-init step %d of many\n", written)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	assigned := logs(1, "assigned", map[string]any{"event.name": "node.assigned", "node_id": "n-1", "allocation_id": "a-1"})
	if status, answer := gateway.postLogs(assigned); status != http.StatusOK {
		t.Fatal(status, answer)
	}
	write(100)
	agent := newAgent(t, gateway, "file_log", file)
	agent.start()
	const ours = "SELECT uniqExact(body) FROM events WHERE startsWith(body, 'cloud-init step ')"
	agent.reaches(conn, ours+" AND service = 'cloud-init' AND node_id = 'n-1' AND node_instance_id = 'i-1' AND allocation_id = 'a-1' AND via IN ('node', 'node_instance')", 100)

	gateway.kill()
	write(100)
	time.Sleep(2 * time.Second) // they are in the queue, and sending has failed
	agent.kill()
	write(100)
	agent.start() // with the gateway still away
	write(100)
	time.Sleep(2 * time.Second)
	agent.stop()
	agent.start()
	gateway.start()
	agent.reaches(conn, ours, written)
	rows, err := number(conn, "SELECT count() FROM events WHERE startsWith(body, 'cloud-init step ')")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d lines, %d rows", written, rows)
	agent.stop()
	gateway.stop()
}

// The journal of a node, from a real journald in a mount namespace of its own: what the line says, who
// said it, how bad it is and in which boot.
func TestAgentJournal(t *testing.T) {
	const journald = "/lib/systemd/systemd-journald"
	for _, program := range []string{journald, "unshare", "nsenter", "journalctl", "systemd-cat"} {
		if _, err := exec.LookPath(program); err != nil || os.Getuid() != 0 {
			t.Skipf("needs root and %s", program)
		}
	}
	journal := exec.Command("unshare", "--mount", "sh", "-c", "mount -t tmpfs tmpfs /run && mkdir -p /run/log/journal && exec "+journald)
	if err := journal.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = journal.Process.Kill(); _ = journal.Wait() })
	inside := []string{"nsenter", "--mount", "--target", fmt.Sprint(journal.Process.Pid), "--"}
	run := func(args ...string) error {
		out, err := exec.Command(inside[0], append(inside[1:], args...)...).CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err
	}
	for deadline := time.Now().Add(10 * time.Second); run("test", "-S", "/run/systemd/journal/socket") != nil; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Skip("no journald can be run here")
		}
	}
	dsn := embeddedtest.DSN(t)
	gateway := newProcess(t, dsn)
	conn := connect(t, dsn)
	agent := newAgent(t, gateway, "journald, file_log", filepath.Join(t.TempDir(), "none.log"), inside...)
	agent.start()
	say := func(line string) {
		t.Helper()
		if err := run("sh", "-c", "echo '"+line+"' | systemd-cat -t node-agent -p err"); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	agent.eventually("the journal is followed", func() error { // it begins at the end, whenever journalctl is there
		n++
		say(fmt.Sprintf("warming up %d", n))
		time.Sleep(time.Second)
		there, err := number(conn, "SELECT count() FROM events WHERE startsWith(body, 'warming up')")
		if err == nil && there == 0 {
			err = errors.New("no line is there")
		}
		return err
	})
	say("remote error: tls: expired certificate")
	agent.reaches(conn, `SELECT count() FROM records WHERE body = 'remote error: tls: expired certificate' AND service = 'node-agent' AND severity = 17
AND node_id = 'n-1' AND node_instance_id = 'i-1' AND length(attrs['boot_id']) = 32`, 1)

	// What is said while the agent is down is read from where it stopped.
	agent.kill()
	say("nobody listens")
	agent.start()
	time.Sleep(time.Second)
	say("begin running") // as a Collector's own log has it under systemd: journalctl looks for what it missed when there is news
	agent.reaches(conn, "SELECT uniqExact(time, service, key) FROM events WHERE body = 'nobody listens'", 1)
	agent.stop()
}
