package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/access/accesstest"
	"github.com/faultline-io/faultline/internal/config"
)

func TestConfiguration(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := config.Parse("c.yaml", []byte(text), defaultConfig())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	f("", "")
	f("listen: 0.0.0.0:8680", "listen: 0.0.0.0:8680 can be reached from other machines, and nobody asks callers who they are")
	f("listen: :8680", "can be reached from other machines")
	f("listen: 0.0.0.0:8680\naccess: {token_file: t.yaml}", "")
	f("listen: 0.0.0.0:8680\naccess: {metrics: open, hosts: [a.example]}", "can be reached from other machines")
	f("access: {metrics: perhaps}", "access.metrics")
	f("page: faultline.example", "page:")
	f("page: https://faultline.example/", "")
	f("limits: {streams: -1}", "limits.streams")
	f("limits: {stream: 1}", `unknown key "stream"`)
}

func TestServesOverTLS(t *testing.T) {
	dir := t.TempDir()
	authority, err := accesstest.NewAuthority("ours")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue("api", time.Hour, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := defaultConfig()
	c.Listen = l.Addr().String()
	_ = l.Close()
	c.Access.TLS = access.TLS{CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem")}
	if err := serve(t.Context(), c, nil); err == nil || !strings.Contains(err.Error(), "access.tls") { // there is none yet
		t.Fatal(err)
	}
	if err := accesstest.WritePair(pair, c.Access.TLS.CertFile, c.Access.TLS.KeyFile); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- serve(ctx, c, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	}()
	trusts := x509.NewCertPool()
	trusts.AddCert(authority.Certificate)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusts}}}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		r, err := client.Get("https://" + c.Listen)
		if err == nil {
			_ = r.Body.Close()
			if r.StatusCode != http.StatusTeapot {
				t.Error(r.StatusCode)
			}
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	client.CloseIdleConnections()
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
