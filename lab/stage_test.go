package lab_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
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
	var held []net.Listener
	port := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, l) // all at once, so that no two are the same
		return l.Addr().String()
	}
	s := &stage{lab: lab.DefaultConfig(), export: filepath.Join(dir, "export.jsonl")}
	c := &s.lab
	c.ProvisionerFaults = ""
	c.Data, c.Scale, c.Export, c.Nodes, c.Telemetry.Endpoint = dir, scale, s.export, 6, ""
	c.Ingress, c.API, c.Auth, c.DeadAPI = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	c.Telemetry.Heartbeat = time.Second
	s.provisioner = lab.ProvisionerConfig(*c)
	s.provisioner.Telemetry.Endpoint, s.provisioner.Telemetry.File = "", s.export
	s.provisioner.Control, s.provisioner.Node, s.provisioner.Ops, s.provisioner.Grace = port(), port(), port(), 3*time.Second
	c.Provisioner, c.NodeAPI = "http://"+s.provisioner.Control, s.provisioner.Node
	for _, l := range held {
		_ = l.Close()
	}
	out := io.Discard
	if testing.Verbose() {
		out = os.Stderr
	}
	s.log = slog.New(slog.NewTextHandler(out, nil))
	return s
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
