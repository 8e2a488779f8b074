package lab

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// toggleListener is a listener that can be taken away and given back while its server runs: the process is stopped,
// so dials are refused; or the network before it drops packets, so dials are never answered.
type toggleListener struct {
	mu      sync.Mutex
	address net.Addr
	current net.Listener // nil: shut
	conns   map[net.Conn]bool
	changed chan struct{}
	closed  bool
	gate    gate // of the process that listens
}

func newToggleListener(l net.Listener) *toggleListener {
	return &toggleListener{address: l.Addr(), current: l, conns: map[net.Conn]bool{}, changed: make(chan struct{})}
}

// Addr is the same, open or shut.
func (t *toggleListener) Addr() net.Addr { return t.address }

// Accept waits while the listener is shut.
func (t *toggleListener) Accept() (net.Conn, error) {
	for {
		t.mu.Lock()
		l, changed, closed := t.current, t.changed, t.closed
		t.mu.Unlock()
		switch {
		case closed:
			return nil, net.ErrClosed
		case l == nil:
			<-changed
			continue
		}
		c, err := l.Accept()
		if err != nil {
			t.mu.Lock()
			own := t.current == l && !t.closed
			t.mu.Unlock()
			if own { // nobody took it away
				return nil, err
			}
			continue
		}
		t.gate.pass()
		t.mu.Lock()
		t.conns[c] = true
		t.mu.Unlock()
		return &toggleConn{gatedConn{c, &t.gate}, t}, nil
	}
}

// Close ends it for good.
func (t *toggleListener) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	t.gate.thaw()
	close(t.changed)
	if t.current == nil {
		return nil
	}
	return t.current.Close()
}

// runs tells whether the process runs: it is there, and not frozen.
func (t *toggleListener) runs() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.current != nil && !t.closed && !t.gate.frozen()
}

// freeze stops the process as SIGSTOP does; thaw lets it go on.
func (t *toggleListener) freeze() error { t.gate.freeze(); return nil }
func (t *toggleListener) thaw() error   { t.gate.thaw(); return nil }

// shut closes the listener and every connection, as the end of a process does.
func (t *toggleListener) shut() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current == nil || t.closed {
		return nil
	}
	l := t.current
	t.current = nil
	t.turn()
	for c := range t.conns {
		_ = c.Close()
	}
	return l.Close()
}

// reopen listens again at the same address.
func (t *toggleListener) reopen() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != nil || t.closed {
		return nil
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", t.address.String())
	if err != nil {
		return fmt.Errorf("listen again: %w", err)
	}
	t.current = l
	t.turn()
	return nil
}

// vanish has the address drop packets; the returned function gives it back.
func (t *toggleListener) vanish() (back func() error, err error) {
	if err := t.shut(); err != nil {
		return nil, err
	}
	h, err := digHoleAt(t.address.String())
	if err != nil {
		return nil, err
	}
	return func() error {
		h.close()
		return t.reopen()
	}, nil
}

func (t *toggleListener) turn() {
	close(t.changed)
	t.changed = make(chan struct{})
}

type toggleConn struct {
	gatedConn
	listener *toggleListener
}

func (c *toggleConn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.conns, c.gatedConn.Conn)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
