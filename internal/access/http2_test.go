package access_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/service"
)

// A browser opens six connections to a host over HTTP/1.1, and a page holds one of them for its stream: over TLS it is HTTP/2.
func TestBrowsersGetHTTP2(t *testing.T) {
	dir := t.TempDir()
	files := access.TLS{CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem")}
	issue(t, files, 1, time.Now())
	plain, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l, err := files.Secure(plain)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() {
		served <- service.ServeOn(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }), time.Second)
	}()
	for two, want := range map[bool]string{true: "HTTP/2.0", false: "HTTP/1.1"} {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: two}} //nolint:gosec // its own
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+l.Addr().String(), nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || string(text) != want {
			t.Errorf("%q %v, want %s", text, err, want)
		}
		client.CloseIdleConnections()
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
