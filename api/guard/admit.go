package guard

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/api/problem"
	"github.com/faultline-io/faultline/internal/access"
)

// HeaderRequest is what a page sends along with its cookie when it asks for more than to read: no form of another
// site's can.
const HeaderRequest = "X-Faultline-Request"

// issuerAgain is when a token's issuer that did not answer is asked again, as access has it.
const issuerAgain = 5 * time.Second

// admitted lets a caller in who may read, and makes it the one for whom the request is answered.
func (g *Guard) admitted(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		at := pageOf(c.Request())
		if at == assets || at == metrics && g.config.Metrics == metricsOpen {
			return next(c)
		}
		who, err := g.identify(c.Request())
		if err == nil && at == metrics {
			err = who.SeesAll()
		}
		switch {
		case err != nil && at == health:
			return bareHealth(c, next)
		case err != nil:
			return g.denied(c, err)
		}
		c.Set(callerKey, who)
		c.SetRequest(c.Request().WithContext(access.With(c.Request().Context(), who.Principal)))
		if at == question {
			c.Response().Header().Set(echo.HeaderCacheControl, "no-store") // another caller may be shown less
		}
		if isStream(c.Request()) && g.gate.Enabled() {
			return g.watched(c, who, next)
		}
		return next(c)
	}
}

// identify says who sent a request: by a token, else by a session, else by a client certificate. Browsers send the last
// two by themselves, whichever site's page is behind it.
func (g *Guard) identify(r *http.Request) (caller, error) {
	if scheme, _, _ := strings.Cut(r.Header.Get(echo.HeaderAuthorization), " "); strings.EqualFold(scheme, "Bearer") || !g.gate.Enabled() {
		p, err := g.gate.Admit(r, access.Viewer)
		return caller{Principal: p}, err
	}
	who := caller{}
	id, held, err := g.sessions.of(r)
	if err == nil {
		who.session = true
		who.Principal, err = g.gate.Again(r.Context(), held, access.Viewer)
		if d := access.DenialOf(err); d != nil && d.Unknown() { // taken back
			g.sessions.end(id)
			who.session = false
		}
	}
	if !who.session {
		who.Principal, err = g.gate.Admit(r, access.Viewer)
	}
	if err != nil {
		return who, err
	}
	return who, ownPage(r, who.session)
}

// ownPage turns a request away that a page of another site has had a browser send. With a session, whatever is more
// than reading has to show that this server's own page sent it.
func ownPage(r *http.Request, session bool) error {
	origin := r.Header.Get(echo.HeaderOrigin)
	if origin != "" && !sameOrigin(r, origin) {
		return problem.New(problem.ForeignPage, fmt.Sprintf("a page of %.255q wants something of this API", origin))
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if session && !reads && (origin == "" || r.Header.Get(HeaderRequest) != "1") {
		return problem.New(problem.ForeignPage, "with a cookie, a "+r.Method+" wants the headers Origin and "+HeaderRequest+": 1")
	}
	return nil
}

func sameOrigin(r *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || r.TLS != nil) {
		return false
	}
	return strings.EqualFold(strings.TrimSuffix(u.Host, port(u.Scheme)), strings.TrimSuffix(r.Host, port(u.Scheme)))
}

// port is the one that a browser leaves out.
func port(scheme string) string {
	if scheme == "https" {
		return ":443"
	}
	return ":80"
}

// denied is the answer to a caller that is turned away. To one that nobody knows it is the same whatever was asked for.
func (g *Guard) denied(c echo.Context, err error) error {
	d := access.DenialOf(err)
	switch {
	case d == nil:
		return err
	case d.Unknown():
		if err := g.limits.stranger(c); err != nil {
			return err
		}
		challenge := `Bearer realm="faultline"`
		if d.Reason != access.TokenMissing {
			challenge += fmt.Sprintf(`, error="invalid_token", error_description=%q`, string(d.Reason))
		}
		c.Response().Header().Set(echo.HeaderWWWAuthenticate, challenge)
		return problem.New(problem.Unauthenticated, fmt.Sprintf("%s: wanted is %s", d.Reason, d.Reason.Remedy()))
	case d.Reason == access.IssuerUnavailable:
		return late(c, issuerAgain, problem.New(problem.IssuerUnavailable, ""))
	case d.Reason == access.ForeignOrigin:
		return problem.New(problem.ForeignPage, d.Detail)
	}
	return problem.New(problem.Forbidden, d.Error())
}

// bareHealth says of the process no more than whether it is well: names and addresses of what it needs are not for
// everybody.
func bareHealth(c echo.Context, next echo.HandlerFunc) error {
	response := c.Response()
	w, muted := response.Writer, &mute{header: http.Header{}, status: http.StatusOK}
	response.Writer = muted
	err := next(c)
	response.Writer, response.Committed, response.Size = w, false, 0
	if err != nil {
		return err
	}
	words := "ok\n"
	if muted.status != http.StatusOK {
		words = "not ready\n"
	}
	return c.String(muted.status, words)
}

// mute is an answer of which only the status is kept.
type mute struct {
	header http.Header
	status int
}

func (m *mute) Header() http.Header            { return m.header }
func (m *mute) Write(text []byte) (int, error) { return len(text), nil }
func (m *mute) WriteHeader(status int)         { m.status = status }
