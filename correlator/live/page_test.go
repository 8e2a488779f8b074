package live

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/internal/doctest"
	"github.com/faultline-io/faultline/internal/profile"
)

var update = flag.Bool("update", false, "write the table of docs/judging.md anew")

const page = "../../docs/judging.md"

// described collects what metrics say of themselves.
type described struct{ rows []string }

var description = regexp.MustCompile(`fqName: "([^"]*)", help: "([^"]*)",.* variableLabels: \{([^}]*)\}`)

func (d *described) Register(c prometheus.Collector) error {
	ch := make(chan *prometheus.Desc, 1)
	c.Describe(ch)
	m := description.FindStringSubmatch((<-ch).String())
	labels := ""
	if m[3] != "" {
		labels = "`" + strings.ReplaceAll(m[3], ",", "` `") + "`"
	}
	d.rows = append(d.rows, fmt.Sprintf("| `%s` | %s | %s |\n", m[1], labels, m[2]))
	return nil
}

func (d *described) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		_ = d.Register(c)
	}
}
func (d *described) Unregister(prometheus.Collector) bool { return false }

func TestThePageListsTheMetrics(t *testing.T) {
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	d := &described{}
	newMetrics(d, p)
	slices.Sort(d.rows)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, _, ok := strings.Cut(string(text), "## Metrics\n")
	if !ok {
		t.Fatal("docs/judging.md has no section Metrics")
	}
	want := head + "## Metrics\n\nLabels are bounded: layers are the profile's, states the contract's, rules those of the build.\n\n| metric | labels | |\n|---|---|---|\n" + strings.Join(d.rows, "")
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil { //nolint:gosec // a page for everyone
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Error("docs/judging.md is not what the metrics say (go test ./correlator/live -run Page -update)")
	}
}

func TestMetricsAreDocumented(t *testing.T) {
	p, err := profile.Load("")
	if err != nil {
		t.Fatal(err)
	}
	r := &doctest.Registry{}
	newMetrics(r, p)
	doctest.Metrics(t, "../../docs/metrics.md", "judging", *update, r.Taken...)
}

// The configuration on the page is the default.
func TestThePageShowsTheDefaults(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, yaml, _ := strings.Cut(string(text), "```yaml\n")
	yaml, _, _ = strings.Cut(yaml, "```")
	type file struct {
		Judging Config `yaml:"judging"`
	}
	got, err := config.Parse("judging.md", []byte(yaml), file{})
	if err != nil || got.Judging != DefaultConfig() {
		t.Errorf("%+v: %v", got, err)
	}
	bad := Config{Interval: 1, Share: 2, Records: 1, Adopt: -1}
	err = bad.Validate()
	for _, key := range []string{"judging.interval", "judging.share", "judging.records", "judging.adopt"} {
		if err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s is not named: %v", key, err)
		}
	}
}
