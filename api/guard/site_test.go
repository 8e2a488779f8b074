package guard_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/api/guard"
	"github.com/faultline-io/faultline/api/problem"
	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/access/accesstest"
)

// site is a small API behind a guard, on a real server: one allocation, a-1, and the pages of every process.
type site struct {
	t      *testing.T
	url    string
	guard  *guard.Guard
	ready  error
	wait   chan struct{} // what /api/v1/slow and streams wait for
	log    *journal
	client *http.Client

	mu  sync.Mutex
	now time.Time
}

// journal is what was logged.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(line []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(line)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func (s *site) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *site) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// open serves a site; over TLS where start does.
func open(t *testing.T, c guard.Config, l guard.Limits, start func(*httptest.Server)) *site {
	t.Helper()
	s := &site{t: t, wait: make(chan struct{}), log: &journal{}, now: time.Now()}
	g, err := guard.New(c, l, "127.0.0.1:8680", slog.New(slog.NewJSONHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})), s.clock)
	if err != nil {
		t.Fatal(err)
	}
	e := echo.New()
	g.Install(e)
	s.serve(e)
	server := httptest.NewUnstartedServer(e)
	start(server)
	t.Cleanup(server.Close)
	s.url, s.client, s.guard = server.URL, server.Client(), g
	return s
}

func (s *site) serve(e *echo.Echo) {
	e.GET("/api/v1/allocations/:id", func(c echo.Context) error {
		if c.Param("id") != "a-1" {
			return echo.NewHTTPError(http.StatusNotFound)
		}
		p, ok := access.From(c.Request().Context())
		return c.JSON(http.StatusOK, map[string]any{"subject": p.Subject, "known": ok, "sees": p.Sees("blue")})
	})
	wait := func(c echo.Context) error {
		c.Response().WriteHeader(http.StatusOK)
		c.Response().Flush()
		select {
		case <-s.wait:
		case <-c.Request().Context().Done():
		}
		return nil
	}
	e.GET("/api/v1/slow", wait)
	e.GET("/api/v1/allocations/:id/events", wait)
	e.GET("/api/v1/search", func(c echo.Context) error { return c.String(http.StatusOK, "found") })
	e.POST("/api/v1/notes", func(c echo.Context) error {
		if _, err := io.ReadAll(c.Request().Body); err != nil {
			return err
		}
		return c.NoContent(http.StatusNoContent)
	})
	e.GET("/ui/*", func(c echo.Context) error { return c.String(http.StatusOK, "script") })
	e.GET("/", func(c echo.Context) error { return c.String(http.StatusOK, "page") })
	e.GET("/metrics", func(c echo.Context) error { return c.String(http.StatusOK, "faultline_secret_total 1") })
	e.GET("/healthz", func(c echo.Context) error { return c.String(http.StatusOK, "ok, and more\n") })
	e.GET("/readyz", func(c echo.Context) error {
		if s.ready != nil {
			return c.String(http.StatusServiceUnavailable, s.ready.Error())
		}
		return c.String(http.StatusOK, "store at 10.0.0.9 is ready\n")
	})
}

// answer is what came back.
type answer struct {
	*http.Response
	text string
}

// ask sends a request: headers are names and values by turns; Host is one.
func (s *site) ask(method, path, body string, headers ...string) answer {
	s.t.Helper()
	r, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	got, err := s.client.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{got, string(text)}
}

// is checks a status and, where a kind is given, the problem.
func (a answer) is(t *testing.T, status int, kind problem.Kind) {
	t.Helper()
	var p problem.Problem
	if kind.Name != "" && (json.Unmarshal([]byte(a.text), &p) != nil || p.Type != kind.Type() || p.Status != status || a.Header.Get("Content-Type") != "application/problem+json") || a.StatusCode != status {
		t.Errorf("%s %s: %d %s, want %d %s", a.Request.Method, a.Request.URL.Path, a.StatusCode, a.text, status, kind.Name)
	}
}

var fine = problem.Kind{}

func bearer(secret string) []string { return []string{"Authorization", "Bearer " + secret} }

var errStore = errors.New("store: dial tcp 10.0.0.9:9000: connection refused")

// clientOf trusts an authority and, where it has one, shows a certificate.
func clientOf(a *accesstest.Authority, shows *tls.Certificate) *http.Client {
	c := &tls.Config{RootCAs: x509.NewCertPool()}
	c.RootCAs.AddCert(a.Certificate)
	if shows != nil {
		c.Certificates = []tls.Certificate{*shows}
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: c}}
}
