package embedded

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

func TestDefaultConfigIsValid(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", "/data")
	c := DefaultConfig()
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	if c.DataDir != "/data/faultline/store" || c.Listen != "127.0.0.1:9123" || c.MemoryLimit != 2*GiB || !c.Fsync {
		t.Errorf("%+v", c)
	}
}

func TestConfigSurvivesYAML(t *testing.T) {
	want := DefaultConfig()
	b, err := yaml.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), "memory_limit: 2GiB\n") {
		t.Errorf("%s", b)
	}
	var got Config
	if err := yaml.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestValidateNamesTheKey(t *testing.T) {
	for key, change := range map[string]func(*Config){
		"listen":        func(c *Config) { c.Listen = "0.0.0.0:9123" },
		"data_dir":      func(c *Config) { c.DataDir = "" },
		"memory_limit":  func(c *Config) { c.MemoryLimit = MiB },
		"mark_cache":    func(c *Config) { c.MarkCache = 0 },
		"index_cache":   func(c *Config) { c.IndexCache = 2 * GiB },
		"connections":   func(c *Config) { c.Connections = 0 },
		"wait":          func(c *Config) { c.Wait = 0 },
		"stall":         func(c *Config) { c.Stall = time.Millisecond },
		"max_statement": func(c *Config) { c.MaxStatement = 1 },
		"max_insert":    func(c *Config) { c.MaxInsert = 1 },
	} {
		c := DefaultConfig()
		c.DataDir = "/data"
		change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestLoopback(t *testing.T) {
	for address, ok := range map[string]bool{
		"127.0.0.1:9123": true, "127.8.8.8:1": true, "[::1]:0": true, "localhost:9123": true,
		"0.0.0.0:9123": false, ":9123": false, "[::]:9123": false, "10.0.0.1:9123": false, "example.org:9123": false,
		"127.0.0.1": false, "127.0.0.1:x": false, "127.0.0.1:70000": false, "": false,
	} {
		if err := loopback(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{"0": 0, "5": 5, "2GiB": 2 * GiB, "1536 MiB": 1536 * MiB, "64KiB": 64 * KiB} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "-1", "2GB", "GiB", "1.5GiB", "9223372036854775807GiB"} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

func TestEnsurePassword(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "password")
	var all sync.WaitGroup
	got := make([]string, 8)
	for n := range got {
		all.Go(func() {
			p, err := EnsurePassword(path)
			if err != nil {
				t.Error(err)
			}
			got[n] = p
		})
	}
	all.Wait()
	for _, p := range got {
		if p != got[0] || len(p) < 20 {
			t.Errorf("passwords %q", got)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := EnsurePassword(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a readable password file: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = os.Chmod(path, 0o600)
	if _, err := EnsurePassword(path); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("an empty password file: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".password-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
