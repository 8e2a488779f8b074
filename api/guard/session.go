package guard

import (
	"cmp"
	"crypto/rand"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/internal/access"
)

const (
	sessionPath   = "/api/v1/session"
	sessionCookie = "faultline_session"
	sessionLife   = 12 * time.Hour
	sessionsMost  = 4096
	sessionsEach  = 64 // of one caller
)

var errNoSession = errors.New("there is no such session")

// sessions are those that pages have begun. They live in memory: a restart ends them.
type sessions struct {
	now func() time.Time

	mu  sync.Mutex
	all map[string]session // by the digest of the id that the cookie holds
}

// session is a token that a page need not show again.
type session struct {
	held    access.Held
	owner   string
	begun   time.Time
	expires time.Time
}

func newSessions(now func() time.Time) *sessions {
	return &sessions{now: now, all: map[string]session{}}
}

// begin gives the id of a new session. Where there are too many, the caller's oldest one ends, or the oldest of all.
func (s *sessions) begin(held access.Held, p access.Principal) (id string, expires time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	one := session{held: held, owner: p.Via, begun: now, expires: now.Add(sessionLife)}
	if !p.Expires.IsZero() && p.Expires.Before(one.expires) {
		one.expires = p.Expires
	}
	var own, others []string
	for id, other := range s.all {
		switch {
		case !now.Before(other.expires):
			delete(s.all, id)
		case other.owner == one.owner:
			own = append(own, id)
		default:
			others = append(others, id)
		}
	}
	if len(own) >= sessionsEach {
		delete(s.all, s.oldest(own))
	} else if len(s.all) >= sessionsMost {
		delete(s.all, s.oldest(append(others, own...)))
	}
	id = rand.Text()
	s.all[access.Digest(id)] = one
	return id, one.expires
}

func (s *sessions) oldest(ids []string) string {
	return slices.MinFunc(ids, func(a, b string) int {
		return cmp.Or(s.all[a].begun.Compare(s.all[b].begun), cmp.Compare(a, b))
	})
}

// of finds the session of a request's cookie.
func (s *sessions) of(r *http.Request) (key string, held access.Held, err error) {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil {
		return "", held, errNoSession
	}
	key = access.Digest(cookie.Value)
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.all[key]
	if !ok || !s.now().Before(one.expires) {
		delete(s.all, key)
		return "", held, errNoSession
	}
	return key, one.held, nil
}

func (s *sessions) end(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, key)
}

// Session is what a page is told of the caller.
type Session struct {
	Subject string   `json:"subject"`
	Role    string   `json:"role"`
	Tenants []string `json:"tenants"` // null: all
	Open    bool     `json:"open"`    // nobody is asked who they are
}

func answerSession(c echo.Context, p access.Principal) error {
	return c.JSON(http.StatusOK, Session{Subject: p.Subject, Role: p.Role.String(), Tenants: p.Tenants, Open: p.Open()})
}

func (g *Guard) session(c echo.Context) error { return answerSession(c, callerOf(c).Principal) }

// begin takes the bearer token of the request for a cookie. A page that was stolen cannot read it from there.
func (g *Guard) begin(c echo.Context) error {
	r := c.Request()
	if !g.gate.Enabled() {
		return g.session(c)
	}
	held, p, err := g.gate.Hold(r, access.Viewer)
	if err != nil {
		return g.denied(c, err)
	}
	if err := ownPage(r, false); err != nil {
		return err
	}
	if key, _, err := g.sessions.of(r); err == nil {
		g.sessions.end(key)
	}
	id, expires := g.sessions.begin(held, p)
	setCookie(c, id, int(expires.Sub(g.now())/time.Second))
	return answerSession(c, p)
}

func (g *Guard) end(c echo.Context) error {
	if key, _, err := g.sessions.of(c.Request()); err == nil {
		g.sessions.end(key)
	}
	setCookie(c, "", -1)
	return c.NoContent(http.StatusNoContent)
}

func setCookie(c echo.Context, value string, lasts int) {
	secure := c.Request().TLS != nil || c.Request().Header.Get(echo.HeaderXForwardedProto) == "https"
	c.SetCookie(&http.Cookie{Name: sessionCookie, Value: value, Path: "/", MaxAge: lasts, HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode})
}
