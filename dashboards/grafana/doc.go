// Package grafana holds the dashboards. They are written in TypeScript (src) and committed as Grafana reads them (dashboards); the tests
// of this package put every query of the committed ones to the real engines.
package grafana
