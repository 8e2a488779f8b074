package lab

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// outlet is a listener that can be taken away and given back while its server runs: the process is stopped,
// so dials are refused; or the network before it drops packets, so dials are never answered.
type outlet struct {
	mu      sync.Mutex
	address net.Addr
	current net.Listener // nil: shut
	conns   map[net.Conn]bool
	changed chan struct{}
	closed  bool
}

func newOutlet(l net.Listener) *outlet {
	return &outlet{address: l.Addr(), current: l, conns: map[net.Conn]bool{}, changed: make(chan struct{})}
}

// Addr is the same, open or shut.
func (o *outlet) Addr() net.Addr { return o.address }

// Accept waits while the outlet is shut.
func (o *outlet) Accept() (net.Conn, error) {
	for {
		o.mu.Lock()
		l, changed, closed := o.current, o.changed, o.closed
		o.mu.Unlock()
		switch {
		case closed:
			return nil, net.ErrClosed
		case l == nil:
			<-changed
			continue
		}
		c, err := l.Accept()
		if err != nil {
			o.mu.Lock()
			own := o.current == l && !o.closed
			o.mu.Unlock()
			if own { // nobody took it away
				return nil, err
			}
			continue
		}
		o.mu.Lock()
		o.conns[c] = true
		o.mu.Unlock()
		return &outletConn{c, o}, nil
	}
}

// Close ends it for good.
func (o *outlet) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil
	}
	o.closed = true
	close(o.changed)
	if o.current == nil {
		return nil
	}
	return o.current.Close()
}

// open tells whether anybody can connect.
func (o *outlet) open() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.current != nil && !o.closed
}

// shut closes the listener and every connection, as the end of a process does.
func (o *outlet) shut() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.current == nil || o.closed {
		return nil
	}
	l := o.current
	o.current = nil
	o.turn()
	for c := range o.conns {
		_ = c.Close()
	}
	return l.Close()
}

// reopen listens again at the same address.
func (o *outlet) reopen() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.current != nil || o.closed {
		return nil
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", o.address.String())
	if err != nil {
		return fmt.Errorf("listen again: %w", err)
	}
	o.current = l
	o.turn()
	return nil
}

// vanish has the address drop packets; the returned function gives it back.
func (o *outlet) vanish() (back func() error, err error) {
	if err := o.shut(); err != nil {
		return nil, err
	}
	h, err := digHoleAt(o.address.String())
	if err != nil {
		return nil, err
	}
	return func() error {
		h.close()
		return o.reopen()
	}, nil
}

func (o *outlet) turn() {
	close(o.changed)
	o.changed = make(chan struct{})
}

type outletConn struct {
	net.Conn
	outlet *outlet
}

func (c *outletConn) Close() error {
	c.outlet.mu.Lock()
	delete(c.outlet.conns, c.Conn)
	c.outlet.mu.Unlock()
	return c.Conn.Close()
}
