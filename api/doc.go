// Package api is the correlator's REST interface on echo. Its schemas are the objects of the telemetry
// contract; openapi.yaml describes them. Only this package and those in it know HTTP status codes.
package api
