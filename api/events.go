package api

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
)

// Bounds of a page of records.
const (
	pageLimit    = 100
	maxPageLimit = 1000
)

// records adds the questions for records one by one.
func (s *Server) records(v1 *echo.Group) {
	v1.GET("/events", s.events)
	v1.GET("/search", s.search)
}

// Events is a page of records.
type Events struct {
	Events []query.FullEvent `json:"events"`
	// Next is the cursor of the next page, null after the last one.
	Next *string `json:"next_cursor"`
	// AsOf is the ingested time as of which all pages are read.
	AsOf correlator.Time `json:"as_of"`
	// Bounded says that late-linked records may be missing, because too many identifiers lead here.
	Bounded bool `json:"bounded"`
}

func pageOf(p query.Page) Events {
	out := Events{Events: make([]query.FullEvent, 0, len(p.Events)), AsOf: correlator.Time(p.AsOf), Bounded: p.Bounded}
	for _, e := range p.Events {
		out.Events = append(out.Events, query.Full(e))
	}
	if p.Next != "" {
		out.Next = &p.Next
	}
	return out
}

// selected are the parameters of which a reading names one.
var selected = []identity.Kind{
	identity.Allocation, identity.Node, identity.NodeInstance, identity.Workflow, identity.Trace, identity.Correlation,
}

func (s *Server) events(c echo.Context) error {
	var q query.Selection
	var names []string
	for _, kind := range selected {
		names = append(names, kind.Attribute())
		if id := c.QueryParam(kind.Attribute()); id != "" {
			if q.Key.ID != "" {
				return invalid(kind.Attribute(), fmt.Sprintf("stands beside %s: name one", q.Key.Kind.Attribute()))
			}
			q.Key = identity.Key{Kind: kind, ID: id}
		}
	}
	if q.Key.ID == "" {
		return invalid("allocation_id", "is missing: name one of "+strings.Join(names, ", "))
	}
	var err error
	if q.From, q.To, q.AsOf, err = times(c); err != nil {
		return err
	}
	return s.page(c, q)
}

// page answers with a page of a selection.
func (s *Server) page(c echo.Context, q query.Selection) error {
	limit, err := numberParam(c, "limit", pageLimit, 1, maxPageLimit)
	if err != nil {
		return err
	}
	page, err := s.answers.Events(c.Request().Context(), q, c.QueryParam("cursor"), limit)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, pageOf(page))
}

func (s *Server) search(c echo.Context) error {
	q := query.Query{Text: c.QueryParam("text"), Services: c.QueryParams()["service"]}
	for _, pair := range c.QueryParams()["attr"] {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return invalid("attr", fmt.Sprintf("%q is not name=value", pair))
		}
		q.Attrs = append(q.Attrs, record.Attr{Key: name, Value: value})
	}
	var err error
	if q.Severity, err = severityParam(c); err != nil {
		return err
	}
	if q.Layer, err = s.layerParam(c); err != nil {
		return err
	}
	if q.From, q.To, q.AsOf, err = times(c); err != nil {
		return err
	}
	limit, err := numberParam(c, "limit", pageLimit, 1, maxPageLimit)
	if err != nil {
		return err
	}
	page, err := s.answers.Search(c.Request().Context(), q, c.QueryParam("cursor"), limit)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, pageOf(page))
}

// severities are the least OTLP severity numbers of the names that answers use.
var severities = map[string]int{"": 0, "trace": 1, "debug": 5, "info": 9, "warn": 13, "error": 17, "fatal": 21}

func severityParam(c echo.Context) (int, error) {
	n, ok := severities[c.QueryParam("severity")]
	if !ok {
		return 0, invalid("severity", fmt.Sprintf("%q is none of trace, debug, info, warn, error, fatal", c.QueryParam("severity")))
	}
	return n, nil
}

// times are the range of stamped times of a question, and as of which ingested time it is asked.
func times(c echo.Context) (from, to, asOf int64, err error) {
	for name, at := range map[string]*int64{"from": &from, "to": &to, "as_of": &asOf} {
		if *at, err = instant(c, name); err != nil {
			return 0, 0, 0, err
		}
	}
	return from, to, asOf, nil
}

// instant is a time that a question names, Unix nanoseconds, 0 where it names none. What nanoseconds cannot count would be some
// other time, so it is refused.
func instant(c echo.Context, name string) (int64, error) {
	text := c.QueryParam(name)
	if text == "" {
		return 0, nil
	}
	t, err := time.Parse(time.RFC3339Nano, text)
	switch {
	case err != nil:
		return 0, invalid(name, fmt.Sprintf("%q is no RFC 3339 time, such as 2026-03-02T10:04:11Z", text))
	case t.Year() < 1900 || t.Year() > 2261:
		return 0, invalid(name, fmt.Sprintf("%q is not between the years 1900 and 2261", text))
	}
	return t.UnixNano(), nil
}
