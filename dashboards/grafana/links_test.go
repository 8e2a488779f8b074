package grafana

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

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
