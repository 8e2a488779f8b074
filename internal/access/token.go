package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"
)

// prefix tells our tokens from others, for people and for those who search for leaked secrets.
const prefix = "flt_"

// Token is one static token of the configuration: who shows it, and as what.
type Token struct {
	Name    string    `yaml:"name"`              // the caller, as the audit log names it
	Role    Role      `yaml:"role"`              // viewer, operator or admin
	SHA256  string    `yaml:"sha256"`            // of the token, in hexadecimal; the token itself is kept nowhere
	Expires time.Time `yaml:"expires,omitempty"` // absent: never
	Tenants Tenants   `yaml:"tenants,omitempty"` // those that the caller sees; absent: all
}

// UnmarshalYAML reads an entry of the configuration.
func (t *Token) UnmarshalYAML(n *yaml.Node) error {
	type plain Token
	return entry(n, (*plain)(t), "name", "role", "sha256", "expires", "tenants")
}

// NewToken makes a token of 256 random bits, and its line of the configuration. Without tenants its owner sees all.
func NewToken(name string, role Role, expires time.Time, tenants ...string) (secret string, t Token) {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	secret = prefix + base64.RawURLEncoding.EncodeToString(b[:])
	return secret, Token{Name: name, Role: role, SHA256: Digest(secret), Expires: expires, Tenants: tenants}
}

// Digest is the form in which a token is kept. A token has as many random bits as the digest, so that a
// slow hash would only slow down those who may come in.
func Digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func (t Token) validate() error {
	switch raw, err := hex.DecodeString(t.SHA256); {
	case t.Name == "":
		return errors.New("name: must be set")
	case t.Role == Nobody:
		return fmt.Errorf("%s: role: none of viewer, operator, admin", t.Name)
	case err != nil || len(raw) != sha256.Size:
		return fmt.Errorf("%s: sha256: 64 hexadecimal digits are wanted: the digest of the token, not the token (faultline recover token makes both)", t.Name)
	}
	if err := t.Tenants.validate(); err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	return nil
}

// directory finds static tokens by their digest.
type directory map[string]Token

func newDirectory(tokens []Token) (directory, error) {
	d, names := directory{}, map[string]bool{}
	for _, t := range tokens {
		if err := t.validate(); err != nil {
			return nil, err
		}
		if names[t.Name] { // one name, one line of the audit log
			return nil, fmt.Errorf("%s: named twice", t.Name)
		}
		names[t.Name] = true
		d[t.SHA256] = t
	}
	return d, nil
}

// principal says whose a token is, by its digest: how long the comparison takes tells nothing of the token.
func (d directory) principal(digest string, now time.Time) (Principal, error) {
	t, ok := d[digest]
	if !ok {
		return Principal{}, deny(TokenUnknown, "the token is not known")
	}
	p := Principal{Subject: t.Name, Role: t.Role, Tenants: t.Tenants, Expires: t.Expires, Via: "token " + t.Name}
	if !t.Expires.IsZero() && !now.Before(t.Expires) {
		return p, &Denial{Reason: TokenExpired, Who: p, Detail: "the token of " + t.Name + " has expired at " + t.Expires.UTC().Format(time.RFC3339)}
	}
	return p, nil
}
