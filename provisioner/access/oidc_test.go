package access_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/faultline-io/faultline/provisioner/access"
)

// identityProvider is a small OpenID Connect issuer on TLS: discovery, keys, and tokens.
type identityProvider struct {
	*httptest.Server
	t *testing.T

	mu   sync.Mutex
	down bool
	keys map[string]*rsa.PrivateKey
}

func newIdentityProvider(t *testing.T) *identityProvider {
	t.Helper()
	p := &identityProvider{t: t, keys: map[string]*rsa.PrivateKey{}}
	p.rotate("k1")
	p.Server = httptest.NewTLSServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.Close)
	return p
}

// rotate adds a signing key.
func (p *identityProvider) rotate(id string) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys[id] = key
}

func (p *identityProvider) setDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

func (p *identityProvider) serve(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": p.URL, "jwks_uri": p.URL + "/keys", "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token",
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	case "/keys":
		var keys []map[string]string
		for id, k := range p.keys {
			keys = append(keys, map[string]string{
				"kty": "RSA", "alg": "RS256", "use": "sig", "kid": id,
				"n": base64.RawURLEncoding.EncodeToString(k.N.Bytes()), "e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(k.E)).Bytes()),
			})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": keys})
	}
}

// token signs claims; nil takes a claim out of a token that would do.
func (p *identityProvider) token(kid string, change map[string]any) string {
	p.t.Helper()
	claims := map[string]any{
		"iss": p.URL, "aud": "faultline", "sub": "u-17", "email": "kim@example.com", "groups": []string{"everyone", "sre"},
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	for k, v := range change {
		if claims[k] = v; v == nil {
			delete(claims, k)
		}
	}
	part := func(v any) string {
		text, _ := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(text)
	}
	signed := part(map[string]string{"alg": "RS256", "kid": kid, "typ": "JWT"}) + "." + part(claims)
	p.mu.Lock()
	defer p.mu.Unlock()
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, p.keys[kid], crypto.SHA256, sum[:])
	if err != nil {
		p.t.Fatal(err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// trusts writes the issuer's certificate where a configuration can name it.
func (p *identityProvider) trusts() string {
	path := filepath.Join(p.t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})
	if err := os.WriteFile(path, text, 0o600); err != nil {
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
	p.setDown(true)
	secret, static := access.NewToken("break-glass", access.Admin, time.Time{})
	g, err := access.Open(access.Config{Tokens: []access.Token{static}, OIDC: access.OIDC{
		Issuer: p.URL, Audience: "faultline", CAFile: p.trusts(), Roles: map[access.Role][]string{access.Viewer: {"sre"}},
	}}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	admits(t, g, ask(p.token("k1", nil)), access.Viewer, "", access.IssuerUnavailable)
	admits(t, g, ask(secret), access.Admin, "break-glass", "")
	p.setDown(false)
	now = now.Add(10 * time.Second) // it is not asked again at every request
	admits(t, g, ask(p.token("k1", nil)), access.Viewer, "u-17", "")
	p.rotate("k2")
	p.setDown(true)
	admits(t, g, ask(p.token("k2", nil)), access.Viewer, "", access.IssuerUnavailable)
	admits(t, g, ask(p.token("k1", nil)), access.Viewer, "u-17", "") // its keys are known
}
