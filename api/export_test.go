package api

import "github.com/labstack/echo/v4"

// Routes of a handler.
func Routes(h any) []*echo.Route { return h.(*echo.Echo).Routes() }

// Parsed refuses mangled queries.
var Parsed = parsed

// Within refuses a value that is too long.
func Within(name, value string, most int) error { return within(bound{name, value, most}) }

// ReadRecoveryRequest reads the body of one.
func ReadRecoveryRequest(c echo.Context) error {
	var in recoveryRequest
	return bodyParam(c, &in)
}
