package supervise

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Part is one process.
type Part struct {
	Name    string
	Command []string // program and arguments
	Env     []string // on top of our own, KEY=value
	Log     string   // file that takes its output
	Ready   string   // URL that answers 200 when it is ready; "" is ready at once
	Finite  bool     // it may end by itself: exit status 0 is no death
	Patience,
	Grace time.Duration // how long it may take to get ready, and to stop
}

// process is a part that runs.
type process struct {
	part Part
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
	err  error         // how, valid after done
}

// start runs the part in a process group of its own, so that Ctrl-C in a terminal reaches it through us
// and in our order. Should we be killed, the kernel ends it.
func (p Part) start() (*process, error) {
	log, err := os.OpenFile(p.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	c := exec.Command(p.Command[0], p.Command[1:]...) //nolint:noctx // it is stopped by signal, in order
	c.Env = append(os.Environ(), p.Env...)
	c.Stdout, c.Stderr = log, log
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	r := &process{part: p, cmd: c, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel's promise to end the child hangs on the thread that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer func() { _ = log.Close() }()
		if err := c.Start(); err != nil {
			started <- fmt.Errorf("start %s: %w", p.Name, err)
			return
		}
		started <- nil
		r.err = c.Wait()
		close(r.done)
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return r, nil
}

// ready waits until the part answers, ends, or runs out of patience.
func (r *process) ready(ctx context.Context) error {
	if r.part.Ready == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.part.Patience)
	defer cancel()
	client := http.Client{Timeout: 2 * time.Second}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.part.Ready, nil)
		if err != nil {
			return fmt.Errorf("%s: %w", r.part.Name, err)
		}
		if answer, err := client.Do(request); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-r.done:
			return fmt.Errorf("%s ended before it was ready (%s):\n%s", r.part.Name, ending(r.err), tail(r.part.Log))
		case <-ctx.Done():
			return fmt.Errorf("%s was not ready after %s:\n%s", r.part.Name, r.part.Patience, tail(r.part.Log))
		case <-tick.C:
		}
	}
}

// stop asks the part to end, and makes it where it does not.
func (r *process) stop() {
	_ = r.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-r.done:
	case <-time.After(r.part.Grace):
		_ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
		<-r.done
	}
}

func ending(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}
