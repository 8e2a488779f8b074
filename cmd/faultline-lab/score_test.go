package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab"
)

// One fault of each of six families, made in platforms of their own and judged from files: the short form of
// `make lab-score`.
func TestFaultsAreJudged(t *testing.T) {
	s := &scoring{
		faults: []string{"cert_wrong_name", "ingress_no_backend", "auth_policy_missing", "node_disk_full", "aap_template_missing", "outbox_poison"},
		keep:   t.TempDir(), files: true, at: 3, scale: 0.33, progress: io.Discard,
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	results, err := s.run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if !r.OK() || r.Affected == 0 {
			t.Errorf("%s: %d affected, %s", r.Fault, r.Affected, strings.Join(r.Misses, "; "))
		}
	}
}

// What the catalog says is in the names that the platform knows, and has the fields that others read.
func TestCatalogOfFaults(t *testing.T) {
	layers := []string{
		semconv.LayerClient, semconv.LayerDeploy, semconv.LayerCert, semconv.LayerNetwork, semconv.LayerIngress, semconv.LayerAPIAuth, semconv.LayerAPI,
		semconv.LayerDB, semconv.LayerOutbox, semconv.LayerWorkflow, semconv.LayerProvider, semconv.LayerNodeAgent, semconv.LayerNode, semconv.LayerProjection,
	}
	seen := map[string]bool{}
	for _, f := range lab.Faults() {
		if seen[f.Name] || !slices.Contains(layers, f.Layer) || f.Mechanism == "" || f.Description == "" || f.Expected != "attributed" && f.Expected != "undetermined" {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = true
		for _, l := range f.ShowsIn {
			if !slices.Contains(layers, l) {
				t.Errorf("%s shows in %q", f.Name, l)
			}
		}
	}
	manual, err := os.ReadFile(filepath.Join("..", "..", "docs", "lab.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, reasons, _ := strings.Cut(string(manual), "## Where abstention is right")
	reasons, _, _ = strings.Cut(reasons, "\n## ")
	for _, f := range lab.Faults() {
		if got := strings.Contains(reasons, "* `"+f.Name+"`:"); got != (f.Expected == "undetermined") {
			t.Errorf("%s is expected to be %s, and docs/lab.md has a reason to abstain: %t", f.Name, f.Expected, got)
		}
	}
	out := labOutput(t, "list", "--json")
	var all []map[string]any
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != len(lab.Faults()) {
		t.Fatal(len(all), err)
	}
	for _, key := range []string{"name", "layer", "mechanism", "description", "shows_in", "expected"} {
		if _, ok := all[0][key]; !ok || len(all[0]) != 6 {
			t.Errorf("%v has no %q, or more than it should", all[0], key)
		}
	}
}

// What is printed for a run of one's own is a profile, and what a score judges by.
func TestProfileOfTheLab(t *testing.T) {
	p, err := profile.Parse("lab", []byte(labOutput(t, "profile")))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Budgets().TaskClaim; got != 15*time.Second {
		t.Errorf("a claim may take %s", got)
	}
}

func labOutput(t *testing.T, args ...string) string {
	t.Helper()
	cmd, out := command(), &bytes.Buffer{}
	cmd.SetOut(out)
	cmd.SetErr(out)
	cmd.SetArgs(args)
	if err := cmd.Execute(); err != nil {
		return "error: " + err.Error()
	}
	return out.String()
}

func TestOrdersThatNobodyTakes(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"inject", "cert_expired", "--data", empty}, "no lab is running"},
		{[]string{"inject", "cert_expires", "--data", empty}, `no fault is called "cert_expires"; is it cert_expired`},
		{[]string{"inject"}, "name one fault"},
		{[]string{"heal", "--data", empty}, "no lab is running"},
		{[]string{"delete-during-provision", "--template", "typo"}, `--template: "typo" is none of ocp_virt_vm, late_machine`},
		{[]string{"delete-during-provision", "--provider", "typo"}, `--provider: "typo" is neither aap nor eda`},
		{[]string{"score", "--faults", "nonsense"}, `there is none called "nonsense"`},
	} {
		if got := labOutput(t, c.args...); !strings.Contains(got, c.want) {
			t.Errorf("%v: %s, want %s", c.args, got, c.want)
		}
	}
}
