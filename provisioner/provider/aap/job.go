package aap

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

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
	where := raw
	if node != "" && (state == provider.Running || state == provider.Failed) {
		where += " on " + node
	}
	return provider.Status{State: state, Raw: raw, Explanation: explanation, Message: message(where, explanation)}
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

// carries reports whether the job was launched under the key. Variables are looked at and dropped.
func (j job) carries(key string) bool {
	var vars map[string]json.RawMessage
	var have string
	return json.Unmarshal([]byte(j.ExtraVars), &vars) == nil && json.Unmarshal(vars[launchKey], &have) == nil && have == key
}

// maxTaskWords bounds what is kept of a failed task's message, in bytes.
const maxTaskWords = 300

// failedTask is the task that ended a playbook, in its own words: of an ordinary failure the job itself
// says nothing but "failed". "" where the controller doesn't say; not to know it does no harm.
func (c *Controller) failedTask(ctx context.Context, j provider.Job) string {
	if j.Kind != kindJob { // a workflow's nodes are jobs of their own
		return ""
	}
	var page struct {
		Results []struct {
			Task string `json:"task"`
			Data struct {
				Res struct {
					Msg any `json:"msg"`
				} `json:"res"`
			} `json:"event_data"`
		} `json:"results"`
	}
	path := "/v2/jobs/" + url.PathEscape(j.ID) + "/job_events/?event=runner_on_failed&order_by=-counter&page_size=1"
	if err := c.caller.Call(ctx, "read failed task of job "+j.ID, http.MethodGet, path, nil, &page); err != nil || len(page.Results) == 0 {
		return ""
	}
	last := page.Results[0]
	text := "task " + last.Task + " failed"
	if words, ok := last.Data.Res.Msg.(string); ok && words != "" {
		text += ": " + provider.Clip(words, maxTaskWords)
	}
	return text
}
