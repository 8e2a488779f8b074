package aapsim

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/faultline-io/faultline/lab/hubsim"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// job is guarded by the controller's lock, but for what never changes.
type job struct {
	id        int64
	template  Template
	resource  string
	how       string
	vars      string
	created   time.Time
	launcher  telemetry.Carrier
	ctx       context.Context
	interrupt context.CancelCauseFunc

	status, explanation string
	failure             string // of the task that ended the playbook
	finished            time.Time
	cancelFlag          bool
}

// view is a job as the API shows it.
type view struct {
	ID             int64      `json:"id"`
	Type           string     `json:"type"`
	Name           string     `json:"name"`
	Status         string     `json:"status"`
	Created        time.Time  `json:"created"`
	Finished       *time.Time `json:"finished"`
	JobExplanation string     `json:"job_explanation"`
	ExecutionNode  string     `json:"execution_node"`
	ExtraVars      string     `json:"extra_vars"`
	CancelFlag     bool       `json:"cancel_flag"`
	Traceback      string     `json:"result_traceback"`
}

func (j *job) kind() string {
	if j.template.Workflow {
		return "workflow_job"
	}
	return "job"
}

func (j *job) view() view {
	v := view{
		ID: j.id, Type: j.kind(), Name: j.template.Name, Status: j.status, Created: j.created, JobExplanation: j.explanation,
		ExtraVars: j.vars, CancelFlag: j.cancelFlag,
	}
	if !j.finished.IsZero() {
		v.Finished = &j.finished
	}
	if j.status == "running" || over(j.status) {
		v.ExecutionNode = "aap-ee-1"
	}
	return v
}

func over(status string) bool {
	return slices.Contains([]string{"successful", "failed", "error", "canceled"}, status)
}

// find gives the view of a job of the right kind: a workflow's job is not found among the plain ones.
func (c *Controller) find(r *http.Request, workflow bool) (*job, view, bool) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	c.mu.Lock()
	defer c.mu.Unlock()
	j, ok := c.jobs[id]
	if err != nil || !ok || j.template.Workflow != workflow {
		return nil, view{}, false
	}
	return j, j.view(), true
}

func (c *Controller) read(w http.ResponseWriter, r *http.Request, workflow bool) {
	_, v, ok := c.find(r, workflow)
	if !ok {
		notFound(w)
		return
	}
	send(w, http.StatusOK, v)
}

// events shows the task that failed, if one did; plain jobs have events, workflows' don't.
func (c *Controller) events(w http.ResponseWriter, r *http.Request, workflow bool) {
	j, _, ok := c.find(r, workflow)
	if !ok || workflow {
		notFound(w)
		return
	}
	c.mu.Lock()
	failure := j.failure
	c.mu.Unlock()
	results := []map[string]any{}
	if before, words, ok := strings.Cut(failure, "] failed: "); ok {
		results = append(results, map[string]any{
			"event": "runner_on_failed", "task": strings.TrimPrefix(before, "TASK ["), "event_data": map[string]any{"res": map[string]any{"msg": words}},
		})
	}
	send(w, http.StatusOK, map[string]any{"count": len(results), "next": nil, "previous": nil, "results": results})
}

func (c *Controller) canCancel(w http.ResponseWriter, r *http.Request, workflow bool) {
	_, v, ok := c.find(r, workflow)
	if !ok {
		notFound(w)
		return
	}
	send(w, http.StatusOK, map[string]bool{"can_cancel": !over(v.Status)})
}

// cancel is awx/api/generics.py's GenericCancelView: 202, or 405 where the job is over.
func (c *Controller) cancel(w http.ResponseWriter, r *http.Request, workflow bool) {
	j, v, ok := c.find(r, workflow)
	switch {
	case !ok:
		notFound(w)
		return
	case over(v.Status):
		send(w, http.StatusMethodNotAllowed, map[string]string{"detail": `Method "POST" not allowed.`})
		return
	}
	c.mu.Lock()
	j.cancelFlag = true
	c.mu.Unlock()
	if j.how != hubsim.IgnoreCancel && j.how != hubsim.HangOnCancel || j.template.Deletes {
		j.interrupt(context.Canceled)
	}
	w.WriteHeader(http.StatusAccepted)
}

// hangTimes is how many times as long as its playbook a job goes on that hangs.
const hangTimes = 20

// hangs says whether nobody notices that the job's playbook has ended: its cancel was accepted before.
func (c *Controller) hangs(j *job) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return j.cancelFlag && j.how == hubsim.HangOnCancel && !j.template.Deletes
}

// list shows jobs, newest first, page by page.
func (c *Controller) list(w http.ResponseWriter, r *http.Request, workflow bool) {
	q := r.URL.Query()
	since, _ := time.Parse(time.RFC3339, q.Get("created__gte"))
	template, _ := strconv.ParseInt(q.Get("unified_job_template"), 10, 64)
	page, _ := strconv.Atoi(q.Get("page"))
	page = max(1, page)
	var all []view
	c.mu.Lock()
	for _, j := range c.jobs {
		if j.template.Workflow == workflow && !j.created.Before(since) && (template == 0 || j.template.ID == template) {
			all = append(all, j.view())
		}
	}
	c.mu.Unlock()
	slices.SortFunc(all, func(a, b view) int { return int(b.ID - a.ID) })
	from := min((page-1)*c.config.PageSize, len(all))
	until := min(from+c.config.PageSize, len(all))
	var next any
	if until < len(all) {
		q.Set("page", fmt.Sprint(page+1))
		next = r.URL.Path + "?" + q.Encode()
	}
	send(w, http.StatusOK, map[string]any{"count": len(all), "next": next, "previous": nil, "results": append([]view{}, all[from:until]...)})
}
