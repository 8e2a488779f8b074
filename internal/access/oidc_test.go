package access_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/access/accesstest"
)

// identityProvider is an issuer that a test fails with.
type identityProvider struct {
	*accesstest.Issuer
	t *testing.T
}

func newIdentityProvider(t *testing.T) *identityProvider {
	t.Helper()
	p, err := accesstest.NewIssuer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return &identityProvider{p, t}
}

func (p *identityProvider) rotate(id string) {
	p.t.Helper()
	if err := p.Rotate(id); err != nil {
		p.t.Fatal(err)
	}
}

func (p *identityProvider) token(kid string, change map[string]any) string {
	p.t.Helper()
	text, err := p.Token(kid, change)
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

// trusts writes the issuer's certificate where a configuration can name it.
func (p *identityProvider) trusts() string {
	p.t.Helper()
	path, err := p.CAFile(p.t.TempDir())
	if err != nil {
		p.t.Fatal(err)
	}
	return path
}

func TestIdentityTokens(t *testing.T) {
	p := newIdentityProvider(t)
	secret, static := access.NewToken("break-glass", access.Admin, time.Time{})
	g, err := access.Open(access.Config{Tokens: []access.Token{static}, OIDC: access.OIDC{
		Issuer: p.URL, Audience: "faultline", Subject: "email", Claim: "groups", CAFile: p.trusts(),
		Roles: map[access.Role][]string{access.Viewer: {"everyone"}, access.Operator: {"sre", "noc"}, access.Admin: {"sre-lead"}},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	admits(t, g, ask(p.token("k1", nil)), access.Operator, "kim@example.com", "")
	admits(t, g, ask(p.token("k1", nil)), access.Admin, "", access.RoleMissing)
	admits(t, g, ask(p.token("k1", map[string]any{"groups": []string{"sre-lead"}})), access.Admin, "kim@example.com", "")
	admits(t, g, ask(p.token("k1", map[string]any{"groups": "everyone noc"})), access.Operator, "kim@example.com", "")
	admits(t, g, ask(p.token("k1", map[string]any{"groups": []string{"other"}})), access.Viewer, "", access.NoRole)
	admits(t, g, ask(p.token("k1", map[string]any{"groups": nil})), access.Viewer, "", access.NoRole)
	admits(t, g, ask(p.token("k1", map[string]any{"groups": 7})), access.Viewer, "", access.NoRole)
	admits(t, g, ask(p.token("k1", map[string]any{"email": nil})), access.Viewer, "", access.TokenUnknown)
	admits(t, g, ask(p.token("k1", map[string]any{"email": "a\nb"})), access.Viewer, "", access.TokenUnknown)
	admits(t, g, ask(p.token("k1", map[string]any{"exp": time.Now().Add(-time.Minute).Unix()})), access.Viewer, "", access.TokenExpired)
	admits(t, g, ask(p.token("k1", map[string]any{"nbf": time.Now().Add(time.Hour).Unix()})), access.Viewer, "", access.TokenUnknown)
	admits(t, g, ask(p.token("k1", map[string]any{"aud": "another"})), access.Viewer, "", access.TokenAudience)
	admits(t, g, ask(p.token("k1", map[string]any{"aud": []string{"another", "faultline"}})), access.Viewer, "kim@example.com", "")
	admits(t, g, ask(p.token("k1", map[string]any{"iss": "https://elsewhere.example"})), access.Viewer, "", access.TokenUnknown)
	admits(t, g, ask(secret), access.Admin, "break-glass", "")

	good := p.token("k1", nil)
	head, rest, _ := strings.Cut(good, ".")
	admits(t, g, ask(head+"."+rest[:len(rest)-8]+"AAAAAAAA"), access.Viewer, "", access.TokenUnknown)
	claims, _, _ := strings.Cut(rest, ".")
	none := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`))
	admits(t, g, ask(none+"."+claims+"."), access.Viewer, "", access.TokenUnknown)
	admits(t, g, ask("x.y.z"), access.Viewer, "", access.TokenUnknown)

	p.rotate("k2") // a key that is new here is asked for
	admits(t, g, ask(p.token("k2", nil)), access.Viewer, "kim@example.com", "")
}

func TestGroupsDeepInTheToken(t *testing.T) {
	p := newIdentityProvider(t)
	g, err := access.Open(access.Config{OIDC: access.OIDC{
		Issuer: p.URL, Audience: "faultline", Claim: "realm_access.roles", CAFile: p.trusts(), Roles: map[access.Role][]string{access.Admin: {"root"}},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	admits(t, g, ask(p.token("k1", map[string]any{"realm_access": map[string]any{"roles": []string{"root"}}})), access.Admin, "u-17", "")
	admits(t, g, ask(p.token("k1", map[string]any{"realm_access.roles": []string{"root"}})), access.Admin, "u-17", "")
	admits(t, g, ask(p.token("k1", map[string]any{"realm_access": "roles"})), access.Viewer, "", access.NoRole)
}

func TestAnIssuerThatIsAwayStopsNothing(t *testing.T) {
	p := newIdentityProvider(t)
	now := time.Now()
	p.SetDown(true)
	secret, static := access.NewToken("break-glass", access.Admin, time.Time{})
	g, err := access.Open(access.Config{Tokens: []access.Token{static}, OIDC: access.OIDC{
		Issuer: p.URL, Audience: "faultline", CAFile: p.trusts(), Roles: map[access.Role][]string{access.Viewer: {"sre"}},
	}}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	admits(t, g, ask(p.token("k1", nil)), access.Viewer, "", access.IssuerUnavailable)
	admits(t, g, ask(secret), access.Admin, "break-glass", "")
	p.SetDown(false)
	now = now.Add(10 * time.Second) // it is not asked again at every request
	admits(t, g, ask(p.token("k1", nil)), access.Viewer, "u-17", "")
	p.rotate("k2")
	p.SetDown(true)
	admits(t, g, ask(p.token("k2", nil)), access.Viewer, "", access.IssuerUnavailable)
	admits(t, g, ask(p.token("k1", nil)), access.Viewer, "u-17", "") // its keys are known
}
