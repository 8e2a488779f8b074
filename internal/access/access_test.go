package access_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/config"
)

func ask(secret string, more ...string) *http.Request {
	r := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/", nil)
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	for i := 0; i+1 < len(more); i += 2 {
		r.Header.Set(more[i], more[i+1])
	}
	return r
}

// admits checks who a gate says it is, or with which reason it turns the caller away.
func admits(t *testing.T, g *access.Gate, r *http.Request, needs access.Role, subject string, want access.Reason) {
	t.Helper()
	p, err := g.Admit(r, needs)
	d := access.DenialOf(err)
	switch {
	case want == "" && (err != nil || p.Subject != subject):
		t.Fatalf("%+v, %v; want %q", p, err, subject)
	case want != "" && (d == nil || d.Reason != want):
		t.Fatalf("%+v, %v; want %s", p, err, want)
	case want != "" && d.Reason.Remedy() == "":
		t.Fatalf("%s has no remedy", want)
	}
	if err != nil && r.Header.Get("Authorization") != "" && strings.Contains(err.Error(), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")) {
		t.Fatalf("the token is in the error: %v", err)
	}
}

func TestStaticTokens(t *testing.T) {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	viewing, viewer := access.NewToken("vera", access.Viewer, time.Time{})
	running, operator := access.NewToken("otto", access.Operator, now.Add(time.Hour))
	old, gone := access.NewToken("gone", access.Admin, now)
	g, err := access.Open(access.Config{Tokens: []access.Token{viewer, operator, gone}}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	admits(t, g, ask(viewing), access.Viewer, "vera", "")
	admits(t, g, ask(viewing), access.Operator, "", access.RoleMissing)
	admits(t, g, ask(running), access.Viewer, "otto", "")
	admits(t, g, ask(running), access.Operator, "otto", "")
	admits(t, g, ask(running), access.Admin, "", access.RoleMissing)
	admits(t, g, ask(old), access.Viewer, "", access.TokenExpired)
	admits(t, g, ask(""), access.Viewer, "", access.TokenMissing)
	admits(t, g, ask("", "Authorization", "Basic dXNlcjpwYXNz"), access.Viewer, "", access.TokenMissing)
	admits(t, g, ask("flt_nobody"), access.Viewer, "", access.TokenUnknown)
	admits(t, g, ask(viewer.SHA256), access.Viewer, "", access.TokenUnknown) // what is kept lets nobody in
	admits(t, g, ask("a.b.c"), access.Viewer, "", access.TokenUnknown)
	now = now.Add(time.Hour)
	admits(t, g, ask(running), access.Viewer, "", access.TokenExpired)
}

func TestATokenCanBeTakenBackWithoutARestart(t *testing.T) {
	now := time.Now()
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	write := func(tokens ...access.Token) {
		t.Helper()
		text, err := yaml.Marshal(map[string]any{"tokens": tokens})
		if err == nil {
			err = os.WriteFile(path, text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	first, a := access.NewToken("ann", access.Admin, time.Time{})
	second, b := access.NewToken("bob", access.Admin, time.Time{})
	write(a)
	g, err := access.Open(access.Config{TokenFile: path}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	admits(t, g, ask(first), access.Admin, "ann", "")
	write(a, b)
	now = now.Add(2 * time.Second)
	admits(t, g, ask(second), access.Admin, "bob", "")
	write(b)
	_ = os.Chtimes(path, now, now) // the same size within a clock tick would pass for unchanged
	now = now.Add(2 * time.Second)
	admits(t, g, ask(first), access.Admin, "", access.TokenUnknown)
	if err := os.WriteFile(path, []byte("tokens: [{titel: x}]"), 0o600); err != nil { // a slip of the pen locks nobody out
		t.Fatal(err)
	}
	now = now.Add(2 * time.Second)
	admits(t, g, ask(second), access.Admin, "bob", "")
	_, err = g.Admit(ask(first), access.Viewer)
	if err == nil || !strings.Contains(err.Error(), `unknown key "titel"`) {
		t.Fatal(err)
	}
	if _, err := access.Open(access.Config{TokenFile: path + ".absent"}, nil); err == nil || !strings.Contains(err.Error(), "access.token_file") {
		t.Fatal(err)
	}
}

func TestWithoutAccessControl(t *testing.T) {
	g, err := access.Open(access.Config{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	admits(t, g, ask(""), access.Admin, "", "")
	admits(t, g, ask("", "Origin", "http://127.0.0.1:3000"), access.Admin, "", "")
	admits(t, g, ask("", "Origin", "https://evil.example"), access.Viewer, "", access.ForeignOrigin)
	admits(t, g, ask("", "Origin", "null"), access.Viewer, "", access.ForeignOrigin)
}

func TestConfiguration(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		_, err := config.Parse("p.yaml", []byte(text), access.Config{})
		switch {
		case want == "" && err != nil:
			t.Fatal(err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Fatalf("%v, want %q", err, want)
		}
	}
	digest := access.Digest("x")
	f("", "")
	f("tokens: [{name: kim, role: operator, sha256: "+digest+", expires: 2027-01-01T00:00:00Z}]", "")
	f("tokens: [{name: kim, role: operator, sha256: flt_secret}]", "the digest of the token, not the token")
	f("tokens: [{name: kim, role: root, sha256: "+digest+"}]", "none of viewer, operator, admin")
	f("tokens: [{name: kim, sha256: "+digest+"}]", "none of viewer, operator, admin")
	f("tokens: [{role: admin, sha256: "+digest+"}]", "name: must be set")
	f("tokens: [{name: k, role: admin, sha256: "+digest+"}, {name: k, role: viewer, sha256: "+access.Digest("y")+"}]", "named twice")
	f("oidc: {issuer: https://id.example, audience: faultline, roles: {admin: [sre-lead], viewer: [sre]}}", "")
	f("oidc: {issuer: http://id.example, audience: f, roles: {admin: [a]}}", "no https URL")
	f("oidc: {issuer: https://id.example, roles: {admin: [a]}}", "audience")
	f("oidc: {issuer: https://id.example, audience: f}", "no group has a role")
	f("oidc: {audience: f}", "access.oidc.issuer")
	f("oidc: {issuer: https://id.example, audience: f, roles: {boss: [a]}}", "boss")
}

func TestWhatIsReachedFromOtherMachinesWantsAccessControl(t *testing.T) {
	f := func(address string, c access.Config, safe bool) {
		t.Helper()
		if err := c.Guards("control", address); (err == nil) != safe {
			t.Fatalf("%s: %v", address, err)
		}
	}
	for _, local := range []string{"127.0.0.1:8681", "localhost:1", "[::1]:8681", "127.9.9.9:1"} {
		f(local, access.Config{}, true)
	}
	for _, open := range []string{":8681", "0.0.0.0:8681", "[::]:8681", "10.0.0.1:8681", "example.com:1", ""} {
		f(open, access.Config{}, false)
		f(open, access.Config{TokenFile: "t"}, true)
	}
}
