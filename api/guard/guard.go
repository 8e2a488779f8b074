package guard

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/api/problem"
	"github.com/faultline-io/faultline/internal/access"
)

// Guard is safe for use by several goroutines.
type Guard struct {
	config   Config
	gate     *access.Gate
	hosts    hosts
	limits   *limits
	sessions *sessions
	log      *slog.Logger
	now      func() time.Time
	recheck  time.Duration // of streams
}

// New opens the gate. listen is the address of the API: nobody is let in unasked where other machines reach it.
func New(c Config, l Limits, listen string, log *slog.Logger, now func() time.Time) (*Guard, error) {
	if err := c.Guards("listen", listen); err != nil {
		return nil, err
	}
	if now == nil {
		now = time.Now
	}
	gate, err := access.Open(c.Config, now)
	if err != nil {
		return nil, err
	}
	return &Guard{config: c, gate: gate, hosts: newHosts(listen, c.Hosts), limits: newLimits(l, now), sessions: newSessions(now), log: log, now: now, recheck: recheck}, nil
}

// Install puts the guard before everything that e serves, and adds the pages of the session.
func (g *Guard) Install(e *echo.Echo) {
	e.Use(g.answered, g.named, g.bounded, g.admitted, g.allowed)
	e.POST(sessionPath, g.begin)
	e.GET(sessionPath, g.session)
	e.DELETE(sessionPath, g.end)
}

// answered has every request answered and logged, whatever becomes of it.
func (g *Guard) answered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		begun, stream := g.now(), isStream(c.Request())
		if stream {
			c.Response().Before(func() { g.logReading(c) }) // it may go on for days
		}
		err := next(c)
		var refused problem.Problem
		var body *http.MaxBytesError
		if errors.As(err, &body) {
			err = problem.New(problem.BodyTooLarge, "")
		}
		switch {
		case errors.As(err, &refused) && !c.Response().Committed:
			err = problem.Write(c, refused)
		case err != nil:
			c.Error(err)
			err = nil
		}
		g.logRequest(c, g.now().Sub(begun))
		if !stream {
			g.logReading(c)
		}
		return err
	}
}

// page is a part of the API that has rules of its own.
type page int

const (
	question page = iota
	health
	metrics
	assets // of the page for people; they hold nothing that anybody must not see
)

func pageOf(r *http.Request) page {
	switch path := echo.GetPath(r); { // as the router reads it
	case path == "/healthz", path == "/readyz":
		return health
	case path == "/metrics":
		return metrics
	case (path == "/" || path == "/ui" || strings.HasPrefix(path, "/ui/")) && !strings.Contains(path, "..") && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		return assets
	}
	return question
}

// caller is who sent a request, as far as it is known.
type caller struct {
	access.Principal
	session bool // by the cookie of one
}

const callerKey = "faultline.caller"

func callerOf(c echo.Context) caller {
	who, _ := c.Get(callerKey).(caller)
	return who
}

// via says how the caller is known.
func (w caller) via() string {
	if w.session {
		return "session, " + w.Via
	}
	return w.Via
}

// key tells callers apart for their limits: one is the same with a token and with the session that it began.
func (w caller) key(r *http.Request) string {
	if w.Subject == "" {
		return "remote " + remoteOf(r)
	}
	return w.Via + "\x00" + w.Subject
}

// remoteOf is the address of the other end. What proxies claim about it is no proof.
func remoteOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}
