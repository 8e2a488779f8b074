package rest

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/provisioner/recovery"
)

// admission lets callers in by their role.
type admission struct {
	gate     *access.Gate
	recovery *recovery.Service
	log      *slog.Logger
	// strangers bounds the audit rows of callers that nobody knows: they must not fill the database.
	strangers *allowance
}

// at makes a handler that wants a role.
func (a admission) at(role access.Role, h echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if err := a.let(c, role); err != nil {
			return err
		}
		return h(c)
	}
}

// let admits the caller, and makes it the one for whom the request is done.
func (a admission) let(c echo.Context, role access.Role) error {
	p, err := a.gate.Admit(c.Request(), role)
	if err == nil {
		err = p.SeesAll() // what is answered here is not told apart by tenants
	}
	if err != nil {
		if d := access.DenialOf(err); d != nil && d.Unknown() {
			c.Response().Header().Set(echo.HeaderWWWAuthenticate, fmt.Sprintf(`Bearer realm="faultline", error="invalid_token", error_description="%s"`, d.Reason))
		}
		return err
	}
	c.SetRequest(c.Request().WithContext(access.With(c.Request().Context(), p)))
	return nil
}

// denied writes down that somebody wanted to recover something and may not. What cannot be written down
// is refused all the same.
func (a admission) denied(c echo.Context, of recovery.Kind, action string, err error) error {
	d := access.DenialOf(err)
	if d == nil {
		return err
	}
	by := recovery.By{Actor: d.Who.Subject, ActorType: actorAdmin, Via: d.Who.Via}
	if by.Actor == "" {
		if !a.strangers.take() {
			return err
		}
		by.Actor, by.ActorType = "unknown", "user"
	}
	ctx := context.WithoutCancel(c.Request().Context())
	if wrong := a.recovery.Deny(ctx, of, action, c.Param("id"), by, d.Error()+", from "+c.Request().RemoteAddr); wrong != nil {
		a.log.Error("write down a denied recovery", "error", wrong)
	}
	return err
}

// statusOf is the status of a denial.
func statusOf(d *access.Denial) int {
	switch {
	case d.Unknown():
		return http.StatusUnauthorized
	case d.Reason == access.IssuerUnavailable:
		return http.StatusServiceUnavailable
	}
	return http.StatusForbidden
}
