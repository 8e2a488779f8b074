// Package accesstest is an OpenID Connect issuer for tests (discovery, keys and tokens, on TLS), and an authority for
// certificates.
package accesstest

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Audience is whom tokens are for.
const Audience = "faultline"

// Issuer is safe for use by several goroutines. Close it.
type Issuer struct {
	*httptest.Server

	mu   sync.Mutex
	down bool
	asks int
	keys map[string]*rsa.PrivateKey // by key id
}

// NewIssuer starts one that has the key k1.
func NewIssuer() (*Issuer, error) {
	p := &Issuer{keys: map[string]*rsa.PrivateKey{}}
	if err := p.Rotate("k1"); err != nil {
		return nil, err
	}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(p.serve))
	return p, nil
}

// CAFile writes the certificate of who vouches for the issuer into dir, where a configuration can name it.
func (p *Issuer) CAFile(dir string) (path string, err error) {
	path = filepath.Join(dir, "ca.pem")
	return path, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Server.Certificate().Raw}), 0o600)
}

// Rotate adds a signing key.
func (p *Issuer) Rotate(id string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys[id] = key
	return err
}

// SetDown has it answer nothing but 503, or everything again.
func (p *Issuer) SetDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

// KeysAsked is how often the keys were asked for.
func (p *Issuer) KeysAsked() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asks
}

func (p *Issuer) serve(w http.ResponseWriter, r *http.Request) {
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
		p.asks++
		var keys []map[string]string
		for id, k := range p.keys {
			keys = append(keys, map[string]string{
				"kty": "RSA", "alg": "RS256", "use": "sig", "kid": id,
				"n": base64.RawURLEncoding.EncodeToString(k.N.Bytes()), "e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(k.E)).Bytes()),
			})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": keys})
	default:
		http.NotFound(w, r)
	}
}

// Token signs, with one of the issuer's keys, the claims of kim@example.com in the groups everyone and sre,
// changed as told; nil takes a claim out.
func (p *Issuer) Token(kid string, change map[string]any) (string, error) {
	p.mu.Lock()
	key, ok := p.keys[kid]
	p.mu.Unlock()
	if !ok {
		return "", fmt.Errorf("no key %q", kid)
	}
	return p.sign(kid, key, change)
}

// Forge signs what Token signs, with another key of the same name.
func (p *Issuer) Forge(kid string, change map[string]any) (string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	return p.sign(kid, key, change)
}

func (p *Issuer) sign(kid string, key *rsa.PrivateKey, change map[string]any) (string, error) {
	claims := map[string]any{
		"iss": p.URL, "aud": Audience, "sub": "u-17", "email": "kim@example.com", "groups": []string{"everyone", "sre"},
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix(),
	}
	for k, v := range change {
		if claims[k] = v; v == nil {
			delete(claims, k)
		}
	}
	var signed string
	for _, part := range []any{map[string]string{"alg": "RS256", "kid": kid, "typ": "JWT"}, claims} {
		text, err := json.Marshal(part)
		if err != nil {
			return "", err
		}
		signed += base64.RawURLEncoding.EncodeToString(text) + "."
	}
	sum := sha256.Sum256([]byte(signed[:len(signed)-1]))
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	return signed + base64.RawURLEncoding.EncodeToString(signature), err
}
