package collector

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

// journal is a folder of real journal files, as journald leaves them, written by systemd's own program for
// journals from elsewhere. That one takes no rights.
type journal struct {
	t       *testing.T
	program string
	dir     string
}

func newJournal(t *testing.T) *journal {
	t.Helper()
	j := &journal{t: t, program: "/lib/systemd/systemd-journal-remote", dir: t.TempDir()}
	if own := os.Getenv("FAULTLINE_JOURNAL_REMOTE"); own != "" {
		j.program = own
	}
	for _, program := range []string{j.program, "journalctl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("SKIPPED, no journal is read: there is no %s (Debian: systemd-journal-remote): %v", program, err)
		}
	}
	return j
}

// entry is what journald knows of a line, as it would of a service of its node's.
func entry(identifier, priority, message string) map[string]string {
	return map[string]string{
		"_BOOT_ID": "0123456789abcdef0123456789abcdef", "_MACHINE_ID": "fedcba9876543210fedcba9876543210", "_HOSTNAME": "rack7-n1",
		"_SYSTEMD_UNIT": identifier + ".service", "_COMM": identifier, "SYSLOG_IDENTIFIER": identifier, "PRIORITY": priority, "MESSAGE": message,
	}
}

// append writes entries at the end of the journal, in the export format, said now.
func (j *journal) append(entries ...map[string]string) {
	j.t.Helper()
	var in bytes.Buffer
	for i, e := range entries {
		_, _ = fmt.Fprintf(&in, "__REALTIME_TIMESTAMP=%d\n__MONOTONIC_TIMESTAMP=%d\n", time.Now().UnixMicro()+int64(i), time.Now().UnixMicro()+int64(i))
		_, _ = fmt.Fprintf(&in, "_BOOT_ID=%s\n", e["_BOOT_ID"]) // as text only, like the times
		for k, v := range e {
			if k == "_BOOT_ID" {
				continue
			}
			_, _ = in.WriteString(k + "\n")
			_, _ = in.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(v))), v+"\n"...))
		}
		_, _ = in.WriteString("\n")
	}
	c := exec.Command(j.program, "--output", filepath.Join(j.dir, "remote.journal"), "-")
	c.Stdin = &in
	if out, err := c.CombinedOutput(); err != nil {
		j.t.Fatalf("%v: %s", err, out)
	}
}

// follow starts an agent on the journal and waits until it reads it: it begins at the end, whenever journalctl is there.
func (j *journal) follow(agent *process, arrived func() (int, error)) {
	j.t.Helper()
	agent.start()
	n := 0
	agent.eventually("the journal is followed", func() error {
		n++
		j.append(entry("node-agent", "6", fmt.Sprintf("warming up %d", n)))
		time.Sleep(time.Second)
		there, err := arrived()
		if err == nil && there == 0 {
			err = errors.New("no line is there")
		}
		return err
	})
}

// A node's journal reaches the store by the shipped configuration, whatever its lines are made of: named with the
// node, stamped with the allocation that held it.
func TestAgentJournalFiles(t *testing.T) {
	j := newJournal(t)
	dsn := embeddedtest.DSN(t)
	gateway := newProcess(t, dsn)
	conn := connect(t, dsn)
	assigned := logs(1, "assigned", map[string]any{"event.name": "node.assigned", "node_id": "n-1", "allocation_id": "a-1"})
	if status, answer := gateway.postLogs(assigned); status != http.StatusOK {
		t.Fatal(status, answer)
	}
	agent := newAgent(t, gateway, "journald", "/nowhere")
	agent.setting(fmt.Sprintf("receivers: {journald: {directory: %q}}", j.dir))
	j.follow(agent, func() (int, error) {
		return number(conn, "SELECT count() FROM events WHERE startsWith(body, 'warming up')")
	})
	long := "panic: runtime error: invalid memory address or nil pointer dereference\n" + strings.Repeat("main.(*agent).step(0xc000102030)\n\t/src/agent/step.go:77 +0x1d\n", 200)
	nameless := entry("", "4", "from a program that names itself in no way but by being there")
	delete(nameless, "SYSLOG_IDENTIFIER")
	delete(nameless, "_SYSTEMD_UNIT")
	nameless["_COMM"] = "node-agent"
	nobody := entry("", "6", "from nobody")
	for _, k := range []string{"SYSLOG_IDENTIFIER", "_SYSTEMD_UNIT", "_COMM"} {
		delete(nobody, k)
	}
	j.append(
		entry("node-agent", "3", "remote error: tls: expired certificate"),
		entry("node-agent", "2", long),
		entry("node-agent", "4", "\x1b[33mclaim task:\x1b[0m dial tcp 10.0.0.7:443: connect: connection timed out"),
		entry("kernel", "0", "Kernel panic - not syncing: Fatal exception in interrupt"),
		nameless, nobody,
	)
	const ours = ` AND node_id = 'n-1' AND node_instance_id = 'i-1' AND allocation_id = 'a-1' AND via IN ('node', 'node_instance')
AND attrs['boot_id'] = '0123456789abcdef0123456789abcdef' AND resource['host.name'] = 'rack7-n1' AND abs(dateDiff('second', time, now())) < 600`
	for _, want := range []struct{ what, where string }{
		{"a line of the agent's", "body = 'remote error: tls: expired certificate' AND service = 'node-agent' AND severity = 17 AND attrs['systemd.unit'] = 'node-agent.service'"},
		{"a stack of many lines", fmt.Sprintf("startsWith(body, 'panic: runtime error') AND length(body) = %d AND service = 'node-agent' AND severity = 21", len(long))},
		{"a coloured line", "body LIKE '%claim task:%connection timed out' AND service = 'node-agent' AND severity = 13"},
		{"the kernel's last words", "startsWith(body, 'Kernel panic') AND service = 'kernel' AND severity = 21"},
		{"a program without an identifier", "startsWith(body, 'from a program') AND service = 'node-agent'"},
		{"a line of nobody's", "body = 'from nobody' AND service = 'journald'"},
	} {
		t.Run(want.what, func(t *testing.T) {
			agent.t = t
			agent.reachesWithin(20*time.Second, conn, "SELECT count() FROM records WHERE "+want.where+ours, 1)
		})
	}
	agent.t = t
	agent.stop()
}

// What is said while the agent's queue is full, while it is killed, at the end of a boot and at the beginning of the next
// one arrives, each line.
func TestAgentJournalKilled(t *testing.T) {
	j := newJournal(t)
	dsn := embeddedtest.DSN(t)
	gateway := newProcess(t, dsn)
	conn := connect(t, dsn)
	agent := newAgent(t, gateway, "journald", "/nowhere")
	agent.setting(fmt.Sprintf(`receivers: {journald: {directory: %q, retry_on_failure: {initial_interval: 50ms, max_interval: 200ms}}}
exporters: {otlp_http: {sending_queue: {queue_size: 20, batch: {flush_timeout: 100ms, min_size: 1, max_size: 10}}}}`, j.dir))
	j.follow(agent, func() (int, error) {
		return number(conn, "SELECT count() FROM events WHERE startsWith(body, 'warming up')")
	})
	written := 0
	say := func(boot string, lines int) {
		t.Helper()
		var all []map[string]string
		for range lines {
			written++
			e := entry("node-agent", "6", fmt.Sprintf("line %d of many", written))
			e["_BOOT_ID"] = boot
			all = append(all, e)
		}
		j.append(all...)
	}
	const earlier = "0123456789abcdef0123456789abcdef"
	present, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	gateway.kill()
	for range 3 {
		say(earlier, 50)
		time.Sleep(2 * time.Second) // the queue is full, and a line waits before it
		agent.kill()
		say(earlier, 10)
		agent.start()
	}
	agent.kill()
	say(earlier, 10)
	say(strings.ReplaceAll(strings.TrimSpace(string(present)), "-", ""), 10)
	agent.start()
	gateway.start()
	time.Sleep(time.Second)
	say(earlier, 1) // journalctl looks for what it missed when there is news
	const ours = "SELECT uniqExact(body) FROM events WHERE endsWith(body, ' of many')"
	agent.reaches(conn, ours, written)
	rows, err := number(conn, "SELECT uniqExact(time, service, key) FROM events WHERE endsWith(body, ' of many')")
	if err != nil || rows != written {
		t.Errorf("%d lines count as %d, %v", written, rows, err)
	}
	agent.stop()
}
