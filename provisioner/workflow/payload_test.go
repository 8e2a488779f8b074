package workflow_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// Nothing of a message whose payload cannot be decoded is believed, and nothing is begun for it.
func TestAPayloadThatCannotBeDecoded(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		e := workflow.New(storetest.Open(t, target, store.Options{}), workflow.DefaultConfig(), nil, slog.New(slog.DiscardHandler))
		for _, payload := range []string{"", "{", `{"pool":`, "[]", "no JSON"} {
			for _, subject := range []string{workflow.SubjectProvision, workflow.SubjectProjection, "allocation.active"} {
				err := e.Publish(t.Context(), store.Message{ID: "ob-1", Subject: subject, AllocationID: "a-1", Payload: payload})
				if err == nil || !strings.HasPrefix(err.Error(), "cannot unmarshal envelope: "+subject+": ") {
					t.Errorf("%s %q: %v", subject, payload, err)
				}
			}
		}
	})
}
