package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Waits between two tries of one request.
const (
	firstWait = 200 * time.Millisecond
	longWait  = 5 * time.Second
)

// ErrRefused is an answer that another try would not change.
var ErrRefused = errors.New("refused")

// postSink posts batches in order over OTLP/HTTP with protobuf. While the receiver is away, batches
// wait in a bounded queue; beyond that they are dropped and counted.
type postSink struct {
	client  *http.Client
	base    string
	log     *slog.Logger
	dropped *atomic.Uint64
	queue   chan batch
	done    chan struct{}
	stop    context.CancelFunc
	down    bool
	full    rateLimiter
}

func newPostSink(c Config, log *slog.Logger, dropped *atomic.Uint64) *postSink {
	ctx, stop := context.WithCancel(context.Background())
	s := &postSink{
		client: &http.Client{Timeout: c.Timeout, Transport: &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute}},
		base:   strings.TrimSuffix(c.Endpoint, "/"), log: log, dropped: dropped,
		queue: make(chan batch, max(1, c.Queue/c.Batch)), done: make(chan struct{}), stop: stop,
	}
	go s.run(ctx)
	return s
}

func (s *postSink) offer(b batch) {
	select {
	case s.queue <- b:
	default:
		s.drop(b)
		if s.full.allow(time.Now()) {
			s.log.Warn("telemetry receiver is too slow or away, records are dropped", "endpoint", s.base)
		}
	}
}

func (s *postSink) drop(b batch) {
	s.dropped.Add(uint64(b.logs.LogRecordCount() + b.traces.SpanCount()))
}

func (s *postSink) run(ctx context.Context) {
	defer close(s.done)
	for b := range s.queue {
		requests, err := b.requests()
		if err != nil {
			s.drop(b)
			s.log.Warn("telemetry request was given up", "error", err)
		}
		for _, r := range requests {
			s.deliver(ctx, r)
		}
	}
}

// deliver tries until the request is accepted, refused, or ctx has ended.
func (s *postSink) deliver(ctx context.Context, r request) {
	wait := firstWait
	for ctx.Err() == nil {
		err := s.post(ctx, r.path, r.body)
		if err == nil {
			if s.down {
				s.down = false
				s.log.Info("telemetry receiver is back", "endpoint", s.base)
			}
			return
		}
		if errors.Is(err, ErrRefused) {
			s.log.Warn("telemetry request was given up", "path", r.path, "records", r.records, "error", err)
			break
		}
		if !s.down && ctx.Err() == nil {
			s.down = true
			s.log.Warn("telemetry cannot be sent, it is kept and tried again", "endpoint", s.base, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, longWait)
	}
	s.dropped.Add(uint64(r.records))
}

func (s *postSink) post(ctx context.Context, path string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	answer, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
	switch {
	case answer.StatusCode < 300:
		return nil
	case answer.StatusCode == http.StatusTooManyRequests, answer.StatusCode >= 500:
		return fmt.Errorf("status %d", answer.StatusCode)
	}
	return fmt.Errorf("%w with status %d: %s", ErrRefused, answer.StatusCode, bytes.TrimSpace(text))
}

// close sends what waits until ctx ends; then the rest is dropped.
func (s *postSink) close(ctx context.Context) {
	close(s.queue)
	select {
	case <-s.done:
	case <-ctx.Done():
	}
	s.stop()
	<-s.done
	s.client.CloseIdleConnections()
}
