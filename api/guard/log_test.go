package guard_test

import (
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v4"
	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/api/guard"
)

// lines are those of one message, without what differs from run to run.
func (j *journal) lines(t *testing.T, message string) (out []map[string]any) {
	t.Helper()
	for line := range strings.Lines(j.String()) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if one["msg"] != message {
			continue
		}
		for _, key := range []string{"time", "msg", "duration", "bytes"} {
			if _, ok := one[key]; !ok && message == "request" {
				t.Errorf("%s is missing: %s", key, line)
			}
			delete(one, key)
		}
		out = append(out, one)
	}
	return out
}

func TestWhatIsWrittenDown(t *testing.T) {
	s, vera, ada, _ := guarded(t, nil)
	cookie, session := begun(t, s, vera)
	s.ask("GET", "/api/v1/allocations/a-1", "", session...)
	s.ask("GET", "/api/v1/allocations/a-2", "", bearer(ada)...)
	s.ask("GET", "/api/v1/search?text=disk+full&layer=node&password=hunter2&attr=x%3D"+vera, "", bearer(ada)...)
	s.ask("GET", "/api/v1/allocations/a-1?access_token="+ada, "")
	s.ask("GET", "/healthz", "")
	f := func(level, method, route string, status float64, subject, via string) map[string]any {
		return map[string]any{"level": level, "method": method, "route": route, "status": status, "subject": subject, "via": via, "remote": "127.0.0.1"}
	}
	if d := cmp.Diff([]map[string]any{
		f("INFO", "POST", "/api/v1/session", 200, "vera", "token vera"),
		f("INFO", "GET", "/api/v1/allocations/:id", 200, "vera", "session, token vera"),
		f("INFO", "GET", "/api/v1/allocations/:id", 404, "ada", "token ada"),
		f("INFO", "GET", "/api/v1/search", 200, "ada", "token ada"),
		f("INFO", "GET", "/api/v1/allocations/:id", 401, "", ""),
		f("DEBUG", "GET", "/healthz", 200, "", ""),
	}, s.log.lines(t, "request")); d != "" {
		t.Error(d)
	}
	a := func(subject, via, what, route, id, query, tenants string, status float64) map[string]any {
		return map[string]any{"level": "INFO", "subject": subject, "via": via, "remote": "127.0.0.1", "what": what, "route": route, "id": id, "query": query, "tenants": tenants, "status": status}
	}
	if d := cmp.Diff([]map[string]any{
		a("vera", "session, token vera", "allocation", "/api/v1/allocations/:id", "a-1", "", "blue", 200),
		a("ada", "token ada", "allocation", "/api/v1/allocations/:id", "a-2", "", "all", 404),
		a("ada", "token ada", "search", "/api/v1/search", "", "attr=REDACTED&layer=node&password=REDACTED&text=disk+full", "all", 200),
	}, s.log.lines(t, "audit")); d != "" {
		t.Error(d)
	}
	for _, secret := range []string{vera, ada, cookie.Value, "hunter2"} {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("%s is in the log", secret)
		}
	}
}

// Whoever follows a stream is written down when it begins: it may go on for days.
func TestAStreamIsWrittenDownWhenItBegins(t *testing.T) {
	s, vera, _, _ := guarded(t, nil)
	opened(t, s, 1, "/api/v1/allocations/a-1/events", vera)
	want := []map[string]any{{
		"level": "INFO", "subject": "vera", "via": "token vera", "remote": "127.0.0.1", "what": "allocation", "route": "/api/v1/allocations/:id/events",
		"id": "a-1", "query": "", "tenants": "blue", "status": 200.0,
	}}
	if d := cmp.Diff(want, s.log.lines(t, "audit")); d != "" {
		t.Error(d)
	}
	close(s.wait)
	for end := time.Now().Add(5 * time.Second); len(s.log.lines(t, "request")) == 0 && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
	}
	if d := cmp.Diff(want, s.log.lines(t, "audit")); d != "" {
		t.Errorf("when it has ended: %s", d)
	}
}

// Every answer that tells of allocations or of records leaves a line: what the description has, and not here, tells of neither.
func TestEveryReadingIsWrittenDown(t *testing.T) {
	text, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]any `yaml:"paths"`
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	var silent []string
	for path := range doc.Paths {
		if guard.Reading(path) == "" {
			silent = append(silent, strings.TrimPrefix(path, "/api/v1/"))
		}
	}
	slices.Sort(silent)
	if d := cmp.Diff([]string{"layers", "providers/compare", "rules", "session", "sources"}, silent); d != "" {
		t.Error(d)
	}
}

func TestNoLineIsForged(t *testing.T) {
	const forged = "a-1\n{\"msg\":\"audit\",\"subject\":\"ada\"}\ntime=now msg=audit subject=ada"
	for name, handler := range map[string]func(*journal) slog.Handler{
		"json": func(j *journal) slog.Handler { return slog.NewJSONHandler(j, nil) },
		"text": func(j *journal) slog.Handler { return slog.NewTextHandler(j, nil) },
	} {
		var j journal
		g, err := guard.New(guard.DefaultConfig(), guard.DefaultLimits(), "127.0.0.1:1", slog.New(handler(&j)), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		e := echo.New()
		g.Install(e)
		e.GET("/api/v1/allocations/:id", func(c echo.Context) error { return c.NoContent(204) })
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/api/v1/allocations/"+url.PathEscape(forged)+"?text="+url.QueryEscape(forged), nil)
		r.Host, r.RemoteAddr = "127.0.0.1", "10.0.0.1:1\nx"
		r.Header["Origin"] = []string{"http://127.0.0.1"}
		r.Header["X-Forwarded-For"] = []string{forged}
		e.ServeHTTP(httptest.NewRecorder(), r)
		if n := strings.Count(j.String(), "\n"); n != 2 || strings.Count(j.String(), "msg=audit") > 2 {
			t.Errorf("%s: %d lines: %s", name, n, j.String())
		}
	}
}

func TestTheLogCanBeSilent(t *testing.T) {
	s, vera, _, _ := guarded(t, func(c *guard.Config, _ *guard.Limits) { c.Log.Requests = false })
	s.ask("GET", "/api/v1/allocations/a-1", "", bearer(vera)...)
	if r, a := len(s.log.lines(t, "request")), len(s.log.lines(t, "audit")); r != 0 || a != 1 {
		t.Error(r, a)
	}
	s, vera, _, _ = guarded(t, func(c *guard.Config, _ *guard.Limits) { c.Log.Audit = false })
	s.ask("GET", "/api/v1/allocations/a-1", "", bearer(vera)...)
	if r, a := len(s.log.lines(t, "request")), len(s.log.lines(t, "audit")); r != 1 || a != 0 {
		t.Error(r, a)
	}
}
