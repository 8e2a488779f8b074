package chhttp

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// displayName is what the server calls itself.
const displayName = "faultline"

// Server answers ClickHouse's HTTP requests. It is an http.Handler; the listener is its owner's.
type Server struct {
	o       Options
	pool    *pool
	flights flights
	history *history
	version string
	running atomic.Int64
	closed  atomic.Bool
}

// New opens the sessions.
func New(o Options) (*Server, error) {
	s := &Server{o: o.withDefaults()}
	s.history = newHistory(s.o.History)
	var err error
	if s.flights.control, err = s.o.Open(); err != nil {
		return nil, fmt.Errorf("open control session: %w", err)
	}
	if s.pool, err = newPool(s.o); err != nil {
		s.flights.control.Close()
		return nil, err
	}
	v, _, err := s.flights.control.Query([]byte("SELECT version()"), "TSV", nil)
	if err != nil {
		return nil, fmt.Errorf("ask for the version: %w", err)
	}
	s.version = strings.TrimSpace(string(v))
	return s, nil
}

// Version is the engine's, "26.7.2.1".
func (s *Server) Version() string { return s.version }

// Running is how many statements run now.
func (s *Server) Running() int { return int(s.running.Load()) }

// Waiting is how many requests wait for a session.
func (s *Server) Waiting() int { return int(s.pool.waiting.Load()) }

// Check asks the engine for an answer on the control session.
func (s *Server) Check() error {
	s.flights.mu.Lock()
	defer s.flights.mu.Unlock()
	return s.flights.control.Exec("SELECT 1")
}

// Close lets running statements finish until ctx ends, then kills them, then closes every session. The listener must be
// closed first. It says whether every session was given back.
func (s *Server) Close(ctx context.Context) bool {
	s.closed.Store(true)
	if !s.pool.closeWith(ctx, s.flights.cancelAll) {
		return false
	}
	s.flights.mu.Lock()
	defer s.flights.mu.Unlock()
	s.flights.control.Close()
	return true
}

// ServeHTTP answers one request. A panic becomes a 500.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &request{}
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler { //nolint:errorlint // a recovered value, compared as net/http does
				panic(p)
			}
			s.o.Log.Error("request panicked", slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			newReply(w, &request{}, s.version, s.o.Stall).fail(asException(fmt.Errorf("internal error: %v", p)))
		}
	}()
	h := w.Header()
	h.Set("X-ClickHouse-Server-Display-Name", displayName)
	h.Set("X-ClickHouse-Timezone", "UTC")
	if r.URL.Path == "/ping" {
		_, _ = io.WriteString(w, "Ok.\n")
		return
	}
	fail := func(err error) { newReply(w, q, s.version, s.o.Stall).fail(asException(err)) }
	if err := s.authenticate(r); err != nil {
		s.observe(Record{Started: s.o.Now()}, err)
		fail(err)
		return
	}
	switch {
	case r.URL.Path == "/faultline/queries" && r.Method == http.MethodGet:
		s.history.serve(w, r)
		return
	case r.URL.Path != "/":
		http.NotFound(w, r)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodPost && r.Method != http.MethodHead:
		h.Set("Allow", "GET, POST")
		http.Error(w, "use GET or POST", http.StatusMethodNotAllowed)
		return
	}
	parsed, err := parseRequest(r, s.o.Database)
	if err != nil {
		fail(err)
		return
	}
	q = parsed
	if q.get && q.text == "" {
		_, _ = io.WriteString(w, "Ok.\n")
		return
	}
	if q.id == "" {
		q.id = rand.Text()
	}
	h.Set("X-ClickHouse-Query-Id", q.id)
	s.running.Add(1)
	defer s.running.Add(-1)
	s.serve(w, r, q)
}

// observe remembers a finished statement.
func (s *Server) observe(r Record, err error) {
	if err != nil {
		e := asException(err)
		r.Code, r.Error = e.Code, e.Text
	}
	r.Duration = s.o.Now().Sub(r.Started)
	if r.QueryID != "" {
		s.history.add(r)
	}
	s.o.Observe(r)
}

func revision(r *http.Request) int {
	n, err := strconv.Atoi(r.URL.Query().Get("client_protocol_version"))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// closeWith closes the sessions as they come free; when ctx ends, hurry is called and the rest get killGrace.
func (p *pool) closeWith(ctx context.Context, hurry func()) bool {
	if p.close(ctx) {
		return true
	}
	hurry()
	grace, cancel := context.WithTimeout(context.Background(), killGrace)
	defer cancel()
	return p.close(grace)
}

// killGrace is how long a killed statement may take to end.
const killGrace = 3 * time.Second
