package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/faultline-io/faultline/internal/schema"
)

// askedCorrelator is a correlator that a benchmark has started.
type askedCorrelator struct {
	base string // of its API
	dir  string
	cmd  *exec.Cmd
}

// startCorrelator starts a correlator at a store, without limits and without adopting what is there, and waits until it answers.
func startCorrelator(ctx context.Context, program, dsn string, env ...string) (*askedCorrelator, error) {
	dir, err := os.MkdirTemp("", "faultline-bench-read-")
	if err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := l.Addr().String()
	_ = l.Close()
	file := filepath.Join(dir, "correlator.yaml")
	text := fmt.Sprintf("listen: %s\njudging: {adopt: 0}\nlimits: {rate: 0, concurrent: 0, concurrent_each: 0, streams: 0, streams_each: 0}\n"+
		"access: {log: {requests: false, audit: false}}\nlog: {level: warn}\n", address)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, "--config", file)
	cmd.Env, cmd.Stderr = append(append(os.Environ(), schema.Variable+"="+dsn), env...), os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &askedCorrelator{base: "http://" + address + "/api/v1", dir: dir, cmd: cmd}
	for begun := time.Now(); ; pause(ctx, 200*time.Millisecond) {
		if err = c.answers(ctx); err == nil {
			pause(ctx, 2*time.Second)
			return c, nil
		}
		if time.Since(begun) > 2*time.Minute || ctx.Err() != nil {
			c.stop()
			return nil, fmt.Errorf("the correlator does not answer: %w", err)
		}
	}
}

func (c *askedCorrelator) answers(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/stuck", nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	_, _ = io.Copy(io.Discard, answer.Body)
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("it answers %s", answer.Status)
	}
	return nil
}

// stop ends it, and gives what it took of the processor.
func (c *askedCorrelator) stop() (cpu time.Duration) {
	_ = c.cmd.Process.Signal(os.Interrupt)
	_ = c.cmd.Wait()
	_ = os.RemoveAll(c.dir)
	if s := c.cmd.ProcessState; s != nil {
		return s.UserTime() + s.SystemTime()
	}
	return 0
}
