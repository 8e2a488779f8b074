package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// nodeState is what is wrong with one node at the moment. The zero value is a node that is well.
type nodeState struct {
	path path // between its agent and the ingress
	gate gate // of its agent's process

	mu      sync.Mutex
	cert    *tls.Certificate // presented instead of its own; nil: its own
	behind  time.Duration    // how far its clock is behind
	full    bool             // its disk takes nothing more
	stopped bool             // nobody starts its agent
	panics  bool             // its agent has a bug that ends it in the middle of a task
	changed chan struct{}    // closed, and made anew, when stopped changes
}

func newNodeState() *nodeState { return &nodeState{changed: make(chan struct{})} }

// certificate is what the agent presents: its own, unless another one was installed.
func (n *nodeState) certificate(own *tls.Certificate) *tls.Certificate {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cert != nil {
		return n.cert
	}
	return own
}

// mayPanic is where the agent's code has its bug.
func (n *nodeState) mayPanic() {
	n.mu.Lock()
	panics := n.panics
	n.mu.Unlock()
	if panics {
		panic("runtime error: invalid memory address or nil pointer dereference")
	}
}

// now is the node's clock.
func (n *nodeState) now() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Now().Add(-n.behind)
}

// write keeps a line of work on the node's disk. A full disk is the kernel's own (/dev/full); the name in
// the error is that of the file that an agent would write.
func (n *nodeState) write(line string) error {
	n.mu.Lock()
	full := n.full
	n.mu.Unlock()
	if !full {
		return nil
	}
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString(line)
	var at *os.PathError
	if errors.As(err, &at) {
		return &os.PathError{Op: at.Op, Path: "/var/lib/node-agent/work", Err: at.Err}
	}
	return err
}

func (n *nodeState) change(f func(*nodeState)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	was := n.stopped
	f(n)
	if n.stopped != was {
		close(n.changed)
		n.changed = make(chan struct{})
	}
}

// undo is a change that is made later.
func (n *nodeState) undo(f func(*nodeState)) func() error {
	return func() error { n.change(f); return nil }
}

// whileRuns calls life each time that somebody starts the node's agent, with a context that ends when it is
// killed, until ctx ends.
func (n *nodeState) whileRuns(ctx context.Context, life func(context.Context)) {
	for ctx.Err() == nil {
		n.mu.Lock()
		stopped, changed := n.stopped, n.changed
		n.mu.Unlock()
		if stopped {
			select {
			case <-ctx.Done():
			case <-changed:
			}
			continue
		}
		run, kill := context.WithCancel(ctx)
		watching := make(chan struct{})
		go func() {
			defer close(watching)
			select {
			case <-run.Done():
			case <-changed:
				kill()
			}
		}()
		life(run)
		ended := run.Err() == nil // by itself: nobody starts it again
		kill()
		<-watching
		if ended {
			return
		}
	}
}

// dial is how the node reaches others.
func (n *nodeState) dial(ctx context.Context, network, address string) (net.Conn, error) {
	n.gate.pass()
	c, err := n.path.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return gatedConn{c, &n.gate}, nil
}
