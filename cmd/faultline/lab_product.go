package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	"github.com/faultline-io/faultline/internal/lab/score"
)

// bringUp starts store, Collector and correlator on free ports, with budgets at the lab's pace.
func (s *scoring) bringUp(ctx context.Context, dir string, out io.Writer) (stop func(), cfg upConfig, err error) {
	s.starting.Lock() // no two look for free ports at one time
	defer s.starting.Unlock()
	cfg = defaultUpConfig()
	cfg.RunLab, cfg.DataDir = false, filepath.Join(dir, "up")
	if cfg.DataDir, err = filepath.Abs(cfg.DataDir); err != nil {
		return nil, cfg, err
	}
	if err := freePorts(ctx, &cfg.Store, &cfg.OTLP.GRPC, &cfg.OTLP.HTTP, &cfg.CollectorHealth, &cfg.CollectorMetrics, &cfg.Correlator); err != nil {
		return nil, cfg, err
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, cfg, err
	}
	cfg.Profile = filepath.Join(cfg.DataDir, "profile.yaml")
	if err := os.WriteFile(cfg.Profile, []byte(score.Profile), 0o600); err != nil {
		return nil, cfg, err
	}
	return cfg.runUntilStopped(ctx, out)
}

// freePorts sets addresses of this machine that were free a moment ago, no two the same.
func freePorts(ctx context.Context, addresses ...*string) error {
	for _, address := range addresses {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer func() { _ = l.Close() }() // at the end of all
		*address = l.Addr().String()
	}
	return nil
}

// runUntilStopped runs the parts beside what else this process does.
func (c upConfig) runUntilStopped(ctx context.Context, out io.Writer) (stop func(), _ upConfig, err error) {
	ctx, cancel := context.WithCancel(ctx)
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() { done <- up(ctx, c, &readyWriter{out, "faultline is up", ready, false}) }()
	select {
	case <-ready:
		stop = func() {
			cancel()
			if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
				_, _ = fmt.Fprintln(out, "faultline:", err)
			}
		}
		return stop, c, nil
	case err := <-done:
		cancel()
		if err == nil {
			err = ctx.Err()
		}
		return nil, c, err
	}
}

// readyWriter passes on what is written until the words come by that say that everything is up.
type readyWriter struct {
	out   io.Writer
	words string
	ready chan struct{}
	said  bool
}

func (w *readyWriter) Write(p []byte) (int, error) {
	if w.said {
		return len(p), nil
	}
	if bytes.Contains(p, []byte(w.words)) {
		w.said = true
		close(w.ready)
		return len(p), nil
	}
	return w.out.Write(p)
}
