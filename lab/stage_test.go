package lab_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/lab"
	"github.com/faultline-io/faultline/provisioner"
)

// stage is a provisioner and a lab on free ports, whose telemetry goes to one file.
type stage struct {
	lab         lab.Config
	provisioner provisioner.Config
	export      string
	log         *slog.Logger
}

func newStage(t *testing.T, scale float64) *stage {
	t.Helper()
	dir := t.TempDir()
	free := freePorts(t, 3)
	s := &stage{lab: lab.DefaultConfig(), export: filepath.Join(dir, "export.jsonl")}
	c := &s.lab
	c.ProvisionerFaults = ""
	c.Data, c.Scale, c.Export, c.Nodes, c.Telemetry.Endpoint = dir, scale, s.export, 6, ""
	c.Ingress, c.API, c.Auth, c.DeadAPI = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	c.Telemetry.Heartbeat = time.Second
	s.provisioner = lab.ProvisionerConfig(*c)
	s.provisioner.Telemetry.Endpoint, s.provisioner.Telemetry.File = "", s.export
	s.provisioner.Control, s.provisioner.Node, s.provisioner.Ops, s.provisioner.Grace = free[0], free[1], free[2], 3*time.Second
	c.Provisioner, c.NodeAPI = "http://"+s.provisioner.Control, s.provisioner.Node
	out := io.Discard
	if testing.Verbose() {
		out = os.Stderr
	}
	s.log = slog.New(slog.NewTextHandler(out, nil))
	return s
}

// freePorts are addresses at which nobody listens, below those that the kernel gives to whoever dials: until they are used, or while a process is
// started again, nobody takes them.
func freePorts(t *testing.T, n int) (addresses []string) {
	t.Helper()
	var held []net.Listener // all at once, so that no two are the same
	for range 100 * n {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))) //nolint:gosec // a test's port
		if err != nil {
			continue
		}
		if held, addresses = append(held, l), append(addresses, l.Addr().String()); len(held) == n {
			break
		}
	}
	for _, l := range held {
		_ = l.Close()
	}
	if len(held) < n {
		t.Fatalf("%d of %d ports are free", len(held), n)
	}
	return addresses
}

// run starts a provisioner; the returned function stops it and waits.
func (s *stage) run(t *testing.T) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- provisioner.Run(ctx, s.provisioner, s.log) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			t.Error("provisioner:", err)
		}
	}
}

func (s *stage) records(t *testing.T) []*record.Record {
	t.Helper()
	var all []*record.Record
	text, err := os.ReadFile(s.export)
	if err != nil {
		t.Fatal(err)
	}
	r := &otlpfile.Reader{
		Stdin:  bytes.NewReader(text[:bytes.LastIndexByte(text, '\n')+1]), // the last line may be half written
		Record: func(r *record.Record) { all = append(all, r) },
		Reject: func(r otlpfile.Rejection) { t.Error("export:", r) },
	}
	if err := r.ReadFile(otlpfile.Stdin); err != nil {
		t.Fatal(err)
	}
	return all
}

func (s *stage) truths(t *testing.T) map[string]lab.Truth {
	t.Helper()
	f, err := os.Open(filepath.Join(s.lab.Data, lab.TruthFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	out := map[string]lab.Truth{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var v lab.Truth
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		out[v.AllocationID] = v
	}
	return out
}
