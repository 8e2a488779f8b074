package api

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
)

// judgedOnRead bounds how many allocations are judged for one question where nobody keeps verdicts.
const judgedOnRead = 200

// across adds the questions over many allocations, and those about a verdict's past and reasons.
func (s *Server) across(v1 *echo.Group) {
	v1.GET("/rules", func(c echo.Context) error { return c.JSON(http.StatusOK, correlator.Describe(s.rules)) })
	v1.GET("/stuck", s.stuck)
	v1.GET("/drift", s.drift)
	v1.GET("/incidents", s.incidents)
	v1.GET("/allocations/:id/history", s.history)
	v1.GET("/allocations/:id/reasoning", s.reasoning)
}

// History is what was said of an allocation, each time that it changed.
type History struct {
	ID        string                `json:"allocation_id"`
	Revisions []correlator.Revision `json:"revisions"`
}

// Reasoned is a verdict and how it came about.
type Reasoned struct {
	Verdict
	Reasoning correlator.Reasoning `json:"reasoning"`
}

// standings are what is known of all allocations: the kept verdicts, or where none are kept those of the
// allocations that were heard of last, judged now.
func (s *Server) standings(c echo.Context) (list []correlator.Standing, examined int, asOf int64, err error) {
	if asOf, err = instant(c, "as_of"); err != nil {
		return nil, 0, 0, err
	}
	ctx := c.Request().Context()
	if ledger, ok := s.library.(correlator.Ledger); ok {
		if list, examined, err = ledger.Standings(ctx, asOf); err != nil || examined > 0 {
			return list, examined, asOf, err
		}
	}
	list, err = correlator.StandingsOf(ctx, s.library, s.profile, s.rules, asOf, judgedOnRead)
	return list, len(list), asOf, err
}

// layerParam is the layer that a question is narrowed to, "" for all.
func (s *Server) layerParam(c echo.Context) (string, error) {
	layer := c.QueryParam("layer")
	if layer != "" && !s.profile.Knows(layer) {
		return "", invalid("layer", fmt.Sprintf("%q is no layer of profile %s", layer, s.profile.Name))
	}
	return layer, nil
}

func (s *Server) stuck(c echo.Context) error {
	layer, err := s.layerParam(c)
	if err != nil {
		return err
	}
	standings, examined, asOf, err := s.standings(c)
	if err != nil {
		return err
	}
	list := correlator.ListStuck(standings, momentOf(standings, asOf))
	list.Examined = examined
	list.Allocations = slices.DeleteFunc(list.Allocations, func(one correlator.StuckAllocation) bool { return layer != "" && one.Layer != layer })
	return c.JSON(http.StatusOK, list)
}

func (s *Server) drift(c echo.Context) error {
	standings, examined, asOf, err := s.standings(c)
	if err != nil {
		return err
	}
	list := correlator.ListDrift(standings, momentOf(standings, asOf))
	list.Examined = examined
	return c.JSON(http.StatusOK, list)
}

func (s *Server) incidents(c echo.Context) error {
	layer, err := s.layerParam(c)
	if err != nil {
		return err
	}
	victims, err := numberParam(c, "victims", 1, 1, 1_000_000)
	if err != nil {
		return err
	}
	open := false
	if value := c.QueryParam("open"); value != "" {
		if open, err = strconv.ParseBool(value); err != nil {
			return invalid("open", fmt.Sprintf("%q is neither true nor false", value))
		}
	}
	standings, examined, asOf, err := s.standings(c)
	if err != nil {
		return err
	}
	list := correlator.ListIncidents(standings, correlator.IncidentWindow, victims)
	list.AsOf, list.Examined = correlator.Time(momentOf(standings, asOf)), examined
	list.Incidents = slices.DeleteFunc(list.Incidents, func(in correlator.Incident) bool {
		return open && !in.Open || layer != "" && in.Layer != layer
	})
	return c.JSON(http.StatusOK, list)
}

// momentOf is the time of a list: as of which it was asked, else now.
func momentOf(standings []correlator.Standing, asOf int64) int64 {
	if asOf != 0 {
		return asOf
	}
	now := time.Now().UnixNano()
	for _, s := range standings {
		now = max(now, int64(s.Verdict.AsOf))
	}
	return now
}

func (s *Server) history(c echo.Context) error {
	id := c.Param("id")
	if !identity.ValidID(id) {
		return invalid("id", "is no identifier: empty, over 512 bytes, or with control characters")
	}
	most, err := numberParam(c, "limit", 100, 1, 1000)
	if err != nil {
		return err
	}
	ledger, ok := s.library.(correlator.Ledger)
	if !ok {
		return correlator.ErrUnknown // nobody keeps verdicts here
	}
	revisions, err := ledger.History(c.Request().Context(), id, most)
	if err != nil {
		return err
	}
	if len(revisions) == 0 {
		return correlator.ErrUnknown
	}
	return c.JSON(http.StatusOK, History{id, correlator.Condense(revisions)})
}

func (s *Server) reasoning(c echo.Context) error {
	id := c.Param("id")
	if !identity.ValidID(id) {
		return invalid("id", "is no identifier: empty, over 512 bytes, or with control characters")
	}
	asOf, err := instant(c, "as_of")
	if err != nil {
		return err
	}
	a, why, err := correlator.Reasoned(c.Request().Context(), s.library, s.profile, s.rules, id, asOf)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, Reasoned{Verdict{a.ID, a.State, a.Since, a.Verdict}, why})
}

func numberParam(c echo.Context, name string, unstated, least, most int) (int, error) {
	value := c.QueryParam(name)
	if value == "" {
		return unstated, nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		return 0, invalid(name, fmt.Sprintf("%q is no number from %d to %d", value, least, most))
	}
	return n, nil
}
