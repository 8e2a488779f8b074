package access

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

const (
	issuerTime = 10 * time.Second // of one request to the issuer
	askAgain   = 5 * time.Second  // after the issuer could not be reached
)

// issuer verifies the tokens of an OpenID Connect issuer. Its keys are fetched when they are needed, and
// again when a token was signed with one that is not known.
type issuer struct {
	config OIDC
	client *http.Client
	keys   *http.Client
	now    func() time.Time

	mu       sync.Mutex
	verifier *oidc.IDTokenVerifier
	failed   time.Time
	err      error
}

func newIssuer(c OIDC, now func() time.Time) (*issuer, error) {
	if c.Subject == "" {
		c.Subject = "sub"
	}
	if c.Claim == "" {
		c.Claim = "groups"
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if c.CAFile != "" {
		trusted, err := pool(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("access.oidc.ca_file: %w", err)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}
	}
	return &issuer{
		config: c, now: now, client: &http.Client{Transport: transport, Timeout: issuerTime},
		keys: &http.Client{Transport: &keys{next: transport, now: now, seen: map[string]bool{}}, Timeout: issuerTime},
	}, nil
}

// ready asks the issuer who it is, once. The verifier outlives the request that asked first.
func (i *issuer) ready(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.verifier != nil {
		return i.verifier, nil
	}
	if i.err != nil && i.now().Sub(i.failed) < askAgain {
		return nil, i.err
	}
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), i.client)
	p, err := oidc.NewProvider(ctx, i.config.Issuer)
	if err != nil {
		i.failed, i.err = i.now(), err
		return nil, err
	}
	// The audience is looked at below, where it gets a reason of its own.
	i.verifier, i.err = p.VerifierContext(oidc.ClientContext(context.Background(), i.keys), &oidc.Config{SkipClientIDCheck: true, Now: i.now}), nil
	return i.verifier, nil
}

func (i *issuer) principal(ctx context.Context, raw string) (Principal, error) {
	verifier, err := i.ready(ctx)
	if err != nil {
		return Principal{}, deny(IssuerUnavailable, "%s does not say who it is: %v", i.config.Issuer, err)
	}
	token, err := verifier.Verify(oidc.ClientContext(ctx, i.client), raw)
	var expired *oidc.TokenExpiredError
	switch {
	case errors.As(err, &expired):
		return Principal{}, deny(TokenExpired, "the token has expired at %s", expired.Expiry.UTC().Format(time.RFC3339))
	case err != nil && strings.Contains(err.Error(), "fetching keys"):
		return Principal{}, deny(IssuerUnavailable, "%s does not give its keys: %v", i.config.Issuer, err)
	case err != nil:
		return Principal{}, deny(TokenUnknown, "%v", err)
	case !slices.Contains(token.Audience, i.config.Audience):
		return Principal{}, deny(TokenAudience, "the token was issued for %s", strings.Join(token.Audience, " "))
	}
	var claims map[string]any
	if err := token.Claims(&claims); err != nil {
		return Principal{}, deny(TokenUnknown, "its claims: %v", err)
	}
	p := Principal{Via: "oidc " + i.config.Issuer, Expires: token.Expiry}
	if p.Subject, _ = claims[i.config.Subject].(string); !plausible(p.Subject) {
		return p, deny(TokenUnknown, "its claim %s names nobody", i.config.Subject)
	}
	groups := words(claims, i.config.Claim)
	for role, named := range i.config.Roles {
		if role > p.Role && slices.ContainsFunc(named, func(g string) bool { return slices.Contains(groups, g) }) {
			p.Role = role
		}
	}
	if p.Role == Nobody {
		return p, &Denial{Reason: NoRole, Who: p, Detail: fmt.Sprintf("%s is in none of the groups that have a role (claim %s)", p.Subject, i.config.Claim)}
	}
	if i.config.TenantClaim != "" && !slices.ContainsFunc(i.config.AllTenants, func(g string) bool { return slices.Contains(groups, g) }) {
		p.Tenants = names(claims, i.config.TenantClaim)
	}
	return p, nil
}

// plausible reports whether a name can stand in the audit log.
func plausible(name string) bool {
	return name != "" && len(name) <= 256 && !strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c == 0x7f })
}
