package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// process is a program of the product's under measurement.
type process struct {
	cmd *exec.Cmd
	log *os.File
}

// startProcess runs a program, on one processor where one is named, with what it says in a file.
func startProcess(folder, processor string, env []string, args ...string) (*process, error) {
	log, err := os.Create(filepath.Join(folder, filepath.Base(args[0])+".log"))
	if err != nil {
		return nil, err
	}
	if processor != "" {
		args = append([]string{"taskset", "-c", processor}, args...)
	}
	p := &process{cmd: exec.Command(args[0], args[1:]...), log: log}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.Env = log, log, append(os.Environ(), env...)
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	return p, nil
}

// stop ends it in good order.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	ended := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = p.cmd.Process.Kill()
		<-ended
	}
	_ = p.log.Close()
}

// used is the processor time that it has taken so far (/proc/PID/stat: utime and stime in ticks of 10 ms).
func (p *process) used() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond, err
}

// until asks until it is so, or says what was waited for.
func until(what string, so func() bool) error {
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if so() {
			return nil
		}
	}
	return fmt.Errorf("%s: waited five minutes in vain", what)
}

// query asks the store over HTTP.
func query(store, text string) (string, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, store+"/", strings.NewReader(text))
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", text, body)
	}
	return strings.TrimSpace(string(body)), err
}
