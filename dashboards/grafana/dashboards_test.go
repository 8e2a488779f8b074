package grafana

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/dashboards/prometheus"
	"github.com/faultline-io/faultline/internal/doctest"
)

// TestCommittedIsGenerated runs the generator and the SDK's types over what is committed.
func TestCommittedIsGenerated(t *testing.T) {
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err != nil {
			skip(t, "SKIPPED: no "+tool+"; it is NOT tested that the committed dashboards are the generated ones")
		}
	}
	if _, err := os.Stat("node_modules/.package-lock.json"); err != nil {
		skip(t, "SKIPPED: the generator's packages are not installed (make dashboards); it is NOT tested that the committed dashboards are the generated ones")
	}
	if out, err := exec.CommandContext(t.Context(), "npm", "test", "--silent").CombinedOutput(); err != nil {
		t.Fatalf("npm test: %v\n%s", err, out)
	}
}

// skip says what is lacking; in continuous integration, which installs it, that is a failure.
func skip(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// uids and ids are what links stand on: each is there once, and stays.
func TestIdentity(t *testing.T) {
	for name, d := range all(t) {
		if want := "faultline-" + strings.TrimSuffix(name, ".json"); d.UID != want {
			t.Errorf("%s: uid %s, want %s", name, d.UID, want)
		}
		if !slices.Contains(d.Tags, "faultline") {
			t.Errorf("%s: no tag, so that no dashboard links to it", name)
		}
		seen, titles := map[int]bool{}, map[string]bool{}
		for _, p := range d.Panels {
			if p.ID == 0 || seen[p.ID] {
				t.Errorf("%s: %s has id %d, which is none or somebody else's", name, p.Title, p.ID)
			}
			seen[p.ID] = true
			if p.Type != "row" && (titles[p.Title+p.Type] || len(p.Targets) == 0) {
				t.Errorf("%s: %s is there twice, or asks nothing", name, p.Title)
			}
			titles[p.Title+p.Type] = true
		}
		if len(d.Annotations.List) == 0 || d.Annotations.List[0].Name != "Incidents" {
			t.Errorf("%s: no annotations of incidents", name)
		}
	}
}

// Every data source that is named is one that is provisioned.
func TestDataSources(t *testing.T) {
	provisioned := map[source]bool{}
	text, err := os.ReadFile("provisioning/datasources/faultline.yaml")
	must(t, err)
	var file struct{ Datasources []source }
	must(t, yaml.Unmarshal(text, &file))
	for _, s := range file.Datasources {
		provisioned[s] = true
	}
	for name, d := range all(t) {
		check := func(where string, s *source) {
			if s == nil || !provisioned[*s] {
				t.Errorf("%s: %s asks %v, which provisioning does not make", name, where, s)
			}
		}
		for _, p := range d.Panels {
			if p.Type == "row" {
				continue
			}
			check(p.Title, p.Datasource)
			for _, q := range p.Targets {
				check(p.Title, q.Datasource)
				if p.Datasource != nil && q.Datasource != nil && *p.Datasource != *q.Datasource {
					t.Errorf("%s: %s has a query of another data source", name, p.Title)
				}
			}
		}
		for _, v := range d.Templating.List {
			if v.Type == "query" {
				check(v.Name, v.Datasource)
			}
		}
	}
}

var builtIn = regexp.MustCompile(`^__`)

// Every variable that a query or a link names is one of the dashboard's.
func TestVariables(t *testing.T) {
	for name, d := range all(t) {
		known := map[string]bool{}
		for _, v := range d.Templating.List {
			known[v.Name] = true
		}
		text, err := os.ReadFile(folder + "/" + name)
		must(t, err)
		for _, m := range reference.FindAllStringSubmatch(string(text), -1) {
			if v := m[1] + m[3]; !known[v] && !builtIn.MatchString(v) {
				t.Errorf("%s names the variable %s, which it has not", name, v)
			}
		}
		for _, v := range []string{"environment", "page"} {
			if !known[v] {
				t.Errorf("%s has no variable %s", name, v)
			}
		}
	}
}

var (
	toDashboard = regexp.MustCompile(`^/d/([a-z-]+)\?(.*)$`)
	toVariable  = regexp.MustCompile(`var-(\w+)=`)
	anchor      = regexp.MustCompile(`/ui/#(\w+)`)
)

// Every link leads somewhere: to a dashboard with the variable that it sets, to a view of the page, or to a path of the API.
func TestLinks(t *testing.T) {
	dashboards := map[string]dashboard{}
	for _, d := range all(t) {
		dashboards[d.UID] = d
	}
	routes, err := os.ReadFile("../../api/web/src/shell/page.tsx")
	must(t, err)
	views := map[string]bool{"/ui/": true}
	for _, m := range regexp.MustCompile(`case '(/ui/\w*)'`).FindAllStringSubmatch(string(routes), -1) {
		views[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`match\(path, '(\w+)'\)`).FindAllStringSubmatch(string(routes), -1) {
		views["/ui/"+m[1]+"/"] = true
	}
	home, err := os.ReadFile("../../api/web/src/home/page.tsx")
	must(t, err)
	api, err := os.ReadFile("../../api/openapi.yaml")
	must(t, err)
	count := 0
	for _, d := range dashboards {
		for _, l := range linksOf(t, d) {
			if l.URL == "" && l.Type == "dashboards" {
				continue
			}
			count++
			if m := toDashboard.FindStringSubmatch(l.URL); m != nil {
				target, there := dashboards[m[1]]
				if !there {
					t.Errorf("%s: %s leads to %s, which is not there", d.UID, l.Title, m[1])
				}
				for _, v := range toVariable.FindAllStringSubmatch(m[2], -1) {
					if !slices.ContainsFunc(target.Templating.List, func(one variable) bool { return one.Name == v[1] }) {
						t.Errorf("%s: %s sets %s, which %s has not", d.UID, l.Title, v[1], m[1])
					}
				}
				continue
			}
			path, ok := strings.CutPrefix(l.URL, "${page:raw}")
			path, _, _ = strings.Cut(path, "?")
			if m := anchor.FindStringSubmatch(path); m != nil {
				if !strings.Contains(string(home), `id="`+m[1]+`"`) {
					t.Errorf("%s: %s leads to %s, and the page has no such place", d.UID, l.Title, path)
				}
				path = "/ui/"
			}
			if at := strings.Index(path, "$"); at >= 0 {
				path = path[:at]
			}
			if !ok || !views[path] && !strings.Contains(string(api), "\n  "+path+":\n") {
				t.Errorf("%s: %s leads to %s, which is neither a view of the page nor a path of the API", d.UID, l.Title, l.URL)
			}
		}
	}
	if count < 30 {
		t.Errorf("%d links: are they written in another way?", count)
	}
}

// linksOf are the links of a dashboard, of its panels and of fields.
func linksOf(t *testing.T, d dashboard) []link {
	t.Helper()
	out := slices.Clone(d.Links)
	for _, p := range d.Panels {
		out = append(append(out, p.Links...), p.FieldConfig.Defaults.Links...)
		for _, o := range p.FieldConfig.Overrides {
			for _, property := range o.Properties {
				if property.ID == "links" {
					var more []link
					must(t, json.Unmarshal(property.Value, &more))
					out = append(out, more...)
				}
			}
		}
	}
	return out
}

// Whatever draws numbers has a unit, and it is one that Grafana has.
func TestUnits(t *testing.T) {
	known := []string{"none", "short", "s", "dtdurations", "percentunit", "bytes", "cps", "rowsps"}
	for name, d := range all(t) {
		for _, p := range d.Panels {
			unit := p.FieldConfig.Defaults.Unit
			drawn := slices.Contains([]string{"timeseries", "bargauge"}, p.Type) || p.Type == "stat" && p.Title != "State"
			if drawn && unit == "" || unit != "" && !slices.Contains(known, unit) {
				t.Errorf("%s: %s (%s) has unit %q", name, p.Title, p.Type, unit)
			}
		}
	}
}

var (
	metrics  = regexp.MustCompile(`\b(?:faultline_|otelcol_|process_|faultline:)[a-z0-9_:]+`)
	compared = regexp.MustCompile(`> ([0-9.]+)`)
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
				if !slices.Contains(may, limit{n, s.Color}) {
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
