package service_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/service"
)

// Connections that clients keep in reserve do not hold up the end.
func TestUnusedConnections(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	served := make(chan error, 1)
	go func() { served <- service.ServeOn(ctx, l, http.NotFoundHandler(), time.Minute) }()
	for range 3 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
	}
	if r, err := http.Get("http://" + l.Addr().String()); err != nil { // they are accepted, in this order
		t.Fatal(err)
	} else {
		_ = r.Body.Close()
	}
	began := time.Now()
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the end took %s", took)
	}
}
