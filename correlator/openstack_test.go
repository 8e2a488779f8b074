package correlator_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
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
	// Activated are the times (Unix ns, as text) at which the faulty statement ran, where that is known.
	Activated []string `json:"fault_activated"`
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
	g := correlator.NewDataset(records, nil, p, correlator.AsOf{})
	sameRun(t, g)
	verdicts := map[string]correlator.Verdict{}
	for _, a := range query.Analyze(g, rules.All()).Allocations {
		verdicts[a.ID] = a.Verdict
	}
	b := scoreOpenStack(t, g, verdicts, openstackLabels(t, folder))
	fmt.Println(b)
	if b.alarms > 0 || b.wrong > 0 || b.right < 73 || b.neutronRight < 15 || b.goodEvidence*10 < b.evidenceDue*9 {
		t.Errorf("below what it was: %s", b)
	}
}

// openstackScore counts verdicts on real runs.
type openstackScore struct {
	failed, right, wrong, alarms int
	neutron, neutronRight        int
	// Of the right answers whose owner logged WARNING or worse after a known activation of the fault: those whose
	// cited evidence holds such a line and none of the owner's from before the activation.
	evidenceDue, goodEvidence int
}

func (b openstackScore) String() string {
	return fmt.Sprintf("openstack: %d of %d owners right, %d wrong, %d abstained; neutron %d of %d; %d false alarms; evidence the owner's and not before activation %d of %d",
		b.right, b.failed, b.wrong, b.failed-b.right-b.wrong, b.neutronRight, b.neutron, b.alarms, b.goodEvidence, b.evidenceDue)
}

func scoreOpenStack(t *testing.T, g *correlator.Dataset, verdicts map[string]correlator.Verdict, labels []openstackLabel) (b openstackScore) {
	t.Helper()
	byRef := map[string]*correlator.Event{}
	hours := map[int64][]*correlator.Event{} // every run has an hour of its own
	runs := map[string]int64{}
	for _, e := range g.Events {
		byRef[e.Ref] = e
		hour := e.Time / int64(3600e9)
		hours[hour] = append(hours[hour], e)
		if id, ok := e.Attrs.Get("allocation_id"); ok {
			runs[id] = hour
		}
	}
	verbose := os.Getenv("FAULTLINE_OPENSTACK") != ""
	for _, l := range labels {
		got, rule := "", ""
		v := verdicts[l.ID]
		if len(v.Faults) > 0 {
			got, rule = v.Faults[0].Layer, v.Faults[0].Rule
		}
		if got != l.Owner && verbose {
			fmt.Printf("%s: %s, want %s (%s): %s\n", l.ID, got, l.Owner, rule, v.Explanation)
		}
		if !l.Failed {
			if got != "" {
				b.alarms++
			}
			continue
		}
		b.failed++
		if l.Owner == "neutron" {
			b.neutron++
		}
		switch {
		case got == "":
			continue
		case got != l.Owner:
			b.wrong++
			continue
		}
		b.right++
		if l.Owner == "neutron" {
			b.neutronRight++
		}
		activated, known := activation(l)
		if !known || !slices.ContainsFunc(hours[runs[l.ID]], func(e *correlator.Event) bool {
			return e.Layer == l.Owner && e.Severity >= 13 && e.Time >= activated
		}) {
			continue
		}
		b.evidenceDue++
		good := len(v.Faults[0].Evidence) > 0
		for _, ref := range v.Faults[0].Evidence {
			e := byRef[ref]
			good = good && e != nil && e.Layer == l.Owner && e.Time >= activated-stampError
		}
		if good {
			b.goodEvidence++
		} else if verbose {
			for _, ref := range v.Faults[0].Evidence {
				if e := byRef[ref]; e != nil {
					fmt.Printf("%s: evidence %s %s %+.1f s %.140q\n", l.ID, e.Layer, e.Service, float64(e.Time-activated)/1e9, e.Body)
				}
			}
		}
	}
	return b
}

// stampError is how exactly the runs' lines are stamped: to the millisecond, cut off, where the activation of a
// fault is known to the microsecond.
const stampError = int64(time.Millisecond)

// activation is when the fault was first active.
func activation(l openstackLabel) (first int64, known bool) {
	for _, text := range l.Activated {
		if at, err := strconv.ParseInt(text, 10, 64); err == nil && (!known || at < first) {
			first, known = at, true
		}
	}
	return first, known
}

// sameRun holds that no line of one run is credited to another (every run has an hour of its own), and no
// periodic task to any.
func sameRun(t *testing.T, g *correlator.Dataset) {
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
