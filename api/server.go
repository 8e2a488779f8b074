package api

import (
	"context"
	_ "embed"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/faultline-io/faultline/api/web"
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
	List(ctx context.Context, q query.ListQuery) (found []query.Listed, next string, err error)
	Said(ctx context.Context, allocation string, asOf int64) (a correlator.Allocation, judgedAt correlator.Time, err error)
	Verdict(ctx context.Context, allocation string, asOf int64) (correlator.Allocation, error)
	Explain(ctx context.Context, allocation string, asOf int64) (correlator.Allocation, correlator.Reasoning, error)
	Assessments(ctx context.Context, asOf int64) (list []correlator.Assessment, examined int, err error)
	History(ctx context.Context, allocation string, most int) ([]correlator.Revision, error)
	Events(ctx context.Context, s query.Selection, cursor string, limit int) (query.Page, error)
	Search(ctx context.Context, q query.Query, cursor string, limit int) (query.Page, error)
	States(ctx context.Context, allocation string, asOf int64) (correlator.FourStates, error)
	Raw(ctx context.Context, allocation, ref string) (query.FullEvent, error)
	LinesOf(ctx context.Context, allocation string, from, to int64, cursor string, limit int) (query.LinePage, error)
	LinesAround(ctx context.Context, allocation, ref, of string, within time.Duration, most int) (query.LinesAround, error)
	Lookup(ctx context.Context, id string) (query.Lookup, error)
	Node(ctx context.Context, id string) (query.Node, error)
	Layers(ctx context.Context) (query.LayerList, error)
	Sources(ctx context.Context) (query.SourceList, error)
	CompareProviders(ctx context.Context, from, to int64) (query.ProviderComparison, error)
	Tag(ctx context.Context, allocation string) (tag string, err error)
	Stream(ctx context.Context, allocation, cursor string) (query.Stream, error)
}

// Server answers questions about allocations over HTTP.
type Server struct {
	answers Answers
	profile *profile.Profile
	rules   []correlator.Rule
	log     *slog.Logger
	recover Recovery

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

// Handler serves the API; everything else goes to ops (/healthz, /readyz, /metrics). What is installed stands before all of it.
func (s *Server) Handler(ops http.Handler, install ...func(*echo.Echo)) http.Handler {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.problem
	e.Use(s.measure)
	for _, one := range install {
		one(e)
	}
	e.Use(parsed, scoped, middleware.GzipWithConfig(middleware.GzipConfig{MinLength: 1024, Skipper: asTheyAre}))
	v1 := e.Group("/api/v1")
	v1.GET("/allocations", s.list)
	v1.GET("/allocations/:id", s.allocation(func(a correlator.Allocation) any { return a }), s.tagged)
	v1.GET("/allocations/:id/timeline", s.allocation(timelineOf), s.tagged)
	v1.GET("/allocations/:id/verdict", s.verdict, s.tagged)
	v1.GET("/resolve", s.resolve)
	s.across(v1)
	s.records(v1)
	s.facts(v1)
	s.streaming(v1)
	s.recovering(v1)
	v1.GET("/openapi.yaml", func(c echo.Context) error { return c.Blob(http.StatusOK, "application/yaml", openapi) })
	probes := []string{http.MethodGet, http.MethodHead}
	e.Match(probes, "/", func(c echo.Context) error { return c.Redirect(http.StatusFound, "/ui/") })
	e.Match(probes, "/ui/*", echo.WrapHandler(web.Handler()))
	for _, page := range []string{"/healthz", "/readyz", "/metrics"} {
		e.Match(probes, page, echo.WrapHandler(ops))
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
	// JudgedAt is when the verdict was kept; nil where it was given for this question.
	JudgedAt *correlator.Time `json:"judged_at,omitempty"`
}

func timelineOf(a correlator.Allocation) any { return Timeline{a.ID, a.State, a.Since, a.Timeline} }

// idParam is the identifier that the path names.
func idParam(c echo.Context) (string, error) {
	id, err := pathParam(c, "id")
	if err != nil || !identity.ValidID(id) {
		return "", invalid("id", "is no identifier: empty, over 512 bytes, or with control characters")
	}
	return id, nil
}

// idAsOf is the identifier that the path names, and the time that is asked about, 0 for now.
func idAsOf(c echo.Context) (id string, asOf int64, err error) {
	if id, err = idParam(c); err == nil {
		asOf, err = instant(c, "as_of")
	}
	return id, asOf, err
}

// pathParam is a part of the path: as it was sent where that is not what it would be sent as, so that a slash in an identifier
// ends nothing.
func pathParam(c echo.Context, name string) (string, error) {
	if c.Request().URL.RawPath == "" {
		return c.Param(name), nil
	}
	return url.PathUnescape(c.Param(name))
}

// verdict answers with what was kept of the allocation, or judges it.
func (s *Server) verdict(c echo.Context) error {
	id, asOf, err := idAsOf(c)
	if err != nil {
		return err
	}
	a, judgedAt, err := s.answers.Said(c.Request().Context(), id, asOf)
	if err != nil {
		return err
	}
	s.count(a.Verdict)
	out := Verdict{ID: a.ID, State: a.State, Since: a.Since, Verdict: a.Verdict}
	if judgedAt != 0 {
		out.JudgedAt = &judgedAt
	}
	return c.JSON(http.StatusOK, out)
}

// count counts a verdict that was given.
func (s *Server) count(v correlator.Verdict) {
	layer := ""
	if len(v.Faults) > 0 {
		layer = v.Faults[0].Layer
	}
	s.verdicts.WithLabelValues(v.Outcome, layer).Inc()
}

// allocation answers with a part of the allocation that the path names.
func (s *Server) allocation(part func(correlator.Allocation) any) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, asOf, err := idAsOf(c)
		if err != nil {
			return err
		}
		a, err := s.answers.Verdict(c.Request().Context(), id, asOf)
		if err != nil {
			return err
		}
		s.count(a.Verdict)
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
