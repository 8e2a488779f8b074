package lab

import (
	"net"
	"sync"
)

// gate is where the goroutines of a part stop while its process is frozen, as SIGSTOP does: the kernel still takes its
// connections and what is sent on them, and it neither reads nor says anything. The zero value is open.
type gate struct {
	mu   sync.Mutex
	open chan struct{} // closed when the gate opens again; nil: it is open
}

// freeze closes the gate; thaw opens it.
func (g *gate) freeze() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = make(chan struct{})
	}
}

func (g *gate) thaw() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open != nil {
		close(g.open)
		g.open = nil
	}
}

func (g *gate) frozen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open != nil
}

// pass waits while the gate is closed.
func (g *gate) pass() {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	if open != nil {
		<-open
	}
}

// gatedConn is a connection of a process that may be frozen.
type gatedConn struct {
	net.Conn
	gate *gate
}

func (c gatedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.gate.pass()
	return n, err
}

func (c gatedConn) Write(b []byte) (int, error) {
	c.gate.pass()
	return c.Conn.Write(b)
}
