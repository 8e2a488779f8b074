package lokitest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Server is one Loki.
type Server struct {
	URL string

	tenant      string
	dir, binary string
	keeper      *exec.Cmd
	alive       io.Closer // the keeper reads it; when it ends, so does the server
}

// keep runs the server until standard input ends, however the process at its other end does.
const keep = `"$1" -config.file="$2/loki.yaml" -target=all >>"$2/log" 2>&1 & server=$!; echo $server >"$2/pid"
cat >/dev/null; kill -KILL $server; wait $server`

// config of a Loki that is ready at once. Limits are its defaults, those of a production server.
const config = `auth_enabled: %t
server: {http_listen_address: 127.0.0.1, http_listen_port: %s, grpc_listen_address: 127.0.0.1, grpc_listen_port: %s, grpc_server_max_recv_msg_size: 104857600, log_level: warn}
common:
  instance_addr: 127.0.0.1
  path_prefix: %[4]s/data
  storage: {filesystem: {chunks_directory: %[4]s/data/chunks, rules_directory: %[4]s/data/rules}}
  replication_factor: 1
  ring: {kvstore: {store: inmemory}}
ingester: {lifecycler: {min_ready_duration: 0s, final_sleep: 0s}%[5]s}
frontend: {scheduler_dns_lookup_period: 200ms}
frontend_worker: {dns_lookup_duration: 200ms}
schema_config:
  configs: [{from: 2020-10-24, store: tsdb, object_store: filesystem, schema: v13, index: {prefix: index_, period: 24h}}]
analytics: {reporting_enabled: false}
limits_config:
  volume_enabled: true
`

// Settings of a server.
type Settings struct {
	Tenants  bool     // auth_enabled: X-Scope-OrgID is asked for
	Limits   []string // lines of limits_config
	Ingester []string // entries of ingester, as `chunk_block_size: 65536`
}

// NoRates are limits under which nobody who sends as fast as he can is told to wait.
func NoRates() []string {
	return []string{"ingestion_rate_mb: 1000", "ingestion_burst_size_mb: 2000", "per_stream_rate_limit: 1GB", "per_stream_rate_limit_burst: 2GB", "max_query_series: 10000"}
}

// Start runs a server for a test. Where there is none, the test is skipped.
func Start(t testing.TB, s Settings) *Server {
	t.Helper()
	server, err := Open(t.Context(), t.TempDir(), s)
	if errors.Is(err, ErrAbsent) {
		t.Skip("NOT TESTED AGAINST LOKI: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	return server
}

// Open runs a server in a folder, for anybody.
func Open(ctx context.Context, dir string, s Settings) (*Server, error) {
	binary, err := Binary()
	if err != nil {
		return nil, err
	}
	address, port, err := free()
	if err != nil {
		return nil, err
	}
	_, grpc, err := free()
	if err != nil {
		return nil, err
	}
	ingester := ""
	for _, entry := range s.Ingester {
		ingester += ", " + entry
	}
	text := fmt.Sprintf(config, s.Tenants, port, grpc, dir, ingester)
	for _, line := range s.Limits {
		text += "  " + line + "\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "loki.yaml"), []byte(text), 0o600); err != nil {
		return nil, fmt.Errorf("write Loki's configuration: %w", err)
	}
	server := &Server{URL: "http://" + address, dir: dir, binary: binary}
	return server, server.Launch(ctx)
}

// free is an address on loopback that nobody listens at.
func free() (address, port string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	if err != nil {
		return "", "", fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	address = l.Addr().String()
	_, port, err = net.SplitHostPort(address)
	return address, port, err
}

// Launch starts it, again after Kill, and waits until it is ready.
func (s *Server) Launch(ctx context.Context) error {
	s.keeper = exec.Command("sh", "-c", keep, "keep", s.binary, s.dir) //nolint:noctx // it outlives the start
	s.keeper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	alive, err := s.keeper.StdinPipe()
	if err != nil {
		return fmt.Errorf("start Loki: %w", err)
	}
	if err := s.keeper.Start(); err != nil {
		return fmt.Errorf("start Loki: %w", err)
	}
	s.alive = alive
	if err := s.ready(ctx); err != nil {
		s.Kill()
		log, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		return fmt.Errorf("%w: %s", err, log[max(0, len(log)-4000):])
	}
	return nil
}

// patience is how long a server may take to be ready on a busy machine.
const patience = 90 * time.Second

func (s *Server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		text, err := s.get(ctx, "/ready")
		if err == nil && strings.TrimSpace(string(text)) == "ready" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for Loki: %w", errors.Join(err, ctx.Err()))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Kill ends it as kill -9 does; what it holds stays in its folder.
func (s *Server) Kill() {
	if s.alive != nil {
		_ = s.alive.Close()
		_ = s.keeper.Wait()
		s.alive = nil
	}
}

// Stop ends it as an operator does, by SIGTERM: it finishes what it was asked.
func (s *Server) Stop(ctx context.Context) error {
	text, err := os.ReadFile(filepath.Join(s.dir, "pid"))
	if err != nil {
		return fmt.Errorf("stop Loki: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("stop Loki: %w", err)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop Loki: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for syscall.Kill(pid, 0) == nil {
		if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || strings.Contains(string(state), ") Z ") {
			break // ended, and its keeper has not looked yet
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stop Loki: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
	s.Kill()
	return nil
}

// WriteChunks writes what it holds in memory to its store, and waits until it holds nothing.
func (s *Server) WriteChunks(ctx context.Context) error {
	for {
		if err := s.flush(ctx); err != nil {
			return fmt.Errorf("write chunks: %w", err)
		}
		held, err := s.metric(ctx, "loki_ingester_memory_chunks")
		if err != nil || held == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("write chunks: %w", ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Server) flush(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/flush", nil)
	if err != nil {
		return err
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = r.Body.Close() }()
	if r.StatusCode/100 != 2 {
		return errors.New(r.Status)
	}
	return nil
}
