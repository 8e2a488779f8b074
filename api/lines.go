package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/api/problem"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/identity"
)

// Of a question for lines, in seconds before and after the record, and in lines.
const (
	linesWithin, mostLinesWithin = 30, 3600
	linesAsked, mostLinesAsked   = 200, 5000
)

func (s *Server) lines(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	ref, err := pathParam(c, "ref")
	if err != nil || !identity.ValidID(ref) {
		return invalid("ref", "is no reference, such as e-0123456789abcdef")
	}
	known := []string{query.OfAllocation, query.OfNode, query.OfSource}
	of := c.QueryParam("of")
	if of == "" {
		of = query.OfAllocation
	}
	if !slices.Contains(known, of) {
		return invalid("of", fmt.Sprintf("%q is none of %s", of, strings.Join(known, ", ")))
	}
	within, err := numberParam(c, "within", linesWithin, 1, mostLinesWithin)
	if err != nil {
		return err
	}
	most, err := numberParam(c, "limit", linesAsked, 1, mostLinesAsked)
	if err != nil {
		return err
	}
	return plainly(func(ctx context.Context) (query.LinesAround, error) {
		return withLoki(s.answers.LinesAround(ctx, id, ref, of, time.Duration(within)*time.Second, most))
	})(c)
}

func (s *Server) linesOf(c echo.Context) error {
	id, err := idParam(c)
	if err != nil {
		return err
	}
	from, to, _, err := times(c)
	if err != nil {
		return err
	}
	limit, err := numberParam(c, "limit", maxPageLimit, 1, maxPageLimit)
	if err != nil {
		return err
	}
	return plainly(func(ctx context.Context) (query.LinePage, error) {
		return withLoki(s.answers.LinesOf(ctx, id, from, to, c.QueryParam("cursor"), limit))
	})(c)
}

// withLoki says of an answer that there is none why.
func withLoki[T any](answer T, err error) (T, error) {
	if errors.Is(err, errors.ErrUnsupported) {
		err = problem.New(problem.NotImplemented, "no Loki is configured here (loki.url)")
	}
	return answer, err
}
