package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Gate knows callers by their tokens, or by their client certificates.
type Gate struct {
	static       *file
	oidc         *issuer
	certificates certificates
	now          func() time.Time
}

// Open makes a gate. An issuer that cannot be reached yet is asked again when somebody shows one of its
// tokens; a token file that cannot be read is an error.
func Open(c Config, now func() time.Time) (*Gate, error) {
	g := &Gate{now: now}
	if g.now == nil {
		g.now = time.Now
	}
	if len(c.Tokens) > 0 || c.TokenFile != "" {
		f, err := openFile(c.Tokens, c.TokenFile)
		if err != nil {
			return nil, err
		}
		g.static = f
	}
	if c.OIDC.Issuer != "" {
		i, err := newIssuer(c.OIDC, g.now)
		if err != nil {
			return nil, err
		}
		g.oidc = i
	}
	if len(c.Certificates) > 0 {
		listed, err := newCertificates(c.Certificates)
		if err != nil {
			return nil, fmt.Errorf("access.certificates: %w", err)
		}
		g.certificates = listed
	}
	return g, nil
}

// Enabled reports whether callers must show who they are.
func (g *Gate) Enabled() bool {
	return g != nil && (g.static != nil || g.oidc != nil || len(g.certificates) > 0)
}

// Admit says who sent a request, if that one has at least the role. The error is a *Denial.
func (g *Gate) Admit(r *http.Request, needs Role) (Principal, error) {
	p, err := g.identify(r)
	return p, enough(p, needs, err)
}

// enough is err or, without one, whether the role suffices.
func enough(p Principal, needs Role, err error) error {
	if err == nil && p.Role < needs {
		return &Denial{Reason: RoleMissing, Who: p, Detail: fmt.Sprintf("%s is %s; %s is needed", p.Subject, p.Role, needs)}
	}
	return err
}

func (g *Gate) identify(r *http.Request) (Principal, error) {
	if !g.Enabled() {
		if foreign(r) {
			return Principal{Via: "open"}, deny(ForeignOrigin, "a page of %s wants something of this API", r.Header.Get("Origin"))
		}
		return Principal{Role: Admin, Via: "open"}, nil
	}
	held := g.hold(r)
	if held == (Held{}) {
		if leaf := shown(r); leaf != nil && len(g.certificates) > 0 {
			return g.certificates.principal(leaf, g.now())
		}
		return Principal{}, deny(TokenMissing, "no bearer token was sent")
	}
	return g.whose(r.Context(), held)
}

// foreign reports whether a browser sent the request for a page that is not of this machine. Where nobody is
// asked for a token, any page that an operator looks at could speak to the API otherwise.
func foreign(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return false
	}
	u, err := url.Parse(origin)
	return err != nil || !Loopback(u.Host)
}

type principalKey struct{}

// With makes p the caller for whom the work of ctx is done.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// Of is the caller for whom the work of ctx is done; nobody where With was not called.
func Of(ctx context.Context) Principal {
	p, _ := From(ctx)
	return p
}

// From is Of, and whether With was called.
func From(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok
}

// DenialOf finds the denial in an error, nil where there is none.
func DenialOf(err error) *Denial {
	var d *Denial
	errors.As(err, &d)
	return d
}
