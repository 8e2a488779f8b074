package guard

import (
	"log/slog"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/labstack/echo/v4"
)

// logRequest writes a request down: never what it carried, only which page it asked for. Probes are no news.
func (g *Guard) logRequest(c echo.Context, took time.Duration) {
	if !g.config.Log.Requests {
		return
	}
	r, who, level := c.Request(), callerOf(c), slog.LevelInfo
	if at := pageOf(r); at == health || at == metrics {
		level = slog.LevelDebug
	}
	g.log.Log(r.Context(), level, "request", "method", r.Method, "route", c.Path(), "status", c.Response().Status, "bytes", c.Response().Size,
		"duration", took, "subject", who.Subject, "via", who.via(), "remote", remoteOf(r))
}

// readings are the routes whose readers are written down, the longest prefix first, and what they read. What else there is tells
// of no allocation and no record: rules, layers, sources, figures of providers, who the caller is.
var readings = []struct{ prefix, what string }{
	{"/api/v1/allocations/", "allocation"},
	{"/api/v1/allocations", "allocations"},
	{"/api/v1/stuck", "allocations"},
	{"/api/v1/drift", "allocations"},
	{"/api/v1/orphans", "allocations"},
	{"/api/v1/incidents", "incidents"},
	{"/api/v1/resolve", "identifier"},
	{"/api/v1/events", "records"},
	{"/api/v1/search", "search"},
	{"/api/v1/nodes/", "node"},
	{"/api/v1/lookup/", "identifier"},
}

// logReading writes down who read what. Of callers that nobody knows there is the request's line.
func (g *Guard) logReading(c echo.Context) {
	who, known := c.Get(callerKey).(caller)
	what, r := reading(c.Path()), c.Request()
	if !g.config.Log.Audit || !known || what == "" {
		return
	}
	var tenants any = "all"
	if who.Tenants != nil {
		tenants = strings.Join(who.Tenants, ", ")
	}
	said := []any{"subject", who.Subject, "via", who.via(), "remote", remoteOf(r), "what", what, "route", c.Path(),
		"id", clip(withoutSecret(c.Param("id"))), "query", clip(withoutSecrets(r.URL.Query())), "tenants", tenants, "status", c.Response().Status}
	if ref := c.Param("ref"); ref != "" {
		said = append(said, "ref", clip(withoutSecret(ref)))
	}
	g.log.Info("audit", said...)
}

func reading(route string) string {
	for _, one := range readings {
		if strings.HasPrefix(route, one.prefix) {
			return one.what
		}
	}
	return ""
}

var (
	secretName  = regexp.MustCompile(`(?i)token|secret|passw|credential|authorization|cookie|session|api.?key|signature`)
	secretValue = regexp.MustCompile(`(?i)flt_|eyJ[A-Za-z0-9_-]{8}|bearer |-----BEGIN|(token|secret|passw\w*|key)\s*[=:]`)
)

// withoutSecrets is a query as it may be written down: people search for what has leaked.
func withoutSecrets(q url.Values) string {
	for name, values := range q {
		for i, value := range values {
			if secretName.MatchString(name) || secretValue.MatchString(value) {
				values[i] = "REDACTED"
			}
		}
	}
	return q.Encode()
}

// withoutSecret is an identifier as it may be written down: a token is easily pasted in its place.
func withoutSecret(text string) string {
	if secretValue.MatchString(text) {
		return "REDACTED"
	}
	return text
}

// clip bounds what a caller can have written down.
func clip(text string) string {
	const most = 1024
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
