package aap

import (
	"testing"

	"github.com/faultline-io/faultline/provisioner/provider"
)

// Every word that a controller has for a job (awx/main/models/unified_jobs.py), and words that it has not: state,
// message and explanation are made of one answer. A word that is not known is Unknown, and stays what was said.
func TestEveryStatus(t *testing.T) {
	const why = "waiting for project_update-97 to finish"
	f := func(raw string, want provider.State, message string) {
		t.Helper()
		if s := statusOf(raw, "", "ee-1"); s != (provider.Status{State: want, Raw: raw, Message: message}) {
			t.Errorf("%q: %+v", raw, s)
		}
		if s := statusOf(raw, why, ""); s != (provider.Status{State: want, Raw: raw, Explanation: why, Message: raw + ": " + why}) {
			t.Errorf("%q, explained: %+v", raw, s)
		}
	}
	f("new", provider.Unknown, "new")
	f("pending", provider.Pending, "pending")
	f("waiting", provider.Waiting, "waiting")
	f("running", provider.Running, "running on ee-1")
	f("successful", provider.Succeeded, "successful")
	f("failed", provider.Failed, "failed on ee-1")
	f("error", provider.Failed, "error on ee-1")
	f("canceled", provider.Canceled, "canceled")
	f("never updated", provider.Unknown, "never updated")
	f("Successful", provider.Unknown, "Successful") // its words are in lower case; who writes otherwise is another
	f("suspended", provider.Unknown, "suspended")
}
