package lab_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/lab"
	"github.com/faultline-io/faultline/lab/hubsim"
)

// What the lab cannot provide is refused when it is asked for, and the refusal says what there is.
func TestUnknownImagesAreRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, 0.2)
	defer s.run(t)()
	for _, c := range []struct{ body, reason, offered string }{
		{`{"allocation_id":"a-1","node_pool":"general","image":"ubuntu-24.40","requested_by":"alice"}`, "unknown_template", "ubuntu-24.04"},
		{`{"allocation_id":"a-1","node_pool":"genral","image":"ubuntu-24.04","requested_by":"alice"}`, "unknown_pool", "general"},
	} {
		var status int
		var text []byte
		eventually(t, "an answer", func() error {
			answer, err := http.Post(s.lab.Provisioner+"/v1/allocations", "application/json", strings.NewReader(c.body))
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			status = answer.StatusCode
			text, err = io.ReadAll(answer.Body)
			return err
		})
		if status != http.StatusUnprocessableEntity || !strings.Contains(string(text), c.reason) || !strings.Contains(string(text), "offered are "+c.offered) {
			t.Errorf("%s: %d %s", c.body, status, text)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// The lab offers what its own clients ask for, providers' templates only where there are providers.
func TestCatalogOfTheLab(t *testing.T) {
	c := lab.DefaultConfig()
	if got := lab.ProvisionerConfig(c).Catalog; slices.Contains(got.Templates, hubsim.Well) || slices.Contains(got.Pools, "virt") {
		t.Errorf("without providers: %+v", got)
	}
	c.Providers = true
	if got := lab.ProvisionerConfig(c).Catalog; !slices.Contains(got.Templates, hubsim.FailQuota) || !slices.Contains(got.Pools, "virt-eda") {
		t.Errorf("with providers: %+v", got)
	}
}
