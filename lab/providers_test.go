package lab_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab"
)

func TestStoriesOfProviders(t *testing.T) {
	t.Parallel()
	s := newStage(t, 0.2)
	s.lab.Providers, s.lab.Hub, s.lab.AAP, s.lab.EDA = true, "127.0.0.1:21701", "127.0.0.1:21702", "127.0.0.1:21703"
	s.lab.Count, s.lab.Nodes, s.lab.Stories = 4, 1, []string{"aap_healthy", "aap_cancel", "aap_quota", "eda_healthy"}
	if err := s.lab.Validate(); err != nil {
		t.Fatal(err)
	}
	with := lab.ProvisionerConfig(s.lab)
	s.provisioner.Providers, s.provisioner.Workflow, s.provisioner.Catalog = with.Providers, with.Workflow, with.Catalog
	stop := s.run(t)
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if err := lab.Run(ctx, s.lab, s.log); err != nil {
		t.Fatal(err)
	}
	stop()
	all := s.records(t)
	want := map[string]string{
		"aap_healthy": "requested reserved provisioning active releasing released",
		"aap_cancel":  "requested reserved provisioning canceling releasing canceled",
		"aap_quota":   "requested reserved provisioning failed",
		"eda_healthy": "requested reserved provisioning active releasing released",
	}
	truths := s.truths(t)
	for id, truth := range truths {
		if got := strings.Join(path(all, id), " "); got != want[truth.Story] {
			t.Errorf("%s went %q, want %q", truth.Story, got, want[truth.Story])
		}
		if !anyOf(all, func(r *record.Record) bool {
			return r.Name == semconv.EventProviderState && get(r, semconv.AllocationID) == id && get(r, semconv.ProviderJob) != ""
		}) {
			t.Errorf("%s: no provider job is named", truth.Story)
		}
	}
	if len(truths) != len(want) {
		t.Errorf("%d stories were told as they are written, want %d", len(truths), len(want))
	}
	checkMoves(t, all)
	checkIdentifiers(t, all)
	checkTraces(t, all)
}

func TestStoriesOfProvidersNeedProviders(t *testing.T) {
	c := lab.DefaultConfig()
	c.Stories = []string{"eda_healthy"}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), `"eda_healthy" needs providers: true`) {
		t.Error(err)
	}
}
