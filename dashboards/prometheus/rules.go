// Package prometheus holds the alert rules, and an example of Alertmanager's configuration that routes by owner. Their tests are beside
// them: promtool runs faultline_test.yml and faultline_hours_test.yml.
package prometheus

import _ "embed"

// Rules are the rules as Prometheus reads them.
//
//go:embed faultline.rules.yml
var Rules []byte

//go:embed alertmanager.example.yml
var routes []byte
