package grafana

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
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
	t.Parallel()
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

// Whatever draws numbers has a unit, and it is one that Grafana has.
func TestUnits(t *testing.T) {
	known := []string{"none", "short", "s", "dtdurations", "percentunit", "bytes", "cps", "rowsps", "d"}
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
