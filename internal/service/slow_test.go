package service

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"
)

// Who does not read an answer holds it for a while only; a stream that sets its own deadlines lasts.
func TestAnswersEndThatNobodyReads(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended, streamed := make(chan error, 1), make(chan error, 1)
	h := http.NewServeMux()
	h.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		var err error
		for block := make([]byte, 1<<20); err == nil; {
			_, err = w.Write(block)
		}
		ended <- err
	})
	h.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		control, err := http.NewResponseController(w), error(nil)
		for begun := time.Now(); err == nil && time.Since(begun) < time.Second && r.Context().Err() == nil; time.Sleep(300 * time.Millisecond) {
			_ = control.SetWriteDeadline(time.Now().Add(200 * time.Millisecond))
			if _, err = fmt.Fprint(w, ":\n\n"); err == nil {
				err = control.Flush()
			}
		}
		streamed <- err
	})
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- serveOn(ctx, l, h, time.Second, 400*time.Millisecond) }()
	for _, path := range []string{"/large", "/stream"} {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: faultline\r\n\r\n", path); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it was written whole")
		}
	case <-time.After(20 * time.Second):
		t.Error("an answer that nobody reads is held")
	}
	if err := <-streamed; err != nil {
		t.Errorf("a stream did not last: %v", err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
