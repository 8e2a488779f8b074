// Package aapsim is an automation controller (AAP, AWX) as its REST API shows it: templates, jobs with
// every status and explanation, cancel with 202 and 405, purged jobs, pages, tokens, and the ways in which
// such an API fails. The templates run the hub's playbooks.
package aapsim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab/hubsim"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Template is one job template, or workflow job template.
type Template struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	Workflow bool   `json:"-"`
	Deletes  bool   `json:"-"` // runs the delete playbook
}

// Config says how a controller behaves.
type Config struct {
	Instance  string // name in provider_job
	Token     string
	Templates []Template
	PageSize  int           // of lists, whatever the caller wants
	Queue     time.Duration // from launch to waiting, and from there to running
	// Takes is how long a playbook runs; nil: a millisecond.
	Takes func(resource string, deletes bool) time.Duration
	// Launching is how long the API takes to answer a launch; nil: no time.
	Launching func(deletes bool) time.Duration
}

// Controller is safe for use by several goroutines. Close it: its jobs run in the background.
type Controller struct {
	config  Config
	hub     *hubsim.Hub
	emitter *telemetry.Emitter
	ctx     context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup

	mu       sync.Mutex
	fault    Fault
	bare     bool // no template is published
	last     int64
	jobs     map[int64]*job
	launches map[string]int // resource and playbook → launches
}

// New makes a controller with a create and a delete template; says speaks for it, nil: silent.
func New(c Config, h *hubsim.Hub, emitter *telemetry.Emitter) *Controller {
	if c.Templates == nil {
		c.Templates = []Template{{ID: 11, Name: "osac-create-compute-instance"}, {ID: 12, Name: "osac-delete-compute-instance", Deletes: true}}
	}
	if c.PageSize == 0 {
		c.PageSize = 25
	}
	if c.Takes == nil {
		c.Takes = func(string, bool) time.Duration { return time.Millisecond }
	}
	if c.Launching == nil {
		c.Launching = func(bool) time.Duration { return 0 }
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Controller{config: c, hub: h, emitter: emitter, ctx: ctx, stop: stop, last: 100, jobs: map[int64]*job{}, launches: map[string]int{}}
}

// Close ends all jobs and waits for them.
func (c *Controller) Close() {
	c.stop()
	c.work.Wait()
}

// Launches counts the launches for a resource.
func (c *Controller) Launches(resource string, deletes bool) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.launches[fmt.Sprint(resource, deletes)]
}

// Unpublish has the controller forget its templates, as after a rollout whose publishing step failed.
func (c *Controller) Unpublish(v bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bare = v
}

func (c *Controller) published() []Template {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.bare {
		return nil
	}
	return c.config.Templates
}

// Handler serves the API below /api/controller.
func (c *Controller) Handler() http.Handler {
	m := http.NewServeMux()
	for _, kind := range []string{"job", "workflow_job"} {
		base, workflow := "/api/controller/v2/"+kind, kind == "workflow_job"
		m.HandleFunc("GET "+base+"_templates/", func(w http.ResponseWriter, r *http.Request) { c.templates(w, r, workflow) })
		m.HandleFunc("POST "+base+"_templates/{id}/launch/", func(w http.ResponseWriter, r *http.Request) { c.launch(w, r, workflow) })
		m.HandleFunc("GET "+base+"s/", func(w http.ResponseWriter, r *http.Request) { c.list(w, r, workflow) })
		m.HandleFunc("GET "+base+"s/{id}/", func(w http.ResponseWriter, r *http.Request) { c.read(w, r, workflow) })
		m.HandleFunc("GET "+base+"s/{id}/job_events/", func(w http.ResponseWriter, r *http.Request) { c.events(w, r, workflow) })
		m.HandleFunc("GET "+base+"s/{id}/cancel/", func(w http.ResponseWriter, r *http.Request) { c.canCancel(w, r, workflow) })
		m.HandleFunc("POST "+base+"s/{id}/cancel/", func(w http.ResponseWriter, r *http.Request) { c.cancel(w, r, workflow) })
	}
	authorized := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c.config.Token != "" && r.Header.Get("Authorization") != "Bearer "+c.config.Token {
			c.emitter.Log(c.context(r), telemetry.Warn, "401 "+r.Method+" "+r.URL.Path)
			send(w, http.StatusUnauthorized, map[string]string{"detail": "Authentication credentials were not provided. To establish a login session, visit /api/login/."})
			return
		}
		m.ServeHTTP(w, r)
	})
	return c.faulty(authorized)
}

func (c *Controller) context(r *http.Request) context.Context {
	return telemetry.Extract(r.Context(), r.Header)
}

func (c *Controller) templates(w http.ResponseWriter, r *http.Request, workflow bool) {
	name, found := r.URL.Query().Get("name"), []Template{}
	for _, t := range c.published() {
		if t.Workflow == workflow && (name == "" || t.Name == name) {
			found = append(found, t)
		}
	}
	// What the proxy before the controller writes of each request; whose it was, it does not know.
	c.emitter.Log(context.Background(), telemetry.Info, fmt.Sprintf("%q 200 count=%d", r.Method+" "+r.URL.RequestURI()+" HTTP/1.1", len(found)),
		slog.String(semconv.HTTPRequestMethod, r.Method), slog.String(semconv.URLPath, r.URL.Path), slog.Int(semconv.HTTPStatusCode, http.StatusOK))
	send(w, http.StatusOK, map[string]any{"count": len(found), "next": nil, "previous": nil, "results": found})
}

func (c *Controller) launch(w http.ResponseWriter, r *http.Request, workflow bool) {
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	for _, t := range c.published() {
		if t.ID != id || t.Workflow != workflow {
			continue
		}
		var in struct {
			ExtraVars json.RawMessage `json:"extra_vars"`
		}
		var vars struct {
			EDA struct {
				Event struct {
					Payload struct {
						Metadata struct{ Name string }
						Spec     struct{ TemplateID string }
					}
				}
			} `json:"ansible_eda"`
		}
		if json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&in) != nil || json.Unmarshal(in.ExtraVars, &vars) != nil {
			send(w, http.StatusBadRequest, map[string]any{"detail": "JSON parse error"})
			return
		}
		payload := vars.EDA.Event.Payload
		if payload.Metadata.Name == "" {
			send(w, http.StatusBadRequest, map[string]any{"variables_needed_to_start": []string{"'ansible_eda' value missing"}})
			return
		}
		if !pause(c.ctx, c.config.Launching(t.Deletes)) {
			return
		}
		j := c.start(c.context(r), t, payload.Metadata.Name, c.hub.How(payload.Spec.TemplateID), string(in.ExtraVars))
		send(w, http.StatusCreated, j)
		return
	}
	notFound(w)
}

// start queues a job and lets it run.
func (c *Controller) start(caller context.Context, t Template, resource, how, vars string) view {
	c.mu.Lock()
	c.last++
	j := &job{
		id: c.last, template: t, resource: resource, how: how, vars: vars, status: "new", created: time.Now(), launcher: telemetry.Carry(caller),
	}
	j.ctx, j.interrupt = context.WithCancelCause(c.ctx)
	c.jobs[j.id] = j
	c.launches[fmt.Sprint(resource, t.Deletes)]++
	v := j.view()
	c.mu.Unlock()
	c.tell(j, "pending")
	c.work.Go(func() { c.run(j) })
	return v
}

// What the controller's scheduler says of jobs that it does not start (awx/main/scheduler/task_manager.py).
var neverScheduled = map[string]string{
	hubsim.PendingCapacity: "This job is not ready to start because there is not enough available capacity.",
	hubsim.PendingOther:    "waiting for project_update-97 to finish",
}

// What it says of jobs that it ended itself, which are failed then (awx/main/tasks/jobs.py).
var endedBySystem = map[string]string{
	hubsim.JobTimeout: "Job terminated due to timeout",
	hubsim.ShutDown:   "Task was canceled due to receiving a shutdown signal.",
}

// run takes a job through its statuses.
func (c *Controller) run(j *job) {
	defer j.interrupt(nil)
	creates := !j.template.Deletes
	c.set(j, "pending", "")
	if why := neverScheduled[j.how]; why != "" && creates {
		c.set(j, "pending", why)
		<-j.ctx.Done()
	}
	if !pause(j.ctx, c.config.Queue/2) {
		c.set(j, "canceled", "")
		return
	}
	c.set(j, "waiting", "")
	if !pause(j.ctx, c.config.Queue-c.config.Queue/2) {
		c.set(j, "canceled", "")
		return
	}
	if j.how == hubsim.ErrorStart && creates {
		c.set(j, "error", "Task was marked as running but was not present in the job queue, so it has been marked as failed.")
		return
	}
	c.set(j, "running", "")
	if j.how == hubsim.PurgeRunning && creates {
		c.mu.Lock()
		delete(c.jobs, j.id)
		c.mu.Unlock()
	}
	if why := endedBySystem[j.how]; why != "" && creates {
		c.set(j, "failed", why)
		return
	}
	var err error
	if takes := c.config.Takes(j.resource, j.template.Deletes); creates {
		err = c.hub.Create(j.ctx, j.resource, takes)
	} else {
		err = c.hub.Delete(j.ctx, j.resource, takes)
	}
	if c.hangs(j) {
		pause(c.ctx, hangTimes*c.config.Takes(j.resource, j.template.Deletes))
	}
	switch {
	case err == nil:
		c.set(j, "successful", "")
	case errors.Is(err, context.Canceled):
		c.set(j, "canceled", "")
	default: // an ordinary playbook failure: the reason is in the job's events only
		c.mu.Lock()
		j.failure = err.Error()
		c.mu.Unlock()
		c.set(j, "failed", "")
		c.emitter.Log(c.life(j), telemetry.Error, fmt.Sprintf("awx.main.tasks job %d (%s): %v", j.id, "failed", err), slog.String(semconv.ProviderJob, c.name(j)))
	}
	if j.how == hubsim.PurgeJobs {
		c.mu.Lock()
		delete(c.jobs, j.id)
		c.mu.Unlock()
	}
}

func (c *Controller) set(j *job, status, explanation string) {
	c.mu.Lock()
	changed := j.status != status
	j.status, j.explanation = status, explanation
	if over(status) {
		j.finished = time.Now()
	}
	c.mu.Unlock()
	if changed {
		c.tell(j, status)
	}
}

// tell is the line that the controller's own log has of a job.
func (c *Controller) tell(j *job, status string) {
	severity := telemetry.Info
	if status == "failed" || status == "error" {
		severity = telemetry.Error
	}
	c.emitter.Log(c.life(j), severity, fmt.Sprintf("awx.main.dispatch job %d (%s) is now %s", j.id, j.template.Name, status), slog.String(semconv.ProviderJob, c.name(j)))
}

func (c *Controller) life(j *job) context.Context { return j.launcher.Resume(context.Background()) }

func (c *Controller) name(j *job) string {
	return fmt.Sprintf("aap/%s/%s/%d", c.config.Instance, j.kind(), j.id)
}

func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func send(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func notFound(w http.ResponseWriter) {
	send(w, http.StatusNotFound, map[string]string{"detail": "The requested resource could not be found."})
}
