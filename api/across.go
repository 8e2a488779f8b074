package api

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
)

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

// assessments are those of all allocations with something to tell, as of the time that was asked for.
func (s *Server) assessments(c echo.Context) (list []correlator.Assessment, examined int, asOf int64, err error) {
	if asOf, err = instant(c, "as_of"); err != nil {
		return nil, 0, 0, err
	}
	list, examined, err = s.answers.Assessments(c.Request().Context(), asOf)
	return list, examined, asOf, err
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
	assessments, examined, asOf, err := s.assessments(c)
	if err != nil {
		return err
	}
	list := incident.ListStuck(assessments, momentOf(assessments, asOf))
	list.Examined = examined
	list.Allocations = slices.DeleteFunc(list.Allocations, func(one incident.StuckAllocation) bool { return layer != "" && one.Layer != layer })
	return c.JSON(http.StatusOK, list)
}

func (s *Server) drift(c echo.Context) error {
	assessments, examined, asOf, err := s.assessments(c)
	if err != nil {
		return err
	}
	list := incident.ListDrift(assessments, momentOf(assessments, asOf))
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
	assessments, examined, asOf, err := s.assessments(c)
	if err != nil {
		return err
	}
	list := incident.NewList(assessments, momentOf(assessments, asOf), incident.Window, victims)
	list.Examined = examined
	list.Incidents = slices.DeleteFunc(list.Incidents, func(in incident.Incident) bool {
		return open && !in.Open || layer != "" && in.Layer != layer
	})
	return c.JSON(http.StatusOK, list)
}

// momentOf is the time of a list: as of which it was asked, else now.
func momentOf(assessments []correlator.Assessment, asOf int64) int64 {
	if asOf != 0 {
		return asOf
	}
	now := time.Now().UnixNano()
	for _, s := range assessments {
		now = max(now, int64(s.Verdict.AsOf))
	}
	return now
}

func (s *Server) history(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	most, err := numberParam(c, "limit", 100, 1, 1000)
	if err != nil {
		return err
	}
	revisions, err := s.answers.History(c.Request().Context(), id, most)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, History{id, revisions})
}

func (s *Server) reasoning(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	asOf, err := instant(c, "as_of")
	if err != nil {
		return err
	}
	a, why, err := s.answers.Explain(c.Request().Context(), id, asOf)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, Reasoned{Verdict{ID: a.ID, State: a.State, Since: a.Since, Verdict: a.Verdict}, why})
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
