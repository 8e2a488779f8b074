package api

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/identity"
)

// facts adds what is known beside verdicts: states, single records, identifiers, nodes, layers, sources, providers.
func (s *Server) facts(v1 *echo.Group) {
	v1.GET("/allocations/:id/states", s.states, s.tagged)
	v1.GET("/allocations/:id/raw/:ref", s.raw)
	v1.GET("/allocations/:id/lines", s.linesOf)
	v1.GET("/allocations/:id/lines/:ref", s.lines)
	v1.GET("/lookup/:id", about(s.answers.Lookup))
	v1.GET("/nodes/:id", about(s.answers.Node))
	v1.GET("/nodes/:id/timeline", s.nodeTimeline)
	v1.GET("/orphans", s.orphans)
	v1.GET("/layers", plainly(s.answers.Layers))
	v1.GET("/sources", plainly(s.answers.Sources))
	v1.GET("/providers/compare", s.providers)
}

// about answers what is known of the identifier that the path names.
func about[T any](ask func(context.Context, string) (T, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := idParam(c)
		if err != nil {
			return err
		}
		return plainly(func(ctx context.Context) (T, error) { return ask(ctx, id) })(c)
	}
}

// plainly answers a question without parameters.
func plainly[T any](ask func(context.Context) (T, error)) echo.HandlerFunc {
	return func(c echo.Context) error {
		answer, err := ask(c.Request().Context())
		if err != nil {
			return err
		}
		return c.JSON(http.StatusOK, answer)
	}
}

func (s *Server) states(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	asOf, err := instant(c, "as_of")
	if err != nil {
		return err
	}
	return plainly(func(ctx context.Context) (correlator.FourStates, error) { return s.answers.States(ctx, id, asOf) })(c)
}

func (s *Server) raw(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	ref, err := pathParam(c, "ref")
	if err != nil || !identity.ValidID(ref) {
		return invalid("ref", "is no reference, such as e-0123456789abcdef")
	}
	return plainly(func(ctx context.Context) (query.FullEvent, error) { return s.answers.Raw(ctx, id, ref) })(c)
}

func (s *Server) nodeTimeline(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	q := query.Selection{Key: identity.Key{Kind: identity.Node, ID: id}}
	if q.From, q.To, q.AsOf, err = times(c); err != nil {
		return err
	}
	return s.page(c, q)
}

// OrphanList lists resources whose allocation is gone.
type OrphanList struct {
	AsOf     correlator.Time     `json:"as_of"`
	Examined int                 `json:"examined"` // allocations that were looked at
	Orphans  []correlator.Orphan `json:"orphans"`
}

func (s *Server) orphans(c echo.Context) error {
	assessments, examined, asOf, err := s.assessments(c)
	if err != nil {
		return err
	}
	list := incident.ListStuck(assessments, momentOf(assessments, asOf))
	return c.JSON(http.StatusOK, OrphanList{list.AsOf, examined, list.Orphans})
}

func (s *Server) providers(c echo.Context) error {
	from, to, _, err := times(c)
	if err != nil {
		return err
	}
	return plainly(func(ctx context.Context) (query.ProviderComparison, error) {
		return s.answers.CompareProviders(ctx, from, to)
	})(c)
}
