package api

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
)

//go:embed openapi.yaml
var openapi []byte

// Answers are what the server is asked for; query.Service gives them.
type Answers interface {
	Resolve(ctx context.Context, id string) ([]string, error)
	List(ctx context.Context, q query.ListQuery) ([]query.Listed, error)
	Verdict(ctx context.Context, allocation string, asOf int64) (correlator.Allocation, error)
	Explain(ctx context.Context, allocation string, asOf int64) (correlator.Allocation, correlator.Reasoning, error)
	Assessments(ctx context.Context, asOf int64) (list []correlator.Assessment, examined int, err error)
	History(ctx context.Context, allocation string, most int) ([]correlator.Revision, error)
	Events(ctx context.Context, s query.Selection, cursor string, limit int) (query.Page, error)
	Search(ctx context.Context, q query.Query, cursor string, limit int) (query.Page, error)
}

// Server answers questions about allocations over HTTP.
type Server struct {
	answers Answers
	profile *profile.Profile
	rules   []correlator.Rule
	log     *slog.Logger

	answered *prometheus.HistogramVec
	verdicts *prometheus.CounterVec
}

// New gives a server; its metrics go to reg.
func New(answers Answers, p *profile.Profile, rules []correlator.Rule, log *slog.Logger, reg prometheus.Registerer) *Server {
	f := promauto.With(reg)
	return &Server{
		answers: answers, profile: p, rules: rules, log: log,
		answered: f.NewHistogramVec(prometheus.HistogramOpts{
			Name: "faultline_api_request_duration_seconds", Help: "Time to answer a request, by route and status.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2, 14),
		}, []string{"route", "status"}),
		verdicts: f.NewCounterVec(prometheus.CounterOpts{
			Name: "faultline_correlator_verdicts_total", Help: "Verdicts given, by outcome and owner layer of the strongest fault.",
		}, []string{"outcome", "layer"}),
	}
}

// Handler serves the API; everything else goes to ops (/healthz, /readyz, /metrics).
func (s *Server) Handler(ops http.Handler) http.Handler {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.problem
	e.Use(s.measure)
	v1 := e.Group("/api/v1")
	v1.GET("/allocations", s.list)
	v1.GET("/allocations/:id", s.allocation(func(a correlator.Allocation) any { return a }))
	v1.GET("/allocations/:id/timeline", s.allocation(timelineOf))
	v1.GET("/allocations/:id/verdict", s.allocation(verdictOf))
	v1.GET("/resolve", s.resolve)
	s.across(v1)
	s.records(v1)
	v1.GET("/openapi.yaml", func(c echo.Context) error { return c.Blob(http.StatusOK, "application/yaml", openapi) })
	for _, page := range []string{"/healthz", "/readyz", "/metrics"} {
		e.GET(page, echo.WrapHandler(ops))
	}
	return e
}

func (s *Server) measure(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		begun := time.Now()
		err := next(c)
		if err != nil {
			c.Error(err)
		}
		s.answered.WithLabelValues(c.Path(), strconv.Itoa(c.Response().Status)).Observe(time.Since(begun).Seconds())
		return nil
	}
}

// Timeline is an allocation without its verdict.
type Timeline struct {
	ID       string             `json:"allocation_id"`
	State    *string            `json:"state"`
	Since    *correlator.Time   `json:"since"`
	Timeline []correlator.Entry `json:"timeline"`
}

// Verdict is an allocation without its timeline.
type Verdict struct {
	ID      string             `json:"allocation_id"`
	State   *string            `json:"state"`
	Since   *correlator.Time   `json:"since"`
	Verdict correlator.Verdict `json:"verdict"`
}

func timelineOf(a correlator.Allocation) any { return Timeline{a.ID, a.State, a.Since, a.Timeline} }
func verdictOf(a correlator.Allocation) any  { return Verdict{a.ID, a.State, a.Since, a.Verdict} }

// allocation judges the allocation that the path names and answers with a part of it.
func (s *Server) allocation(part func(correlator.Allocation) any) echo.HandlerFunc {
	return func(c echo.Context) error {
		id := c.Param("id")
		if !identity.ValidID(id) {
			return invalid("id", "is no identifier: empty, over 512 bytes, or with control characters")
		}
		asOf, err := instant(c, "as_of")
		if err != nil {
			return err
		}
		a, err := s.answers.Verdict(c.Request().Context(), id, asOf)
		if err != nil {
			return err
		}
		layer := ""
		if len(a.Verdict.Faults) > 0 {
			layer = a.Verdict.Faults[0].Layer
		}
		s.verdicts.WithLabelValues(a.Verdict.Outcome, layer).Inc()
		return c.JSON(http.StatusOK, part(a))
	}
}

func (s *Server) resolve(c echo.Context) error {
	id := c.QueryParam("id")
	if !identity.ValidID(id) {
		return invalid("id", "is no identifier: empty, over 512 bytes, or with control characters")
	}
	found, err := s.answers.Resolve(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"id": id, "allocations": found})
}

func (s *Server) list(c echo.Context) error {
	q := query.ListQuery{State: c.QueryParam("state"), Limit: 100}
	if text := c.QueryParam("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 1000 {
			return invalid("limit", fmt.Sprintf("%q is no number from 1 to 1000", text))
		}
		q.Limit = n
	}
	found, err := s.answers.List(c.Request().Context(), q)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]any{"allocations": found})
}

// Problem is an RFC 9457 problem document.
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
}

// invalidParameter is a request that cannot be answered as it stands.
type invalidParameter struct{ name, what string }

func invalid(name, what string) error { return &invalidParameter{name, what} }

func (e *invalidParameter) Error() string { return e.name + " " + e.what }

// problem is the one mapping from errors to HTTP.
func (s *Server) problem(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	p := Problem{Title: "the store does not answer", Status: http.StatusServiceUnavailable, Detail: "try again; see /readyz and the correlator's log"}
	var parameter *invalidParameter
	var routing *echo.HTTPError
	var much *query.TooMuch
	switch {
	case errors.As(err, &parameter):
		p = Problem{"invalid parameter", http.StatusBadRequest, err.Error()}
	case errors.Is(err, query.ErrCursor), errors.Is(err, query.ErrSelection):
		p = Problem{"invalid parameter", http.StatusBadRequest, err.Error()}
	case errors.As(err, &much):
		p = Problem{"the question reads too much", http.StatusUnprocessableEntity, much.Error()}
	case errors.Is(err, errors.ErrUnsupported):
		p = Problem{http.StatusText(http.StatusNotImplemented), http.StatusNotImplemented, "records cannot be read one by one here"}
	case errors.Is(err, query.ErrUnknown):
		p = Problem{"unknown identifier", http.StatusNotFound, err.Error()}
	case errors.As(err, &routing):
		p = Problem{http.StatusText(routing.Code), routing.Code, fmt.Sprint(routing.Message)}
	case errors.Is(err, context.Canceled):
		p = Problem{"the caller went away", 499, ""}
	default:
		s.log.Error("request failed", "path", c.Path(), "error", err)
	}
	c.Response().Header().Set(echo.HeaderContentType, "application/problem+json")
	if err := c.JSON(p.Status, p); err != nil {
		s.log.Debug("answer not written", "error", err)
	}
}
