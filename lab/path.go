package lab

import (
	"context"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/faultline-io/faultline/lab/namespace"
)

// dialTime is how long a dial waits for an answer.
const dialTime = 3 * time.Second

// path is the network between a node and the ingress. Cut, it drops packets: dials are never answered, and what
// was connected stands still until it gives up. The zero value is whole, and this process stands for the network.
type path struct {
	own   *namespace.Network // of the node; nil: it has none
	front string             // address of the ingress, as seen from own

	mu   sync.Mutex
	hole *hole
	live map[*cable]bool
}

// way says how packets are dropped.
func (p *path) way() string {
	if p.own != nil {
		return "network namespace (interface " + p.own.Name() + " is down)"
	}
	return "proxy"
}

// dial connects, or into the void. Whoever has a network of their own dials the ingress, whatever the address: they
// cannot see any other part of this machine.
func (p *path) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if p.own != nil {
		return p.own.Dial(ctx, network, p.front)
	}
	p.mu.Lock()
	hole := p.hole
	p.mu.Unlock()
	d := net.Dialer{Timeout: dialTime}
	if hole != nil {
		c, err := d.DialContext(ctx, network, hole.address)
		if err == nil {
			_ = c.Close()
			return nil, &net.OpError{Op: "dial", Net: network, Err: os.ErrDeadlineExceeded}
		}
		return nil, hole.as(err, address)
	}
	c, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	whole := &cable{Conn: c, path: p}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live == nil {
		p.live = map[*cable]bool{}
	}
	p.live[whole] = true
	return whole, nil
}

// cut drops packets from now on; the returned function mends it.
func (p *path) cut() (mend func() error, err error) {
	if p.own != nil {
		return p.own.Mend, p.own.Cut()
	}
	h, err := digHole()
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	p.hole = h
	for c := range p.live {
		_ = c.Conn.Close() // whoever waits for bytes is told that the connection timed out
	}
	p.mu.Unlock()
	return func() error {
		p.mu.Lock()
		p.hole = nil
		p.mu.Unlock()
		h.close()
		return nil
	}, nil
}

func (p *path) broken() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hole != nil
}

// cable is a connection over a path.
type cable struct {
	net.Conn
	path *path
}

func (c *cable) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, c.worded("read", err)
}

func (c *cable) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, c.worded("write", err)
}

func (c *cable) Close() error {
	c.path.mu.Lock()
	delete(c.path.live, c)
	c.path.mu.Unlock()
	return c.Conn.Close()
}

// worded is the error that a connection ends with whose peer no longer answers.
func (c *cable) worded(op string, err error) error {
	if err == nil || !c.path.broken() {
		return err
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: syscall.ETIMEDOUT}
}

// hole is an address of this machine that answers no dial: a socket whose backlog is full, so that the
// kernel drops every further SYN. No privilege is needed, and it goes with this process.
type hole struct {
	address string
	socket  int
	plugs   []net.Conn
}

func digHole() (*hole, error) { return digHoleAt("127.0.0.1:0") }

// digHoleAt has the address answer no dial.
func digHoleAt(address string) (h *hole, err error) {
	at, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return nil, err
	}
	h = &hole{}
	if h.socket, err = syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("open socket: %w", err)
	}
	defer func() {
		if err != nil {
			h.close()
		}
	}()
	if err = syscall.SetsockoptInt(h.socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return nil, err
	}
	to := &syscall.SockaddrInet4{Port: at.Port}
	copy(to.Addr[:], at.IP.To4())
	if err = syscall.Bind(h.socket, to); err != nil {
		return nil, fmt.Errorf("bind %s: %w", address, err)
	}
	if err = syscall.Listen(h.socket, 0); err != nil {
		return nil, err
	}
	name, err := syscall.Getsockname(h.socket)
	if err != nil {
		return nil, err
	}
	h.address = fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for range 8 { // until one is not answered
		c, err := net.DialTimeout("tcp", h.address, 200*time.Millisecond) //nolint:noctx // bounded, on loopback
		if err != nil {
			return h, nil
		}
		h.plugs = append(h.plugs, c)
	}
	return h, nil
}

// as words a failed dial as one of the address that was meant.
func (h *hole) as(err error, address string) error {
	op, ok := err.(*net.OpError) //nolint:errorlint // as net.Dialer gives it
	if !ok {
		return err
	}
	if at, err := net.ResolveTCPAddr("tcp", address); err == nil {
		op.Addr = at
	}
	return op
}

func (h *hole) close() {
	for _, c := range h.plugs {
		_ = c.Close()
	}
	_ = syscall.Close(h.socket)
}
