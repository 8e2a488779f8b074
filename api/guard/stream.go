package guard

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/internal/access"
)

// recheck is how often the caller of a stream is looked at again.
const recheck = 15 * time.Second

// isStream reports whether a request wants to be told of what happens until it goes away, as the router reads its path: such a
// path answers with a stream whatever Accept says.
func isStream(r *http.Request) bool {
	path := echo.GetPath(r)
	under := strings.HasPrefix(path, "/api/v1/allocations/") || strings.HasPrefix(path, "/api/v1/incidents/")
	return r.Method == http.MethodGet && under && strings.HasSuffix(path, "/events")
}

// watched ends a stream when its caller may not read any more, or may see other tenants than when it began.
func (g *Guard) watched(c echo.Context, began caller, next echo.HandlerFunc) error {
	r := c.Request()
	ctx, cancel := context.WithCancel(r.Context())
	again, done := r.Clone(ctx), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(g.recheck)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			who, err := g.identify(again)
			if d := access.DenialOf(err); d != nil && d.Reason == access.IssuerUnavailable {
				continue // it says nothing about the caller
			}
			if err != nil || (who.Tenants == nil) != (began.Tenants == nil) || !slices.Equal(who.Tenants, began.Tenants) {
				cancel()
			}
		}
	}()
	defer func() { cancel(); <-done }()
	c.SetRequest(r.WithContext(ctx))
	return next(c)
}
