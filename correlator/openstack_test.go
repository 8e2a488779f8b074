package correlator_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/otlpfile"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
)

// openstackLabel is what is known of one real run: whether it failed, and in which sub-system a fault had
// been injected.
type openstackLabel struct {
	ID     string `json:"allocation_id"`
	Failed bool   `json:"failed"`
	Owner  string `json:"owner"`
}

// TestOpenStackFaults judges real runs with a known owner. The data set is not ours to copy; it is read
// where it lies beside the project, and the test says so where it does not.
func TestOpenStackFaults(t *testing.T) {
	folder := filepath.Join("..", "..", "shared", "data", "openstack-faults")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("SKIPPED: the OpenStack fault data set is not beside the project (%s): real runs are not judged", folder)
	}
	p, err := profile.Load("openstack")
	if err != nil {
		t.Fatal(err)
	}
	var records []*record.Record
	d := otlpfile.Reader{Record: func(r *record.Record) { records = append(records, r) }, Reject: func(r otlpfile.Rejection) { t.Error(r) }}
	if err := d.ReadFile(filepath.Join(folder, "dev.otlp.jsonl.gz")); err != nil {
		t.Fatal(err)
	}
	g := correlator.Gather(records, nil, p, correlator.Moment{})
	sameRun(t, g)
	owners := map[string]string{}
	for _, a := range g.Analyze(rules.All()).Allocations {
		if len(a.Verdict.Faults) > 0 {
			owners[a.ID] = a.Verdict.Faults[0].Layer
		}
	}
	failed, right, wrong, alarms := 0, 0, 0, 0
	neutron, neutronRight := 0, 0
	for _, l := range openstackLabels(t, folder) {
		got := owners[l.ID]
		switch {
		case !l.Failed && got != "":
			alarms++
		case !l.Failed:
		case got == l.Owner:
			failed, right = failed+1, right+1
		case got != "":
			failed, wrong = failed+1, wrong+1
		default:
			failed++
		}
		if l.Failed && l.Owner == "neutron" {
			neutron++
			if got == "neutron" {
				neutronRight++
			}
		}
	}
	fmt.Printf("openstack: %d of %d owners right, %d wrong; neutron %d of %d; %d false alarms\n", right, failed, wrong, neutronRight, neutron, alarms)
	if alarms > 0 || right < 72 {
		t.Errorf("%d right, %d false alarms", right, alarms)
	}
}

// sameRun holds that no line of one run is credited to another (every run has an hour of its own), and no
// periodic task to any.
func sameRun(t *testing.T, g *correlator.Gathering) {
	t.Helper()
	const hour = int64(3600e9)
	runs := map[int64]string{}
	for _, e := range g.Events {
		if id, ok := e.Attrs.Get("allocation_id"); ok {
			runs[e.Time/hour] = id
		}
	}
	periodic := regexp.MustCompile(`\[req-[0-9a-f-]{36} - - - - -\]`)
	strangers, tasks := 0, 0
	for _, e := range g.Events {
		if e.Allocation != "" && e.Allocation != runs[e.Time/hour] {
			strangers++
		}
		if e.Allocation != "" && periodic.MatchString(e.Body) {
			tasks++
		}
	}
	if strangers > 0 || tasks > 0 {
		t.Errorf("%d lines credited to another run, %d periodic ones to any", strangers, tasks)
	}
}

func openstackLabels(t *testing.T, folder string) []openstackLabel {
	t.Helper()
	f, err := os.Open(filepath.Join(folder, "dev.labels.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var out []openstackLabel
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var l openstackLabel
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}
