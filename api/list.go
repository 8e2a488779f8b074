package api

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/correlator/query"
)

// AllocationList is a page of allocations.
type AllocationList struct {
	Allocations []query.Listed `json:"allocations"`
	// Next is the cursor of the next page, null after the last one, and where the order has no pages.
	Next *string `json:"next_cursor"`
}

// list answers which allocations there are. Pages go by identifier (sort=allocation_id): what is heard of moves to the front of
// the other order all the time.
func (s *Server) list(c echo.Context) error {
	q, err := s.listQuery(c)
	if err != nil {
		return err
	}
	found, next, err := s.answers.List(c.Request().Context(), q)
	if err != nil {
		return err
	}
	out := AllocationList{Allocations: found}
	if next != "" {
		out.Next = &next
	}
	return c.JSON(http.StatusOK, out)
}

func (s *Server) listQuery(c echo.Context) (q query.ListQuery, err error) {
	for name, at := range map[string]*string{
		"state": &q.State, "outcome": &q.Outcome, "owner": &q.Owner, "provider": &q.Provider, "tenant": &q.Tenant, "text": &q.Text, "cursor": &q.After,
		"sort": &q.Order,
	} {
		*at = c.QueryParam(name)
	}
	err = within(bound{"state", q.State, 100}, bound{"owner", q.Owner, 200}, bound{"provider", q.Provider, 200}, bound{"tenant", q.Tenant, 200}, bound{"text", q.Text, 1024}, bound{"cursor", q.After, 1024})
	if err != nil {
		return q, err
	}
	if q.Layer, err = s.layerParam(c); err != nil {
		return q, err
	}
	switch q.Outcome {
	case "", "none", "attributed", "contested", "undetermined":
	default:
		return q, invalid("outcome", fmt.Sprintf("%q is none of none, attributed, contested, undetermined", q.Outcome))
	}
	switch {
	case q.Order != query.ByLastSeen && q.Order != query.ByID && q.Order != "last_seen":
		return q, invalid("sort", fmt.Sprintf("%q is neither last_seen nor allocation_id", q.Order))
	case q.Order == "last_seen":
		q.Order = query.ByLastSeen
	}
	if q.After != "" && q.Order != query.ByID {
		return q, invalid("cursor", "goes with sort=allocation_id: what is heard of moves to the front of the other order")
	}
	if value := c.QueryParam("stuck"); value != "" {
		stuck, err := strconv.ParseBool(value)
		if err != nil {
			return q, invalid("stuck", fmt.Sprintf("%q is neither true nor false", value))
		}
		q.Stuck = &stuck
	}
	if q.From, q.To, _, err = times(c); err != nil {
		return q, err
	}
	q.Limit, err = numberParam(c, "limit", pageLimit, 1, maxPageLimit)
	return q, err
}
