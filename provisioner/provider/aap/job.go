package aap

import (
	"encoding/json"

	"github.com/faultline-io/faultline/provisioner/provider"
)

// job is what the API says of one (awx/main/models/unified_jobs.py).
type job struct {
	ID             int64  `json:"id"`
	Status         string `json:"status"`
	JobExplanation string `json:"job_explanation"`
	ExecutionNode  string `json:"execution_node"`
	ExtraVars      string `json:"extra_vars"` // JSON in a string; for adoption only
}

// states maps the controller's words. pending: not scheduled yet; waiting: assigned to a node; error:
// could not be run, where failed was run. new, and what a later version may invent, is Unknown.
var states = map[string]provider.State{
	"successful": provider.Succeeded, "failed": provider.Failed, "error": provider.Failed, "canceled": provider.Canceled,
	"pending": provider.Pending, "waiting": provider.Waiting, "running": provider.Running,
}

func (j job) status() provider.Status { return statusOf(j.Status, j.JobExplanation, j.ExecutionNode) }

// statusOf makes state, message and explanation from one answer.
func statusOf(raw, explanation, node string) provider.Status {
	state, known := states[raw]
	if !known {
		state = provider.Unknown
	}
	s := provider.Status{State: state, Raw: raw, Explanation: explanation, Message: message(raw, explanation)}
	if node != "" && (state == provider.Running || state == provider.Failed) {
		s.Message += " on " + node
	}
	return s
}

func message(raw, explanation string) string {
	if explanation == "" {
		return raw
	}
	return raw + ": " + explanation
}

type jobs struct {
	Next    string `json:"next"`
	Results []job  `json:"results"`
}

// carries says whether the job was launched under the key. Variables are looked at and dropped.
func (j job) carries(key string) bool {
	var vars map[string]json.RawMessage
	var have string
	return json.Unmarshal([]byte(j.ExtraVars), &vars) == nil && json.Unmarshal(vars[launchKey], &have) == nil && have == key
}
