package prometheus

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/doctest"
)

const docs = "../../docs/"

type rule struct {
	Record, Alert, Expr, For string
	Labels, Annotations      map[string]string
}

func allRules(t *testing.T) (out []rule) {
	t.Helper()
	var file struct {
		Groups []struct{ Rules []rule }
	}
	if err := yaml.Unmarshal(Rules, &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		out = append(out, g.Rules...)
	}
	return out
}

// tool finds a program of Debian's packages, or skips loudly.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("SKIPPED: no %s (Debian's packages prometheus and prometheus-alertmanager); the alert rules are NOT tested", name)
	}
	return path
}

func TestPromtool(t *testing.T) {
	promtool := tool(t, "promtool")
	for _, args := range [][]string{{"check", "rules", "faultline.rules.yml"}, {"test", "rules", "faultline_test.yml"}, {"test", "rules", "faultline_hours_test.yml"}} {
		t.Run(args[len(args)-1], func(t *testing.T) {
			t.Parallel()
			if out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// The example is one, routes to whom it says, and every alert of an owner that it knows finds its way.
func TestAlertmanagerExample(t *testing.T) {
	amtool := tool(t, "amtool")
	if out, err := exec.CommandContext(t.Context(), amtool, "check-config", "alertmanager.example.yml").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for labels, want := range map[string]string{
		"owner=automation,layer=provider": "automation", "owner=control plane,layer=api": "control-plane", "owner=edge,layer=ingress": "network",
		"owner=somebody": "operations", "owner=faultline,layer=telemetry": "observability", "owner=faultline,alertname=FaultlineWatchdog": "dead-mans-switch",
	} {
		args := append([]string{"config", "routes", "test", "--config.file=alertmanager.example.yml"}, strings.Split(labels, ",")...)
		out, err := exec.CommandContext(t.Context(), amtool, args...).Output()
		if have := strings.TrimSpace(string(out)); err != nil || have != want {
			t.Errorf("%s goes to %s (%v), want %s", labels, have, err, want)
		}
	}
}

var (
	named    = regexp.MustCompile(`\b(?:faultline_|otelcol_)[a-z0-9_]+`)
	recorded = regexp.MustCompile(`\bfaultline:[a-z0-9_:]+`)
)

// What a rule reads is a metric that some process has, or what another rule records.
func TestMetricsExist(t *testing.T) {
	known := map[string]bool{}
	text, err := os.ReadFile(docs + "metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) > 4 {
			for _, name := range doctest.Quoted(cells[1]) {
				known[name] = true
				if strings.TrimSpace(cells[2]) == "histogram" {
					known[name+"_bucket"], known[name+"_count"], known[name+"_sum"] = true, true, true
				}
			}
		}
	}
	all := allRules(t)
	for _, r := range all {
		known[r.Record] = true
	}
	seen := 0
	for _, r := range all {
		for _, text := range []string{r.Expr, r.Labels["owner"], r.Annotations["description"], r.Annotations["permalink"]} {
			for _, name := range append(named.FindAllString(text, -1), recorded.FindAllString(text, -1)...) {
				seen++
				if !known[name] {
					t.Errorf("%s%s reads %s, which nobody has", r.Record, r.Alert, name)
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d metrics are read: are they written in another way?", seen)
	}
}

// Every alert says whose it is, leads to the page, and has a runbook whose section is there and says all of it.
func TestRunbooks(t *testing.T) {
	used := map[string]bool{}
	for _, r := range allRules(t) {
		if r.Alert == "" {
			continue
		}
		if s := r.Labels["severity"]; !slices.Contains([]string{"critical", "warning", "none"}, s) {
			t.Errorf("%s: severity %q", r.Alert, s)
		}
		if !strings.Contains(r.Annotations["permalink"], "/ui/") || r.Annotations["summary"] == "" {
			t.Errorf("%s: %v", r.Alert, r.Annotations)
		}
		for _, label := range []string{"layer", "owner"} {
			if r.Labels[label] == "" && !regexp.MustCompile(`by \([^)]*\b`+label+`\b`).MatchString(r.Expr) && !strings.HasPrefix(r.Alert, "FaultlineObjective") {
				t.Errorf("%s has no label %s", r.Alert, label)
			}
		}
		_, place, ok := strings.Cut(r.Annotations["runbook_url"], "/docs/runbooks/")
		file, section, has := strings.Cut(place, "#")
		text, err := os.ReadFile(filepath.Join(docs, "runbooks", file))
		_, rest, there := strings.Cut(string(text), "\n## "+section+"\n")
		rest, _, _ = strings.Cut(rest, "\n## ")
		if !ok || !has || err != nil || !there {
			t.Errorf("%s: no %s", r.Alert, r.Annotations["runbook_url"])
			continue
		}
		used[place] = true
		for _, part := range []string{"**What it means.**", "**How to confirm.**", "**Safe action.**", "**Never.**"} {
			if !strings.Contains(rest, part) {
				t.Errorf("%s does not say %s", place, part)
			}
		}
	}
	files, err := filepath.Glob(docs + "runbooks/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(string(text), -1) {
			if !used[filepath.Base(path)+"#"+m[1]] {
				t.Errorf("no alert leads to %s#%s", path, m[1])
			}
		}
	}
}

var (
	templates = regexp.MustCompile(`\{\{.*?\}\}`)
	numbers   = regexp.MustCompile(`\b[0-9]+(?:\.[0-9]+)?(?: %|[smhd]\b)?`)
	compared  = regexp.MustCompile(`(?:[<>]=?|==) ?([0-9.]+)`)
	windows   = regexp.MustCompile(`[\[ ]([0-9]+[smhd])\b`)
	factors   = regexp.MustCompile(`< ([0-9.]+) \*`)
)

// The numbers that people read are those by which the rule fires: no other, and all of them.
func TestNumbersAreTheRules(t *testing.T) {
	seconds := func(text string) float64 {
		t.Helper()
		if d, err := time.ParseDuration(text); err == nil {
			return d.Seconds()
		}
		n, err := strconv.ParseFloat(strings.TrimSuffix(text, " %"), 64)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(text, " %") {
			n /= 100
		}
		return math.Round(n*1e6) / 1e6
	}
	for _, r := range allRules(t) {
		if r.Alert == "" {
			continue
		}
		var must, may []float64
		if r.For != "" {
			must = append(must, seconds(r.For))
		}
		for _, m := range compared.FindAllStringSubmatch(r.Expr, -1) {
			if n := seconds(m[1]); n != 0 && !strings.Contains(m[0], "==") {
				must = append(must, n)
			}
		}
		for _, m := range factors.FindAllStringSubmatch(r.Expr, -1) {
			must = append(must, seconds(m[1]))
		}
		for _, m := range windows.FindAllStringSubmatch(r.Expr, -1) {
			may = append(may, seconds(m[1]))
		}
		for _, name := range recorded.FindAllString(r.Expr, -1) { // faultline:…:ratio5m looks at 5m; its objective is 15 minutes
			may = append(may, seconds(regexp.MustCompile(`[0-9]+[mh]$`).FindString(name)), 900, 0.99)
		}
		var said []float64
		for _, text := range numbers.FindAllString(templates.ReplaceAllString(r.Annotations["description"], ""), -1) {
			said = append(said, seconds(text))
		}
		for _, n := range must {
			if !slices.Contains(said, n) {
				t.Errorf("%s does not say %g: %s", r.Alert, n, r.Annotations["description"])
			}
		}
		for _, n := range said {
			if !slices.Contains(append(must, may...), n) {
				t.Errorf("%s says %g, which the rule does not: %s", r.Alert, n, r.Annotations["description"])
			}
		}
	}
}
