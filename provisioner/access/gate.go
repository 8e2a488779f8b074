package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Gate knows callers by their tokens.
type Gate struct {
	static *file
	oidc   *issuer
	now    func() time.Time
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
	return g, nil
}

// Enabled reports whether callers must show who they are.
func (g *Gate) Enabled() bool { return g != nil && (g.static != nil || g.oidc != nil) }

// Admit says who sent a request, if that one has at least the role. The error is a *Denial.
func (g *Gate) Admit(r *http.Request, needs Role) (Principal, error) {
	p, err := g.identify(r)
	if err != nil {
		return p, err
	}
	if p.Role < needs {
		return p, &Denial{Reason: RoleMissing, Who: p, Detail: fmt.Sprintf("%s is %s; %s is needed", p.Subject, p.Role, needs)}
	}
	return p, nil
}

func (g *Gate) identify(r *http.Request) (Principal, error) {
	if !g.Enabled() {
		if foreign(r) {
			return Principal{Via: "open"}, deny(ForeignOrigin, "a page of %s wants something of this API", r.Header.Get("Origin"))
		}
		return Principal{Role: Admin, Via: "open"}, nil
	}
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if secret = strings.TrimSpace(secret); secret == "" || !strings.EqualFold(scheme, "Bearer") {
		return Principal{}, deny(TokenMissing, "no bearer token was sent")
	}
	if g.oidc != nil && !strings.HasPrefix(secret, prefix) && strings.Count(secret, ".") == 2 {
		return g.oidc.principal(r.Context(), secret)
	}
	if g.static == nil {
		return Principal{}, deny(TokenUnknown, "the token is none of %s", g.oidc.config.Issuer)
	}
	return g.static.principal(secret, g.now())
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
	p, _ := ctx.Value(principalKey{}).(Principal)
	return p
}

// DenialOf finds the denial in an error, nil where there is none.
func DenialOf(err error) *Denial {
	var d *Denial
	errors.As(err, &d)
	return d
}
