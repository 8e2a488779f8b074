// Package service is what every Faultline process shares around its work: the operations listener
// (/healthz, /readyz, /metrics), the structured log, and running parts until a signal.
package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Ops serves the three operational pages of one process. /healthz says that the process runs,
// /readyz that every check passes; a failing check is named in the answer.
type Ops struct {
	Registry *prometheus.Registry

	mu     sync.Mutex
	checks []check
}

type check struct {
	name string
	ok   func(context.Context) error
}

// NewOps gives an Ops with the process and Go runtime collectors in a registry of its own.
func NewOps() *Ops {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return &Ops{Registry: r}
}

// Ready adds a readiness check; it must answer within a second or so.
func (o *Ops) Ready(name string, ok func(context.Context) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.checks = append(o.checks, check{name, ok})
}

// Handler serves /healthz, /readyz and /metrics.
func (o *Ops) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", o.ready)
	mux.Handle("GET /metrics", promhttp.HandlerFor(o.Registry, promhttp.HandlerOpts{}))
	return mux
}

func (o *Ops) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	o.mu.Lock()
	checks := append([]check(nil), o.checks...)
	o.mu.Unlock()
	for _, c := range checks {
		if err := c.ok(ctx); err != nil {
			http.Error(w, c.name+": "+err.Error(), http.StatusServiceUnavailable)
			return
		}
	}
	_, _ = fmt.Fprintln(w, "ready")
}

// Serve answers on address until ctx ends, then lets requests in flight finish for up to grace.
// A port that is taken is an error that names the address.
func Serve(ctx context.Context, address string, h http.Handler, grace time.Duration) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", address, err)
	}
	return ServeOn(ctx, l, h, grace)
}

// answerWithin is how long an answer may take from its request to its last byte, so that who reads slowly, or not at all, does not hold it for
// ever. A stream sets a deadline of its own for each part.
const answerWithin = 5 * time.Minute

// ServeOn is Serve on a listener that is already open; it closes it.
func ServeOn(ctx context.Context, l net.Listener, h http.Handler, grace time.Duration) error {
	return serveOn(ctx, l, h, grace, answerWithin)
}

func serveOn(ctx context.Context, l net.Listener, h http.Handler, grace, within time.Duration) error {
	unused := &fresh{}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, WriteTimeout: within, IdleTimeout: 2 * time.Minute, ErrorLog: log.New(complaints{}, "", log.LstdFlags), ConnState: unused.note}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	select {
	case err := <-done:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	defer time.AfterFunc(min(grace, lastWord), unused.end).Stop()
	err := s.Shutdown(stop)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.Close() // a client that streams for ever must not keep the process
	}
	if served := <-done; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// lastWord is how long a request that was sent before the end may take to be read.
const lastWord = 100 * time.Millisecond

// complaints are what net/http has to say by itself, without the probes that connect and leave.
type complaints struct{}

func (complaints) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("TLS handshake error")) && bytes.HasSuffix(bytes.TrimSpace(line), []byte(": EOF")) {
		return len(line), nil
	}
	return os.Stderr.Write(line)
}
