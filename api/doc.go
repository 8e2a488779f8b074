// Package api is the correlator's REST interface on echo. Its schemas are the objects of the telemetry
// contract; openapi.yaml describes them. Only this package knows HTTP status codes.
package api
