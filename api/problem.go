package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/api/problem"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/access"
)

// Problem is what a question that cannot be answered is answered with.
type Problem = problem.Problem

// invalidParameter is a request that cannot be answered as it stands.
type invalidParameter struct{ name, what string }

func invalid(name, what string) error { return &invalidParameter{name, what} }

func (e *invalidParameter) Error() string { return e.name + " " + e.what }

// callerGone is the status of a request whose caller did not wait, in the log and the metrics alone.
const callerGone = 499

// problem is the one mapping from errors to HTTP.
func (s *Server) problem(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	var parameter *invalidParameter
	var routing *echo.HTTPError
	var much *query.TooMuch
	var away *query.LinesUnavailable
	var told problem.Problem
	p := problem.New(problem.StoreUnavailable, "try again; see /readyz and the correlator's log")
	switch {
	case errors.As(err, &told):
		p = told
	case errors.As(err, &parameter), errors.Is(err, query.ErrCursor), errors.Is(err, query.ErrSelection):
		p = problem.New(problem.InvalidParameter, err.Error())
	case errors.As(err, &much):
		p = problem.New(problem.TooMuch, much.Error())
	case errors.As(err, &away):
		p = problem.New(problem.LinesUnavailable, away.Error())
		c.Response().Header().Set("Retry-After", "10")
	case errors.Is(err, query.ErrScope):
		p = problem.New(problem.Forbidden, err.Error())
	case errors.Is(err, errors.ErrUnsupported):
		p = problem.New(problem.NotImplemented, "records cannot be read one by one here")
	case errors.Is(err, query.ErrUnknown):
		p = problem.New(problem.UnknownIdentifier, err.Error())
	case errors.As(err, &routing) && routing.Code == http.StatusNotFound:
		p = problem.New(problem.NotFound, fmt.Sprint(routing.Message))
	case errors.As(err, &routing) && routing.Code == http.StatusMethodNotAllowed:
		p = problem.New(problem.MethodNotAllowed, fmt.Sprint(routing.Message))
	case errors.As(err, &routing):
		p = problem.Problem{Type: "about:blank", Title: http.StatusText(routing.Code), Status: routing.Code, Detail: fmt.Sprint(routing.Message)}
	case errors.Is(err, context.Canceled):
		p = problem.Problem{Type: "about:blank", Title: "the caller went away", Status: callerGone}
	default:
		s.log.Error("request failed", "path", c.Path(), "error", clipped(err.Error()))
		c.Response().Header().Set("Retry-After", "2")
	}
	if err := problem.Write(c, p); err != nil {
		s.log.Debug("answer not written", "error", err)
	}
}

// scoped limits a request to what its caller may see. Browsers take an answer for nothing but what it says it is.
func scoped(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set("X-Content-Type-Options", "nosniff")
		r := c.Request()
		if who, known := access.From(r.Context()); known && who.SeesAll() != nil {
			c.SetRequest(r.WithContext(query.WithScope(r.Context(), query.OfTenants(who.Tenants...))))
		}
		return next(c)
	}
}

// clipped is text for a line of the log: an error may quote a whole statement.
func clipped(text string) string {
	const most = 1000
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most/2], "") + " … " + strings.ToValidUTF8(text[len(text)-most/2:], "")
}
