package embeddedtest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/embedded"
	"github.com/faultline-io/faultline/internal/embedded/engine"
)

// Process is a store in a process of its own.
type Process struct {
	DSN string
	// PID is the process's id.
	PID int

	cmd    *exec.Cmd
	stdin  *os.File
	stderr string
}

// Config is a small store on a free port with its data in dir. It doesn't sync: tests don't lose power.
func Config(dir string) embedded.Config {
	cfg := embedded.DefaultConfig()
	cfg.Listen, cfg.DataDir, cfg.Fsync = "127.0.0.1:0", filepath.Join(dir, "store"), false
	cfg.MarkCache, cfg.IndexCache = 64*embedded.MiB, 16*embedded.MiB
	return cfg
}

// Start starts a store and waits until it answers; its error holds what the store said. It installs the engine where that is
// missing. The test ends it, at the latest.
func Start(t testing.TB, cfg embedded.Config) (*Process, error) {
	t.Helper()
	dir := t.TempDir()
	p, err := start(cfg, filepath.Join(dir, "stderr"), "")
	if err == nil {
		t.Cleanup(func() { _ = p.Kill() })
	}
	return p, err
}

func start(cfg embedded.Config, stderr, ephemeral string) (_ *Process, err error) {
	cache, err := engine.CacheDir(cfg.CacheDir)
	if err != nil {
		return nil, err
	}
	if _, err := engine.Install(context.Background(), cache, os.Stderr); err != nil {
		return nil, err
	}
	config, err := yaml.Marshal(cfg)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var open []*os.File
	defer func() {
		for _, f := range open {
			_ = f.Close()
		}
	}()
	lifeR, lifeW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	open = append(open, lifeR)
	readyR, readyW, err := os.Pipe()
	if err != nil {
		_ = lifeW.Close()
		return nil, err
	}
	open = append(open, readyR, readyW)
	said, err := os.Create(stderr)
	if err != nil {
		_ = lifeW.Close()
		return nil, err
	}
	open = append(open, said)
	// Files, not writers: no goroutine copies, so a test that looks for leaked ones finds none of ours.
	cmd := exec.Command(self) //nolint:noctx // it ends with its pipe
	cmd.Env = append(os.Environ(), childEnv+"="+string(config), ephemeralEnv+"="+ephemeral)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = lifeR, said, said, []*os.File{readyW}
	if err := cmd.Start(); err != nil {
		_ = lifeW.Close()
		return nil, fmt.Errorf("start the store: %w", err)
	}
	p := &Process{PID: cmd.Process.Pid, cmd: cmd, stdin: lifeW, stderr: stderr}
	_ = readyW.Close()
	open = open[:0:0]
	defer func() { err = errors.Join(err, lifeR.Close(), readyR.Close(), said.Close()) }()
	line, err := bufio.NewReader(readyR).ReadString('\n')
	if err != nil {
		_ = p.Kill()
		return nil, fmt.Errorf("the store did not start: %s", p.Said())
	}
	p.DSN = strings.TrimSpace(line)
	return p, nil
}

// Said is what the store wrote on standard error.
func (p *Process) Said() string {
	b, err := os.ReadFile(p.stderr)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(b))
}

// Kill ends the store as kill -9 does. It is over on return.
func (p *Process) Kill() error { return p.end(syscall.SIGKILL) }

// Stop asks the store to end and waits; an error says that it did not end well.
func (p *Process) Stop() error { return p.end(syscall.SIGTERM) }

func (p *Process) end(s syscall.Signal) error {
	if p.cmd.ProcessState != nil {
		return nil
	}
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	err := p.cmd.Wait()
	_ = p.stdin.Close()
	if s == syscall.SIGKILL {
		return nil // the exit status tells of the kill
	}
	return err
}
