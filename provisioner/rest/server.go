package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// maxBody bounds a request; nothing that anybody has to say here is longer.
const maxBody = "64K"

// server is what both APIs have in common.
func server(emitter *telemetry.Emitter, log *slog.Logger) *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = answerProblem
	e.Use(traced(emitter, log), middleware.RecoverWithConfig(middleware.RecoverConfig{
		LogErrorFunc: func(_ echo.Context, err error, _ []byte) error { return fmt.Errorf("panic: %w", err) },
	}), middleware.BodyLimit(maxBody))
	return e
}

// traced gives a request its context: trace, identifiers, and a span of the server. A request that
// only reads and belongs to no trace (a probe, a projection) makes none.
func traced(emitter *telemetry.Emitter, log *slog.Logger) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			ctx := telemetry.Extract(r.Context(), r.Header)
			if v := c.Param("allocation"); telemetry.PlausibleID(v) {
				ctx = telemetry.With(ctx, semconv.AllocationID, v)
			}
			var span *telemetry.Span
			if telemetry.SpanOf(ctx).Valid() || r.Method != http.MethodGet {
				ctx, span = emitter.Start(ctx, r.Method+" "+c.Path(), telemetry.Server, slog.String(semconv.HTTPRequestMethod, r.Method),
					slog.String(semconv.HTTPRoute, c.Path()), slog.String(semconv.URLPath, r.URL.Path))
			}
			defer span.End()
			c.SetRequest(r.WithContext(ctx))
			err := next(c)
			if err != nil {
				answerProblem(err, c)
				p := problemOf(err)
				report(ctx, emitter, log, p, err)
				if p.Status >= 500 {
					span.Fail(err, "internal")
				}
			}
			span.Set(slog.Int(semconv.HTTPStatusCode, c.Response().Status))
			return nil
		}
	}
}

// report logs a request that ended in a problem, once.
func report(ctx context.Context, emitter *telemetry.Emitter, log *slog.Logger, p Problem, err error) {
	if errors.Is(err, context.Canceled) { // the caller went away
		return
	}
	severity := telemetry.Warn
	if p.Status >= 500 {
		severity = telemetry.Error
		log.Error("request ended in an error", "error", err)
	}
	emitter.Log(ctx, severity, fmt.Sprintf("request refused with %d: %v", p.Status, err), slog.Int(semconv.HTTPStatusCode, p.Status),
		slog.String(semconv.ErrorType, strings.ToLower(strings.ReplaceAll(p.Title, " ", "_"))))
}

// identifier checks one that comes from outside; missing reports whether it may be empty.
func identifier(name, value string, missing bool) error {
	if value == "" && missing {
		return nil
	}
	if !telemetry.PlausibleID(value) || len(value) > 128 || strings.ContainsAny(value, `/?#%`) {
		return bad("%s: must be 1 to 128 printable characters without blanks, quotes, commas, semicolons, slashes, ?, # and %%", name)
	}
	return nil
}

// text checks words that people wrote.
func text(name, value string, longest int) error {
	if len(value) > longest {
		return bad("%s: longer than %d bytes", name, longest)
	}
	if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f }) {
		return bad("%s: has control characters", name)
	}
	return nil
}
