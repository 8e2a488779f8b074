package access

import (
	"context"
	"net/http"
	"strings"
)

// Held is a token that was shown once and is asked about again, for a session. Of a static token only the digest is
// held.
type Held struct{ digest, signed string }

// hold takes the bearer token from a request; it is zero where there is none.
func (g *Gate) hold(r *http.Request) Held {
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch secret = strings.TrimSpace(secret); {
	case secret == "" || !strings.EqualFold(scheme, "Bearer"):
		return Held{}
	case g.oidc != nil && !strings.HasPrefix(secret, prefix) && strings.Count(secret, ".") == 2:
		return Held{signed: secret}
	}
	return Held{digest: Digest(secret)}
}

func (g *Gate) whose(ctx context.Context, h Held) (Principal, error) {
	switch {
	case h.signed != "":
		return g.oidc.principal(ctx, h.signed)
	case g.static == nil:
		return Principal{}, deny(TokenUnknown, "the token is none that is known here")
	}
	return g.static.principal(h.digest, g.now())
}

// Hold takes the bearer token of a request whose sender has at least the role. The error is a *Denial.
func (g *Gate) Hold(r *http.Request, needs Role) (Held, Principal, error) {
	h := g.hold(r)
	if !g.Enabled() || h == (Held{}) {
		return Held{}, Principal{}, deny(TokenMissing, "no bearer token was sent")
	}
	p, err := g.whose(r.Context(), h)
	return h, p, enough(p, needs, err)
}

// Again is Admit for a token that is held: it may have been taken back, or have another role by now.
func (g *Gate) Again(ctx context.Context, h Held, needs Role) (Principal, error) {
	if !g.Enabled() || h == (Held{}) {
		return Principal{}, deny(TokenMissing, "nothing is held")
	}
	p, err := g.whose(ctx, h)
	return p, enough(p, needs, err)
}
