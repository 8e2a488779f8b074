package grafana

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/dashboards/prometheus"
	"github.com/faultline-io/faultline/internal/doctest"
)

var (
	metrics  = regexp.MustCompile(`\b(?:faultline_|otelcol_|process_|faultline:)[a-z0-9_:]+`)
	compared = regexp.MustCompile(`[<>] ([0-9.]+)`)
)

// Every metric that is read is one that docs/metrics.md, generated from what is registered, or an alert rule knows.
func TestMetricsExist(t *testing.T) {
	known := map[string]bool{"process_cpu_seconds_total": true, "process_resident_memory_bytes": true}
	for _, m := range documented(t) {
		known[m.name] = true
		if m.kind == "histogram" {
			known[m.name+"_bucket"] = true
		}
	}
	for _, r := range alertRules(t) {
		known[r.Record] = true
	}
	seen := 0
	for name, d := range all(t) {
		var exprs []string
		for _, p := range d.Panels {
			for _, q := range p.Targets {
				exprs = append(exprs, q.Expr)
			}
		}
		for _, v := range d.Templating.List {
			if v.Datasource != nil && v.Datasource.Type == prometheusType {
				exprs = append(exprs, string(v.Query))
			}
		}
		for _, expr := range exprs {
			for _, m := range metrics.FindAllString(expr, -1) {
				seen++
				if !known[m] {
					t.Errorf("%s reads %s, which nobody has", name, m)
				}
			}
		}
	}
	if seen < 80 {
		t.Errorf("%d metrics are read: are they written in another way?", seen)
	}
}

type rule struct {
	Record, Alert, Expr string
	Labels              map[string]string
}

func alertRules(t *testing.T) (out []rule) {
	t.Helper()
	var file struct{ Groups []struct{ Rules []rule } }
	must(t, yaml.Unmarshal(prometheus.Rules, &file))
	for _, g := range file.Groups {
		out = append(out, g.Rules...)
	}
	return out
}

// limit is where an alert fires, and the colour of its severity.
type limit struct{ number, colour string }

// Where an alert is about what a panel shows, the panel changes colour where the alert fires, and nowhere else.
func TestThresholdsAreTheAlerts(t *testing.T) {
	limits, shown := map[string][]limit{}, map[string]string{} // by metric
	for _, r := range alertRules(t) {
		m, n := metrics.FindString(r.Expr), compared.FindStringSubmatch(r.Expr)
		if r.Alert == "" || m == "" || n == nil || slices.Contains([]string{"FaultlineNodesFenced", "FaultlineCleanupNeverEnds", "FaultlineCoverageFalls"}, r.Alert) {
			continue // of what was usual for hours, which no threshold says
		}
		shown[m+n[1]] = r.Alert
		for _, m := range metrics.FindAllString(r.Expr, -1) {
			limits[m] = append(limits[m], limit{n[1], map[string]string{"critical": "red", "warning": "orange"}[r.Labels["severity"]]})
		}
	}
	held := 0
	for name, d := range all(t) {
		for _, p := range d.Panels {
			var may []limit
			for _, q := range p.Targets {
				for _, m := range metrics.FindAllString(q.Expr, -1) {
					may = append(may, limits[m]...)
				}
			}
			if p.FieldConfig.Defaults.Thresholds == nil {
				continue
			}
			for _, s := range p.FieldConfig.Defaults.Thresholds.Steps {
				if s.Value == nil || p.Title == "Up" {
					continue
				}
				held++
				for _, q := range p.Targets {
					for _, m := range metrics.FindAllString(q.Expr, -1) {
						delete(shown, m+numberOf(t, s))
					}
				}
				n := numberOf(t, s)
				colour := s.Color
				if colour == "green" { // of an alert about less than a number
					colour = p.FieldConfig.Defaults.Thresholds.Steps[0].Color
				}
				if !slices.Contains(may, limit{n, colour}) {
					t.Errorf("%s: %s turns %s at %s; alerts about the same: %v", name, p.Title, s.Color, n, may)
				}
			}
		}
	}
	for _, alert := range shown {
		t.Errorf("no panel shows where %s fires", alert)
	}
	if held < 20 {
		t.Errorf("%d thresholds: are they written in another way?", held)
	}
}

// numberOf is the rule's number for a threshold, which holds from its value on: one, or 0.001 a second, is more than none.
func numberOf(t *testing.T, s step) string {
	t.Helper()
	if *s.Value == 1 || *s.Value == 0.001 {
		return "0"
	}
	text, err := json.Marshal(*s.Value)
	must(t, err)
	return string(text)
}

// metric is one of docs/metrics.md.
type metric struct {
	name, kind, section string
	labels              []string
}

// documented reads docs/metrics.md, which tests of the packages hold equal to what they register.
func documented(t testing.TB) (out []metric) {
	t.Helper()
	text, err := os.ReadFile("../../docs/metrics.md")
	must(t, err)
	section := ""
	for line := range strings.Lines(string(text)) {
		if title, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(title)
		}
		cells := strings.Split(line, "|")
		if len(cells) < 5 {
			continue
		}
		for _, name := range doctest.Quoted(cells[1]) {
			out = append(out, metric{name, strings.TrimSpace(cells[2]), section, doctest.Quoted(cells[3])})
		}
	}
	if len(out) < 80 {
		t.Fatalf("%d metrics in docs/metrics.md: are they written in another way?", len(out))
	}
	return out
}
