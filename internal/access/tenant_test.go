package access_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/config"
)

func TestSees(t *testing.T) {
	f := func(tenants []string, tenant string, want bool) {
		t.Helper()
		if got := (access.Principal{Tenants: tenants}).Sees(tenant); got != want {
			t.Errorf("%#v sees %q: %v", tenants, tenant, got)
		}
	}
	f(nil, "blue", true)
	f(nil, "", true)
	f([]string{}, "blue", false)
	f([]string{}, "", false)
	f([]string{"blue"}, "blue", true)
	f([]string{"blue"}, "Blue", false)
	f([]string{"blue"}, "red", false)
	f([]string{"blue"}, "", false)
	f([]string{""}, "", false)
	if d := access.DenialOf((access.Principal{Tenants: []string{"blue"}}).SeesAll()); d == nil || d.Reason != access.TenantLimited || d.Unknown() {
		t.Error(d)
	}
	if err := (access.Principal{}).SeesAll(); err != nil {
		t.Error(err)
	}
}

func TestTenantsOfTokens(t *testing.T) {
	_, all := access.NewToken("all", access.Viewer, time.Time{})
	_, blue := access.NewToken("blue", access.Viewer, time.Time{}, "blue")
	none := all
	none.Name, none.SHA256, none.Tenants = "none", access.Digest("none"), access.Tenants{}
	text, err := yaml.Marshal(map[string]any{"tokens": []access.Token{all, blue, none}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := config.Parse("t.yaml", text, access.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var got []access.Tenants
	for _, one := range c.Tokens {
		got = append(got, one.Tenants)
	}
	if d := cmp.Diff([]access.Tenants{nil, {"blue"}, {}}, got); d != "" { // none must not become all on the way
		t.Error(d)
	}
	f := func(text, want string) {
		t.Helper()
		if _, err := config.Parse("t.yaml", []byte(text), access.Config{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	digest := access.Digest("x")
	f("tokens:\n  - {name: kim, role: viewer, sha256: "+digest+", tenants: }", "t.yaml:2: tenants: names none")
	f("tokens:\n  - {name: kim, role: viewer, sha256: "+digest+", tenant: [blue]}", `t.yaml:2: unknown key "tenant"`)
	f("tokens: [{name: kim, role: viewer, sha256: "+digest+", tenants: ['']}]", "kim: tenants: one has no name")
	f("tls: {cert_file: c, key_file: k, client_ca_file: a}\ncertificates:\n  - {subject: kim, role: viewer, tenants: null}", "t.yaml:3: tenants: names none")
	f("certificates: [{subject: kim, role: viewer}]", "access.tls.client_ca_file: must be set")
	f("tls: {client_ca_file: a}", "access.tls.client_ca_file: client certificates come over TLS")
	f("tls: {cert_file: c, key_file: k, client_ca_file: a}\ncertificates: [{subject: kim}]", "none of viewer, operator, admin")
	f("tls: {cert_file: c, key_file: k, client_ca_file: a}\ncertificates: [{subject: k, role: admin}, {subject: k, role: viewer}]", "named twice")
	f("oidc: {issuer: https://id.example, audience: f, roles: {admin: [a]}, all_tenants: [a]}", "access.oidc.tenant_claim")
}

func TestTenantsOfAnIssuersTokens(t *testing.T) {
	p := newIdentityProvider(t)
	open := func(claim string, all ...string) *access.Gate {
		g, err := access.Open(access.Config{OIDC: access.OIDC{
			Issuer: p.URL, Audience: "faultline", CAFile: p.trusts(), Roles: map[access.Role][]string{access.Viewer: {"sre", "noc"}},
			TenantClaim: claim, AllTenants: all,
		}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	f := func(g *access.Gate, change map[string]any, want []string) {
		t.Helper()
		p, err := g.Admit(ask(p.token("k1", change)), access.Viewer)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, p.Tenants); d != "" {
			t.Error(d)
		}
	}
	f(open(""), map[string]any{"tenants": []string{"blue"}}, nil)
	g := open("org.tenants", "noc")
	f(g, map[string]any{"org": map[string]any{"tenants": []string{"blue", "", "red"}}}, []string{"blue", "red"})
	f(g, map[string]any{"org": map[string]any{"tenants": "blue team"}}, []string{"blue team"})
	f(g, map[string]any{"org": map[string]any{"tenants": nil}}, []string{})
	f(g, map[string]any{"org": map[string]any{"tenants": 7}}, []string{})
	f(g, nil, []string{})
	f(g, map[string]any{"groups": []string{"noc"}}, nil)
	f(g, map[string]any{"groups": []string{"noc"}, "org": map[string]any{"tenants": []string{"blue"}}}, nil)
}

func TestAHeldTokenIsAskedAboutAgain(t *testing.T) {
	now := time.Now()
	secret, kim := access.NewToken("kim", access.Viewer, now.Add(time.Hour), "blue")
	g, err := access.Open(access.Config{Tokens: []access.Token{kim}}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	held, p, err := g.Hold(ask(secret), access.Viewer)
	if err != nil || !p.Expires.Equal(now.Add(time.Hour)) {
		t.Fatal(p, err)
	}
	if again, err := g.Again(t.Context(), held, access.Viewer); err != nil || !cmp.Equal(p, again) {
		t.Fatal(again, err)
	}
	if _, err := g.Again(t.Context(), held, access.Admin); access.DenialOf(err).Reason != access.RoleMissing {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	if _, err := g.Again(t.Context(), held, access.Viewer); access.DenialOf(err).Reason != access.TokenExpired {
		t.Fatal(err)
	}
	if _, _, err := g.Hold(ask(""), access.Viewer); access.DenialOf(err).Reason != access.TokenMissing {
		t.Fatal(err)
	}
	open, _ := access.Open(access.Config{}, nil)
	if _, err := open.Again(t.Context(), held, access.Viewer); err == nil {
		t.Fatal("nobody holds anything where nobody asks")
	}
}
