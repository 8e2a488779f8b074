package embedded

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"go.uber.org/goleak"
)

// The one engine of this process, from its start to its end.
func TestServer(t *testing.T) {
	defer goleak.VerifyNone(t)
	cfg := DefaultConfig()
	cfg.Listen, cfg.DataDir = "127.0.0.1:0", t.TempDir()
	log := slog.New(slog.DiscardHandler)
	s, err := Start(t.Context(), cfg, log)
	if err != nil {
		t.Fatal(err)
	}
	stopped := false
	defer func() {
		if !stopped {
			_ = s.Close(context.Background())
		}
	}()
	t.Run("a folder has one store", func(t *testing.T) {
		if _, err := Start(t.Context(), cfg, log); err == nil || !strings.Contains(err.Error(), "is in use") {
			t.Errorf("%v", err)
		}
	})
	t.Run("a process has one engine", func(t *testing.T) {
		other := cfg
		other.DataDir = t.TempDir()
		if _, err := Start(t.Context(), other, log); err == nil || !strings.Contains(err.Error(), "this process has had one") {
			t.Errorf("%v", err)
		}
	})
	t.Run("limits that don't hold are seen", func(t *testing.T) {
		conn, err := s.library.Connect("--path=" + filepath.Join(s.cfg.DataDir, "clickhouse"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := s.cfg.checkLimits(conn); err != nil {
			t.Error(err)
		}
		other := s.cfg
		other.MemoryLimit += MiB
		if err := other.checkLimits(conn); err == nil || !strings.Contains(err.Error(), "max_server_memory_usage: want 2148532224, the engine has 2147483648") {
			t.Errorf("%v", err)
		}
	})
	o, err := clickhouse.ParseDSN(s.DSN())
	if err != nil {
		t.Fatal(err)
	}
	c, err := clickhouse.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	t.Run("its database is Atomic", func(t *testing.T) {
		var engine, zone, fsync string
		err := c.QueryRow(t.Context(), "SELECT engine, timezone(), (SELECT value FROM system.merge_tree_settings WHERE name = 'fsync_after_insert') FROM system.databases WHERE name = currentDatabase()").Scan(&engine, &zone, &fsync)
		if err != nil || engine != "Atomic" || zone != "UTC" || fsync != "1" {
			t.Errorf("engine %q, timezone %q, fsync %q, %v", engine, zone, fsync, err)
		}
	})
	t.Run("memory is limited and the store stays", func(t *testing.T) {
		err := c.Exec(t.Context(), "SELECT length(groupArray(repeat('x', 1000))) FROM numbers(10000000)")
		if err == nil || !strings.Contains(err.Error(), "MEMORY_LIMIT_EXCEEDED") {
			t.Errorf("%v", err)
		}
		if err := c.Exec(t.Context(), "SELECT 1"); err != nil {
			t.Error(err)
		}
	})
	get := func(path string) (int, string) {
		t.Helper()
		resp, err := http.Get("http://" + s.Addr() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(b)
	}
	t.Run("its pages", func(t *testing.T) {
		for path, want := range map[string]string{"/healthz": "ok\n", "/readyz": "ready\n", "/ping": "Ok.\n"} {
			if code, b := get(path); code != http.StatusOK || b != want {
				t.Errorf("%s: %d %q", path, code, b)
			}
		}
		_, b := get("/metrics")
		for _, want := range []string{
			"faultline_store_statements_total ", `faultline_store_failures_total{code="241"} 1`, "faultline_store_read_rows_total ",
			"faultline_store_written_rows_total ", "faultline_store_statements_in_flight 0", "process_resident_memory_bytes ",
		} {
			if !strings.Contains(b, want) {
				t.Errorf("metrics lack %q", want)
			}
		}
	})
	t.Run("it stops in time", func(t *testing.T) {
		failed := make(chan error, 1)
		go func() {
			failed <- c.Exec(context.Background(), "SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))")
		}()
		for s.face.Running() == 0 {
			time.Sleep(time.Millisecond)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		begun := time.Now()
		stopped = true
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("took %s", took)
		}
		if err := <-failed; err == nil {
			t.Error("the killed statement succeeded")
		}
	})
	http.DefaultClient.CloseIdleConnections()
}
