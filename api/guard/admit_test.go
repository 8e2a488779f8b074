package guard_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/api/guard"
	"github.com/faultline-io/faultline/api/problem"
	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/config"
)

// guarded is a site with the tokens of vera, who sees blue, of ada, who sees all, and of gone, whose token has expired.
func guarded(t *testing.T, change func(*guard.Config, *guard.Limits)) (s *site, vera, ada, gone string) {
	t.Helper()
	c, l := guard.DefaultConfig(), guard.DefaultLimits()
	var tokens [3]access.Token
	vera, tokens[0] = access.NewToken("vera", access.Viewer, time.Time{}, "blue")
	ada, tokens[1] = access.NewToken("ada", access.Viewer, time.Time{})
	gone, tokens[2] = access.NewToken("gone", access.Admin, time.Now().Add(-time.Minute))
	c.Tokens = tokens[:]
	if change != nil {
		change(&c, &l)
	}
	return open(t, c, l, (*httptest.Server).Start), vera, ada, gone
}

func TestWithoutATokenNothingIsSaid(t *testing.T) {
	s, vera, ada, gone := guarded(t, nil)
	strangers := map[string][]string{
		"none": nil, "unknown": bearer("flt_nobody"), "expired": bearer(gone), "basic": {"Authorization", "Basic dXNlcjpwYXNz"},
		"nothing": {"Authorization", "Bearer "}, "cookie": {"Cookie", "faultline_session=made-up"}, "digest": bearer(access.Digest(vera)),
	}
	for name, headers := range strangers {
		s.pass(time.Minute)
		known := s.ask("GET", "/api/v1/allocations/a-1", "", headers...)
		known.is(t, 401, problem.Unauthenticated)
		if h := known.Header.Get("WWW-Authenticate"); !strings.HasPrefix(h, "Bearer") {
			t.Errorf("%s: %q", name, h)
		}
		for _, path := range []string{"/api/v1/allocations/a-2", "/api/v1/nowhere", "/nowhere", "/api/v1/search?text=x", "/metrics", "/api/v1/session", "/ui/../api/v1/search", "/%75i/x", "/uix"} {
			other := s.ask("GET", path, "", headers...)
			if other.StatusCode != http.StatusUnauthorized || other.text != known.text {
				t.Errorf("%s: %s tells more than %s: %d %s", name, path, known.text, other.StatusCode, other.text)
			}
		}
		for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
			s.ask(method, "/ui/x", "", headers...).is(t, 401, problem.Unauthenticated)
		}
		if head := s.ask("HEAD", "/api/v1/allocations/a-1", "", headers...); head.StatusCode != http.StatusUnauthorized || head.text != "" {
			t.Errorf("%s: HEAD: %d %s", name, head.StatusCode, head.text)
		}
		s.ask("GET", "/ui/app.js", "", headers...).is(t, 200, fine)
		s.ask("GET", "/", "", headers...).is(t, 200, fine)
	}
	for who, want := range map[string]string{vera: `{"known":true,"sees":true,"subject":"vera"}`, ada: `{"known":true,"sees":true,"subject":"ada"}`} {
		if got := s.ask("GET", "/api/v1/allocations/a-1", "", bearer(who)...); got.StatusCode != http.StatusOK || strings.TrimSpace(got.text) != want || got.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%d %s, want %s", got.StatusCode, got.text, want)
		}
		s.ask("GET", "/api/v1/allocations/a-2", "", bearer(who)...).is(t, 404, fine)
	}
	var told guard.Session
	if err := json.Unmarshal([]byte(s.ask("GET", "/api/v1/session", "", bearer(vera)...).text), &told); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(guard.Session{Subject: "vera", Role: "viewer", Tenants: []string{"blue"}}, told); d != "" {
		t.Error(d)
	}
}

func TestMetricsAreOfAllTenants(t *testing.T) {
	s, vera, ada, _ := guarded(t, nil)
	s.ask("GET", "/metrics", "").is(t, 401, problem.Unauthenticated)
	s.ask("GET", "/metrics", "", bearer(vera)...).is(t, 403, problem.Forbidden)
	s.ask("GET", "/metrics", "", bearer(ada)...).is(t, 200, fine)
	s, _, _, _ = guarded(t, func(c *guard.Config, _ *guard.Limits) { c.Metrics = "open" })
	s.ask("GET", "/metrics", "").is(t, 200, fine)
	s.ask("GET", "/metrics", "", "Host", "evil.example").is(t, 421, problem.WrongHost)
}

func TestHealthSaysLittleToStrangers(t *testing.T) {
	s, vera, _, gone := guarded(t, nil)
	f := func(path, want string, status int, headers ...string) {
		t.Helper()
		if got := s.ask("GET", path, "", headers...); got.StatusCode != status || got.text != want {
			t.Errorf("%s: %d %q, want %d %q", path, got.StatusCode, got.text, status, want)
		}
	}
	f("/healthz", "ok\n", 200)
	f("/readyz", "ok\n", 200)
	f("/readyz", "ok\n", 200, bearer(gone)...)
	f("/readyz", "store at 10.0.0.9 is ready\n", 200, bearer(vera)...)
	s.ready = errStore
	f("/readyz", "not ready\n", 503)
	f("/readyz", errStore.Error(), 503, bearer(vera)...)
}

func TestHosts(t *testing.T) {
	s, _, ada, _ := guarded(t, func(c *guard.Config, _ *guard.Limits) { c.Hosts = []string{"faultline.example.com", "fd00::7"} })
	for _, host := range []string{"127.0.0.1:8680", "localhost", "localhost.:80", "[::1]:8680", "127.9.9.9", "FAULTLINE.example.com:443", "faultline.example.com.", "[fd00::7]:1"} {
		s.ask("GET", "/api/v1/allocations/a-1", "", append(bearer(ada), "Host", host)...).is(t, 200, fine)
	}
	for _, host := range []string{"evil.example", "faultline.example.com.evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.1", "0.0.0.0"} {
		for _, path := range []string{"/api/v1/allocations/a-1", "/", "/ui/x", "/healthz", "/metrics", "/api/v1/session"} {
			s.ask("GET", path, "", append(bearer(ada), "Host", host)...).is(t, 421, problem.WrongHost)
		}
	}
}

func TestWhereNobodyIsAsked(t *testing.T) {
	s := open(t, guard.DefaultConfig(), guard.DefaultLimits(), (*httptest.Server).Start)
	if got := s.ask("GET", "/api/v1/allocations/a-1", ""); got.StatusCode != http.StatusOK || !strings.Contains(got.text, `"sees":true`) {
		t.Error(got.text)
	}
	s.ask("GET", "/metrics", "").is(t, 200, fine)
	s.ask("POST", "/api/v1/notes", "x").is(t, 204, fine)
	s.ask("GET", "/api/v1/allocations/a-1", "", "Origin", s.url).is(t, 200, fine)
	s.ask("GET", "/api/v1/allocations/a-1", "", "Origin", "https://evil.example").is(t, 403, problem.ForeignPage)
	s.ask("POST", "/api/v1/notes", "x", "Origin", "null").is(t, 403, problem.ForeignPage)
	s.ask("GET", "/api/v1/allocations/a-1", "", "Host", "evil.example").is(t, 421, problem.WrongHost)
	for _, method := range []string{"GET", "POST"} {
		got := s.ask(method, "/api/v1/session", "", bearer("whatever")...)
		if got.StatusCode != http.StatusOK || strings.TrimSpace(got.text) != `{"subject":"","role":"admin","tenants":null,"open":true}` || len(got.Cookies()) > 0 {
			t.Errorf("%s: %d %s %v", method, got.StatusCode, got.text, got.Cookies())
		}
	}
}

func TestAWideAddressWantsAccess(t *testing.T) {
	if _, err := guard.New(guard.DefaultConfig(), guard.DefaultLimits(), "0.0.0.0:8680", nil, nil); err == nil || !strings.Contains(err.Error(), "listen: 0.0.0.0:8680 can be reached from other machines") {
		t.Error(err)
	}
}

func TestConfiguration(t *testing.T) {
	type file struct {
		Access guard.Config `yaml:"access"`
		Limits guard.Limits `yaml:"limits"`
	}
	f := func(text, want string) {
		t.Helper()
		c, err := config.Parse("c.yaml", []byte(text), file{guard.DefaultConfig(), guard.DefaultLimits()})
		if err == nil {
			if err = c.Access.Validate(); err == nil {
				err = c.Limits.Validate()
			}
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	f("", "")
	f("access: {tokens: [{name: k, role: viewer, sha256: "+access.Digest("x")+", tenants: [blue]}], hosts: [a.example, '::1'], metrics: open, log: {audit: false}}", "")
	f("access: {metrics: closed}", "access.metrics")
	f("access: {hosts: ['*']}", "access.hosts")
	f("access: {hosts: ['a.example:80']}", "access.hosts")
	f("access: {hosts: ['https://a.example']}", "access.hosts")
	f("access: {token: x}", `unknown key "token"`)
	f("access: {tokens: [{name: k}]}", "access.tokens")
	f("limits: {rate: -1}", "limits.rate")
	f("limits: {rate: .nan}", "limits.rate")
	f("limits: {burst: 0}", "limits.burst")
	f("limits: {body: -1}", "limits.body")
	f("limits: {rate: 0, burst: 0, concurrent: 0, streams: 0}", "")
}

// The address at which a request came in is a name of a server that listens on all of them.
func TestTheAddressOfAWildcard(t *testing.T) {
	_, token := access.NewToken("x", access.Viewer, time.Time{})
	c := guard.DefaultConfig()
	c.Tokens = []access.Token{token}
	f := func(listen, host string, at string, want bool) {
		t.Helper()
		if got := guard.Names(listen, c.Hosts, host, at); got != want {
			t.Errorf("%s is asked as %s at %s: %v", listen, host, at, got)
		}
	}
	f("0.0.0.0:8680", "10.0.0.7:8680", "10.0.0.7:8680", true)
	f(":8680", "10.0.0.7", "10.0.0.7:8680", true)
	f("[::]:8680", "[fd00::1]:8680", "[fd00::1]:8680", true)
	f("0.0.0.0:8680", "10.0.0.8:8680", "10.0.0.7:8680", false)
	f("0.0.0.0:8680", "evil.example", "10.0.0.7:8680", false)
	f("0.0.0.0:8680", "0.0.0.0", "10.0.0.7:8680", false)
	f("10.0.0.7:8680", "10.0.0.7:8680", "10.0.0.7:8680", true)
	f("10.0.0.7:8680", "10.0.0.9:8680", "10.0.0.9:8680", false)
	f("node.example:8680", "node.example:8680", "10.0.0.7:8680", true)
}
