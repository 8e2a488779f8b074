package supervise

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Run starts the parts in order, calls ready when the last one answers, and keeps them running until
// ctx ends; then it stops them in reverse order. A part that dies is started again and said so on out.
// An error is a part that could not be started; whatever ran by then is stopped.
func Run(ctx context.Context, parts []Part, out io.Writer, ready func()) error {
	var running []*keeper
	defer func() {
		for _, k := range slices.Backward(running) {
			k.stop()
		}
	}()
	for _, p := range parts {
		begun := time.Now()
		r, err := p.start()
		if err != nil {
			return err
		}
		k := keep(r, out)
		running = append(running, k)
		if err := r.ready(ctx); err != nil {
			if ctx.Err() != nil {
				return nil // told to stop meanwhile
			}
			return err
		}
		k.restart()
		_, _ = fmt.Fprintf(out, "  %-12s ready after %s\n", p.Name, time.Since(begun).Round(10*time.Millisecond))
	}
	ready()
	<-ctx.Done()
	return nil
}

// keeper owns one part: its process and the goroutine that starts it again.
type keeper struct {
	out io.Writer

	mu       sync.Mutex
	current  *process
	stopping bool
	finished chan struct{}
	begin    chan struct{}
	once     sync.Once
	end      chan struct{}
}

func keep(r *process, out io.Writer) *keeper {
	k := &keeper{out: out, current: r, finished: make(chan struct{}), begin: make(chan struct{}), end: make(chan struct{})}
	go k.watch()
	return k
}

// restart lets the keeper start the part again from now on; before it was ready, its end is an error.
func (k *keeper) restart() { k.once.Do(func() { close(k.begin) }) }

// pause between two starts of a part that keeps dying.
const firstPause, longestPause = 200 * time.Millisecond, 10 * time.Second

func (k *keeper) watch() {
	defer close(k.finished)
	pause := firstPause
	select {
	case <-k.begin:
	case <-k.end:
		return
	}
	for {
		k.mu.Lock()
		r := k.current
		k.mu.Unlock()
		begun := time.Now()
		select {
		case <-r.done:
		case <-k.end:
			return
		}
		if r.part.Finite && r.err == nil {
			return
		}
		if time.Since(begun) > time.Minute {
			pause = firstPause
		}
		_, _ = fmt.Fprintf(k.out, "  %s ended (%s) and is started again; its log: %s\n", r.part.Name, ending(r.err), r.part.Log)
		for again := false; !again; pause = min(2*pause, longestPause) {
			select {
			case <-time.After(pause):
			case <-k.end:
				return
			}
			again = k.startAgain(r.part)
		}
	}
}

func (k *keeper) startAgain(p Part) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopping {
		return true
	}
	r, err := p.start()
	if err != nil {
		_, _ = fmt.Fprintf(k.out, "  %v\n", err)
		return false
	}
	k.current = r
	return true
}

// stop ends the part and waits for its keeper.
func (k *keeper) stop() {
	k.mu.Lock()
	k.stopping = true
	r := k.current
	k.mu.Unlock()
	close(k.end)
	select {
	case <-r.done:
	default:
		r.stop()
	}
	<-k.finished
}

// tail is the end of a log, for an error message.
func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "  (no log: " + err.Error() + ")"
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-8):], "\n  ")
}
