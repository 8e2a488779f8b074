package service

import (
	"net"
	"net/http"
	"sync"
)

// fresh are a server's connections on which nothing was asked yet, as clients keep them in reserve. http.Server waits
// for them for five seconds when it shuts down, for requests that cannot come in time.
type fresh struct {
	mu    sync.Mutex
	conns map[net.Conn]bool
}

// note is the server's ConnState.
func (f *fresh) note(c net.Conn, s http.ConnState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s != http.StateNew {
		delete(f.conns, c)
		return
	}
	if f.conns == nil {
		f.conns = map[net.Conn]bool{}
	}
	f.conns[c] = true
}

// end closes them.
func (f *fresh) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.conns {
		_ = c.Close()
	}
}
