package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/lab"
)

// line is one of a node's log files, or of the store.
type line struct {
	micros int64 // since 1970
	text   string
}

// written is what stands in a node's log files.
func written(t *testing.T, nodes, node string) (out []line) {
	t.Helper()
	for _, name := range []string{"agent.log", "journal.json"} {
		text, err := os.ReadFile(filepath.Join(nodes, node, "log", name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		for row := range bytes.Lines(text) {
			if !bytes.HasSuffix(row, []byte("\n")) {
				continue // it is being written
			}
			var l struct {
				Time    time.Time `json:"time"`
				Msg     string    `json:"msg"`
				Micros  int64     `json:"__REALTIME_TIMESTAMP,string"`
				Message string    `json:"MESSAGE"`
			}
			if err := json.Unmarshal(row, &l); err != nil {
				t.Fatalf("%s: %v", row, err)
			}
			if l.Micros == 0 {
				l.Micros = l.Time.UnixMicro()
			}
			out = append(out, line{l.Micros, l.Msg + l.Message})
		}
	}
	return out
}

// stored is what the store has of a node's log files; a line that is there under two keys is an error.
func stored(t *testing.T, conn driver.Conn, node string) map[line]bool {
	t.Helper()
	out := map[line]bool{}
	rows, err := conn.Query(t.Context(), "SELECT DISTINCT key, toUnixTimestamp64Micro(time), body FROM records WHERE node_id = '"+node+"' AND attrs['log.file.path'] != ''")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var key string
		var l line
		if err := rows.Scan(&key, &l.micros, &l.text); err != nil {
			t.Fatal(err)
		}
		if out[l] {
			t.Errorf("%v is stored twice", l)
		}
		out[l] = true
	}
	return out
}

// missing are lines that the store does not have.
func missing(lines []line, in map[line]bool) (out []line) {
	for _, l := range lines {
		if !in[l] {
			out = append(out, l)
		}
	}
	return out
}

func newest(lines []line) (micros int64) {
	for _, l := range lines {
		micros = max(micros, l.micros)
	}
	return micros
}

// A node's logs reach the store through files and an agent Collector that is killed in the middle: nothing twice,
// nothing lost. When the node is reimaged before the Collector is back, what had been sent survives, what had
// not is gone with the disk, and the timeline has a hole there.
func TestReimage(t *testing.T) {
	dsn := embeddedtest.DSN(t)
	otlp, s := address(t), newStage(t, 0.4)
	gateway := newCollector(t, []string{"FAULTLINE_CLICKHOUSE_DSN=" + dsn, "FAULTLINE_DATA=" + t.TempDir()}, fmt.Sprintf(`
receivers: {otlp: {protocols: {grpc: {endpoint: %q}, http: {endpoint: %q}}}}`, address(t), otlp), "embedded:lab")
	nodes := filepath.Join(s.lab.Data, "nodes")
	quick := "{poll_interval: 50ms}"
	agents := newCollector(t, []string{"FAULTLINE_GATEWAY=http://" + otlp, "FAULTLINE_DATA=" + t.TempDir(), "FAULTLINE_NODES=" + nodes, "FAULTLINE_NODE_ID=", "FAULTLINE_NODE_INSTANCE_ID="},
		fmt.Sprintf(`{receivers: {file_log/agents: %[1]s, file_log/journals: %[1]s, file_log/consoles: %[1]s}, exporters: {otlp_http: {sending_queue: {batch: {flush_timeout: 100ms}}}}}`, quick),
		"embedded:agent", "embedded:nodes")
	gateway.start()
	agents.start()
	conn, err := schema.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()

	s.lab.LogFiles, s.lab.Export, s.lab.Nodes, s.lab.Stories = true, "", 1, []string{"slow"}
	s.lab.Every = 10 * time.Second // somebody always has the node
	s.lab.Telemetry.Endpoint, s.provisioner.Telemetry.Endpoint, s.provisioner.Telemetry.File = "http://"+otlp, "http://"+otlp, ""
	started := make(chan *lab.Nodes, 1)
	lab.OnStart(&s.lab, func(m *lab.Nodes) { started <- m })
	stop := s.run(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- lab.Run(ctx, s.lab, s.log) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		stop()
	}()
	running := <-started
	const node = "node-01"
	said := func(words string) func() error {
		return func() error {
			for _, l := range written(t, nodes, node) {
				if strings.Contains(l.text, words) {
					return nil
				}
			}
			lines := written(t, nodes, node)
			return fmt.Errorf("nothing says %q, the last lines are %v", words, lines[max(0, len(lines)-5):])
		}
	}
	allStored := func() func() error {
		now := written(t, nodes, node)
		return func() error {
			if left := missing(now, stored(t, conn, node)); len(left) > 0 {
				return fmt.Errorf("%d lines of %d are not in the store: %v …", len(left), len(now), left[0])
			}
			return nil
		}
	}

	// Killed in the middle: it goes on where it was.
	eventually(t, "a task is at work", said("task node.prepare claimed"))
	agents.kill()
	eventually(t, "the next one is", said("task node.provision claimed"))
	agents.start()
	eventually(t, "every line so far is in the store", allStored())

	// Killed, and the node wiped before it is back.
	agents.kill()
	sent, read := stored(t, conn, node), map[line]bool{} // what was read may still be on its way
	for _, l := range written(t, nodes, node) {
		read[l] = true
	}
	var unsent []line
	eventually(t, "two seconds of lines that nobody has read", func() error {
		unsent = missing(written(t, nodes, node), read)
		if newest(unsent)-newest(slices.Collect(maps.Keys(read))) < 2e6 {
			return errors.New("not yet")
		}
		return nil
	})
	old := column(t, conn, "SELECT DISTINCT node_instance_id FROM events WHERE service = 'node-agent' AND node_id = '"+node+"' AND startsWith(body, 'enrolled as')")
	if len(old) != 1 {
		t.Fatalf("node instances %v", old)
	}
	if err := running.Reimage(ctx, node); err != nil {
		t.Fatal(err)
	}
	eventually(t, "another node instance", said("enrolled as"))
	for _, l := range written(t, nodes, node) {
		if strings.Contains(l.text, old[0]) || sent[l] {
			t.Errorf("the disk of the new node instance has a line of the old one: %v", l)
		}
	}
	agents.start()
	eventually(t, "the new one's lines", allStored())
	now := stored(t, conn, node)
	for l := range sent {
		if !now[l] {
			t.Errorf("%v was in the store before the disk was wiped", l)
		}
	}
	for _, l := range unsent {
		if now[l] {
			t.Errorf("%v is in the store, and was on the wiped disk only", l)
		}
	}
	t.Logf("%d lines were sent before the wipe, at least %d never", len(sent), len(unsent))
	hole(t, conn, old[0], node)
}

func column(t *testing.T, conn driver.Conn, query string) (out []string) {
	t.Helper()
	rows, err := conn.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// hole wants a gap of the node instance in the timeline of the allocation that had the node.
func hole(t *testing.T, conn driver.Conn, instance, node string) {
	t.Helper()
	p, err := profile.Load("default")
	if err != nil {
		t.Fatal(err)
	}
	library := clickhouse.New(conn, p).WithWords(rules.Words())
	eventually(t, "a gap", func() error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ids := column(t, conn, "SELECT DISTINCT allocation_id FROM events WHERE node_id = '"+node+"' AND allocation_id != ''")
		for _, id := range ids {
			a, err := (&query.Service{Store: library, Profile: p, Rules: rules.All()}).Verdict(ctx, id, 0)
			if err != nil {
				return err
			}
			for _, e := range a.Timeline {
				if e.Kind == "gap" && e.IDs["node_instance_id"] == instance && e.IDs["node_id"] == node {
					t.Log(id + ": " + e.Summary)
					return nil
				}
			}
		}
		return fmt.Errorf("no timeline of %d has one", len(ids))
	})
}
