package api

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// tagged answers 304 to who has the answer already: as long as nothing of the allocation has arrived and nothing was said of it since.
func (s *Server) tagged(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := idParam(c)
		if err != nil || c.QueryParam("as_of") != "" {
			return next(c)
		}
		tag, err := s.answers.Tag(c.Request().Context(), id)
		if err != nil {
			return err
		}
		if tag == "" {
			return next(c)
		}
		tag = `W/"` + tag + `"`
		h := c.Response().Header()
		h.Set("ETag", tag)
		h.Set("Cache-Control", "private, no-cache")
		h.Add("Vary", "Authorization, Cookie")
		for known := range strings.SplitSeq(c.Request().Header.Get("If-None-Match"), ",") {
			if strings.TrimSpace(known) == tag {
				return c.NoContent(http.StatusNotModified)
			}
		}
		return next(c)
	}
}
