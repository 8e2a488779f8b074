package guard_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/api/guard"
	"github.com/faultline-io/faultline/api/problem"
	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/access/accesstest"
)

// tokenFile is one that changes while it is read.
func tokenFile(t *testing.T) (path string, write func(...access.Token)) {
	path = filepath.Join(t.TempDir(), "tokens.yaml")
	return path, func(tokens ...access.Token) {
		t.Helper()
		text, err := yaml.Marshal(map[string]any{"tokens": tokens})
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// begun begins a session and gives its cookie as headers.
func begun(t *testing.T, s *site, secret string) (*http.Cookie, []string) {
	t.Helper()
	got := s.ask("POST", "/api/v1/session", "", append(bearer(secret), "Origin", s.url)...)
	if got.StatusCode != http.StatusOK || len(got.Cookies()) != 1 {
		t.Fatal(got.StatusCode, got.text, got.Cookies())
	}
	c := got.Cookies()[0]
	if strings.Contains(got.Header.Get("Set-Cookie"), secret) || len(c.Value) < 26 {
		t.Errorf("the cookie is %s", c.Value)
	}
	return c, []string{"Cookie", c.Name + "=" + c.Value}
}

func TestSessions(t *testing.T) {
	s, vera, _, gone := guarded(t, nil)
	for _, headers := range [][]string{nil, bearer("flt_nobody"), bearer(gone)} {
		if got := s.ask("POST", "/api/v1/session", "", headers...); got.StatusCode != http.StatusUnauthorized || len(got.Cookies()) > 0 {
			t.Error(got.StatusCode, got.Cookies())
		}
	}
	s.ask("POST", "/api/v1/session", "", append(bearer(vera), "Origin", "https://evil.example")...).is(t, 403, problem.ForeignPage)
	c, cookie := begun(t, s, vera)
	if c.Name != "faultline_session" || !c.HttpOnly || c.Secure || c.Path != "/" || c.SameSite != http.SameSiteStrictMode || c.MaxAge != 12*3600 {
		t.Errorf("%+v", c)
	}
	if got := s.ask("GET", "/api/v1/session", "", cookie...); strings.TrimSpace(got.text) != `{"subject":"vera","role":"viewer","tenants":["blue"],"open":false}` {
		t.Error(got.text)
	}
	if got := s.ask("GET", "/api/v1/allocations/a-1", "", cookie...); !strings.Contains(got.text, `"subject":"vera"`) {
		t.Error(got.text)
	}
	s.ask("GET", "/metrics", "", cookie...).is(t, 403, problem.Forbidden)
	// What is shown on purpose wins over what the browser sends by itself.
	s.ask("GET", "/api/v1/allocations/a-1", "", append(bearer("flt_nobody"), cookie...)...).is(t, 401, problem.Unauthenticated)
	// A session is no token with which another could be begun.
	s.ask("POST", "/api/v1/session", "", append([]string{"Origin", s.url, guard.HeaderRequest, "1"}, cookie...)...).is(t, 401, problem.Unauthenticated)

	write := func(headers ...string) answer {
		return s.ask("POST", "/api/v1/notes", "x", append(headers, cookie...)...)
	}
	write(guard.HeaderRequest, "1", "Origin", s.url).is(t, 204, fine)
	write().is(t, 403, problem.ForeignPage)
	write(guard.HeaderRequest, "1").is(t, 403, problem.ForeignPage)
	write("Origin", s.url).is(t, 403, problem.ForeignPage)
	write(guard.HeaderRequest, "0", "Origin", s.url).is(t, 403, problem.ForeignPage)
	for _, origin := range []string{"https://evil.example", "null", strings.Replace(s.url, "http://127.0.0.1", "http://localhost", 1), s.url + "1", "ftp" + strings.TrimPrefix(s.url, "http")} {
		write(guard.HeaderRequest, "1", "Origin", origin).is(t, 403, problem.ForeignPage)
		s.ask("GET", "/api/v1/allocations/a-1", "", append([]string{"Origin", origin}, cookie...)...).is(t, 403, problem.ForeignPage)
	}
	s.ask("DELETE", "/api/v1/session", "", cookie...).is(t, 403, problem.ForeignPage)
	s.ask("GET", "/api/v1/session", "", cookie...).is(t, 200, fine)
	if got := s.ask("DELETE", "/api/v1/session", "", append([]string{"Origin", s.url, guard.HeaderRequest, "1"}, cookie...)...); got.StatusCode != http.StatusNoContent || got.Cookies()[0].MaxAge != -1 {
		t.Error(got.StatusCode, got.Cookies())
	}
	s.ask("GET", "/api/v1/session", "", cookie...).is(t, 401, problem.Unauthenticated)

	_, cookie = begun(t, s, vera)
	_, other := begun(t, s, vera)
	s.pass(12*time.Hour - time.Second)
	s.ask("GET", "/api/v1/session", "", cookie...).is(t, 200, fine)
	s.pass(time.Second)
	s.ask("GET", "/api/v1/session", "", other...).is(t, 401, problem.Unauthenticated)
}

func TestASessionEndsWithItsToken(t *testing.T) {
	path, write := tokenFile(t)
	first, a := access.NewToken("ann", access.Viewer, time.Time{})
	_, b := access.NewToken("bob", access.Viewer, time.Time{})
	second, short := access.NewToken("cid", access.Viewer, time.Now().Add(time.Hour))
	write(a, b, short)
	c := guard.DefaultConfig()
	c.TokenFile = path
	s := open(t, c, guard.DefaultLimits(), (*httptest.Server).Start)
	_, cookie := begun(t, s, first)
	brief, _ := begun(t, s, second)
	if brief.MaxAge > 3600 || brief.MaxAge < 3500 {
		t.Errorf("the session outlives its token: %d s", brief.MaxAge)
	}
	s.ask("GET", "/api/v1/allocations/a-1", "", cookie...).is(t, 200, fine)
	a.Tenants = access.Tenants{"red"}
	write(a, b, short) // what a token may see is looked up each time
	s.pass(2 * time.Second)
	if got := s.ask("GET", "/api/v1/allocations/a-1", "", cookie...); !strings.Contains(got.text, `"sees":false`) {
		t.Error(got.text)
	}
	write(b)
	s.pass(2 * time.Second)
	s.ask("GET", "/api/v1/allocations/a-1", "", cookie...).is(t, 401, problem.Unauthenticated)
	write(a, b)
	s.pass(2 * time.Second)
	s.ask("GET", "/api/v1/allocations/a-1", "", cookie...).is(t, 401, problem.Unauthenticated) // it does not come back
}

func TestASessionOfAnIssuersToken(t *testing.T) {
	issuer, err := accesstest.NewIssuer()
	if err != nil {
		t.Fatal(err)
	}
	defer issuer.Close()
	ca, err := issuer.CAFile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := guard.DefaultConfig()
	c.OIDC = access.OIDC{Issuer: issuer.URL, Audience: accesstest.Audience, CAFile: ca, Roles: map[access.Role][]string{access.Viewer: {"sre"}}, TenantClaim: "tenant"}
	s := open(t, c, guard.DefaultLimits(), (*httptest.Server).Start)
	issuer.SetDown(true)
	token, err := issuer.Token("k1", map[string]any{"tenant": "blue"})
	if err != nil {
		t.Fatal(err)
	}
	away := s.ask("POST", "/api/v1/session", "", bearer(token)...)
	away.is(t, 503, problem.IssuerUnavailable)
	if n := retryAfter(t, away); n != 5 {
		t.Errorf("told to wait %d s", n)
	}
	issuer.SetDown(false)
	s.pass(10 * time.Second)
	brief, cookie := begun(t, s, token)
	if brief.MaxAge > 3600 {
		t.Errorf("the session outlives its token: %d s", brief.MaxAge)
	}
	if got := s.ask("GET", "/api/v1/session", "", cookie...); strings.TrimSpace(got.text) != `{"subject":"u-17","role":"viewer","tenants":["blue"],"open":false}` {
		t.Error(got.text)
	}
	s.pass(time.Hour)
	s.ask("GET", "/api/v1/session", "", cookie...).is(t, 401, problem.Unauthenticated)
}

// Over TLS the cookie is Secure, and a client certificate does for a token; neither for a page of another site.
func TestOverTLS(t *testing.T) {
	dir := t.TempDir()
	files := access.TLS{CertFile: filepath.Join(dir, "cert.pem"), KeyFile: filepath.Join(dir, "key.pem"), ClientCAFile: filepath.Join(dir, "ca.pem")}
	authority, err := accesstest.NewAuthority("everybody's")
	if err != nil {
		t.Fatal(err)
	}
	server, err := authority.Issue("server", time.Hour, nil)
	if err == nil {
		err = accesstest.WritePair(server, files.CertFile, files.KeyFile)
	}
	if err == nil {
		err = authority.Write(files.ClientCAFile)
	}
	if err != nil {
		t.Fatal(err)
	}
	client, err := authority.Issue("scraper", time.Hour, nil)
	if err != nil {
		t.Fatal(err)
	}
	secret, token := access.NewToken("kim", access.Viewer, time.Time{})
	c := guard.DefaultConfig()
	c.TLS, c.Tokens = files, []access.Token{token}
	c.Certificates = []access.Certificate{{Subject: "scraper", Role: access.Viewer}}
	s := open(t, c, guard.DefaultLimits(), func(server *httptest.Server) {
		l, err := files.Secure(server.Listener)
		if err != nil {
			t.Fatal(err)
		}
		server.Listener = l
		server.Start()
		server.URL = "https://" + l.Addr().String()
	})
	s.client = clientOf(authority, nil)
	cookie, headers := begun(t, s, secret)
	if !cookie.Secure {
		t.Error("the cookie would be sent in the clear")
	}
	plain := "http" + strings.TrimPrefix(s.url, "https")
	s.ask("GET", "/api/v1/session", "", append([]string{"Origin", plain}, headers...)...).is(t, 403, problem.ForeignPage)
	s.ask("GET", "/metrics", "").is(t, 401, problem.Unauthenticated)

	s.client = clientOf(authority, &client)
	s.ask("GET", "/metrics", "").is(t, 200, fine)
	s.ask("POST", "/api/v1/notes", "x").is(t, 204, fine)
	s.ask("POST", "/api/v1/notes", "x", "Origin", "https://evil.example").is(t, 403, problem.ForeignPage)
	s.ask("GET", "/metrics", "", bearer("flt_nobody")...).is(t, 401, problem.Unauthenticated)
	if got := s.ask("GET", "/api/v1/allocations/a-1", ""); !strings.Contains(got.text, `"subject":"scraper"`) {
		t.Error(got.text)
	}
	s.ask("POST", "/api/v1/session", "").is(t, 401, problem.Unauthenticated)
}

func TestSessionsAreBounded(t *testing.T) {
	s, vera, ada, _ := guarded(t, func(_ *guard.Config, l *guard.Limits) { l.Rate = 0 })
	_, others := begun(t, s, ada)
	var first []string
	for i := range guard.SessionsEach + 1 {
		_, cookie := begun(t, s, vera)
		if s.pass(time.Millisecond); i == 0 {
			first = cookie
		}
	}
	s.ask("GET", "/api/v1/session", "", first...).is(t, 401, problem.Unauthenticated)
	s.ask("GET", "/api/v1/session", "", others...).is(t, 200, fine)
	if n := guard.SessionsOf(guard.SessionsMost + 100); n != guard.SessionsMost {
		t.Errorf("%d sessions are kept", n)
	}
}
