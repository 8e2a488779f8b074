// Package aap has an automation controller (AAP, AWX) run playbooks, over its REST API. It launches job
// and workflow job templates, follows their jobs with the controller's own explanation, cancels them, and
// finds jobs again whose launch was not answered. What it sends as extra_vars is never kept.
package aap

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/provider/hub"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Name is the provider's kind.
const Name = "aap"

// Collections of jobs: a workflow's job is not among the plain ones.
const (
	kindJob      = "job"
	kindWorkflow = "workflow_job"
)

// launchKey is the variable under which a launch carries its key.
const launchKey = "faultline_launch_key"

// maxPages bounds the search for a job.
const maxPages = 20

// Controller is one automation controller.
type Controller struct {
	config Config
	caller *provider.Caller
	hub    *hub.Hub

	mu        sync.Mutex
	templates map[string]template
}

var _ provider.Provider = (*Controller)(nil)

// Open makes a controller: emitter has the spans of its requests. Nothing is asked yet.
func Open(c Config, emitter *telemetry.Emitter) (*Controller, error) {
	caller, err := provider.NewCaller(c.API, emitter)
	if err != nil {
		return nil, fmt.Errorf("aap %s: %w", c.Instance, err)
	}
	h, err := hub.Open(c.Hub, c.Namespace, emitter)
	if err != nil {
		return nil, fmt.Errorf("aap %s: hub: %w", c.Instance, err)
	}
	return &Controller{config: c, caller: caller, hub: h, templates: map[string]template{}}, nil
}

// Close ends idle connections.
func (c *Controller) Close() {
	c.caller.Close()
	c.hub.Close()
}

// Identity is aap and the configured instance.
func (c *Controller) Identity() provider.Identity { return c.config.Identity() }

// Traits say that jobs can be canceled, and that a failed deprovision blocks the release.
func (c *Controller) Traits() provider.Traits {
	return provider.Traits{Cancels: true, Blocks: true, Poll: c.config.Poll, Settle: c.caller.Timeout()}
}

// Launch starts the operation's template with the whole resource as its event, as a rulebook would.
func (c *Controller) Launch(ctx context.Context, r provider.Request) (provider.Launch, error) {
	resource, err := c.resource(ctx, r)
	if err != nil {
		return provider.Launch{}, provider.NotSent(err)
	}
	t, err := c.template(ctx, c.templateName(r.Operation))
	if err != nil {
		return provider.Launch{}, provider.NotSent(err)
	}
	body := map[string]any{"extra_vars": map[string]any{
		"ansible_eda": map[string]any{"event": map[string]any{"payload": resource}},
		launchKey:     r.Key,
	}}
	var launched struct {
		ID     int64  `json:"id"`
		Status string `json:"status"`
	}
	op := fmt.Sprintf("launch %s %d", t.kind, t.id)
	err = c.caller.Call(ctx, op, http.MethodPost, fmt.Sprintf("/v2/%s_templates/%d/launch/", t.kind, t.id), body, &launched)
	if provider.KindOf(err) == provider.NotFound { // made anew under another id: the name is looked up again next time
		c.forget(c.templateName(r.Operation))
	}
	if err != nil {
		return provider.Launch{}, err
	}
	if launched.ID <= 0 {
		return provider.Launch{}, &provider.Failure{Op: op, Kind: provider.BadReply, Sent: true, Detail: "no job id"}
	}
	return provider.Launch{ID: strconv.FormatInt(launched.ID, 10), Kind: t.kind, Status: provider.Status{
		State: provider.Pending, Raw: launched.Status, Message: "launched",
	}}, nil
}

// resource is made by a provision; a deprovision marks it as deleted first, and sends what is there.
func (c *Controller) resource(ctx context.Context, r provider.Request) (hub.Resource, error) {
	if r.Operation == provider.Provision {
		return c.hub.Ensure(ctx, r)
	}
	if err := c.hub.Delete(ctx, r.AllocationID); err != nil {
		return hub.Resource{}, err
	}
	have, found, err := c.hub.Get(ctx, r.AllocationID)
	if err == nil && !found { // the playbook knows by the name what to remove
		have.Metadata.Name, have.Metadata.Namespace = hub.Name(r.AllocationID), c.config.Namespace
	}
	return have, err
}

// Adopt searches the jobs that were created since for the one that carries the key.
func (c *Controller) Adopt(ctx context.Context, r provider.Request, since time.Time) (l provider.Launch, found, sure bool, err error) {
	t, err := c.template(ctx, c.templateName(r.Operation))
	if err != nil {
		return l, false, false, err
	}
	// A clock of the controller that is a little behind must not hide the job.
	from := since.Add(-5 * time.Minute).UTC().Format(time.RFC3339)
	next := fmt.Sprintf("/v2/%ss/?unified_job_template=%d&created__gte=%s&order_by=-id&page_size=200", t.kind, t.id, url.QueryEscape(from))
	for range maxPages {
		var page jobs
		if err := c.caller.Call(ctx, "list jobs", http.MethodGet, next, nil, &page); err != nil {
			return l, false, false, err
		}
		for _, j := range page.Results {
			if j.carries(r.Key) {
				return provider.Launch{ID: strconv.FormatInt(j.ID, 10), Kind: t.kind, Status: j.status()}, true, true, nil
			}
		}
		if page.Next == "" {
			return l, false, true, nil
		}
		u, err := url.Parse(page.Next)
		if err != nil {
			return l, false, false, &provider.Failure{Op: "list jobs", Kind: provider.BadReply, Detail: "next page", Err: err}
		}
		next = "/v2/" + t.kind + "s/?" + u.RawQuery // only the query: the host may be the controller's inner name
	}
	return l, false, false, nil
}

// Poll reads the job and, once it has succeeded, the resource: the job's word alone is no proof.
func (c *Controller) Poll(ctx context.Context, j provider.Job) (provider.Status, error) {
	var have job
	op := "read " + j.Kind + " " + j.ID
	err := c.caller.Call(ctx, op, http.MethodGet, "/v2/"+j.Kind+"s/"+url.PathEscape(j.ID)+"/", nil, &have)
	switch {
	case provider.KindOf(err) == provider.NotFound:
		s := provider.Status{State: provider.Unknown, Raw: "purged", Explanation: "the controller no longer knows the job"}
		s.Message = message(s.Raw, s.Explanation)
		return c.observe(ctx, j, s, provider.Lost)
	case err != nil:
		return provider.Status{}, err
	case strconv.FormatInt(have.ID, 10) != j.ID || have.Status == "":
		return provider.Status{}, &provider.Failure{Op: op, Kind: provider.BadReply, Detail: "another job, or none"}
	}
	if have.Status == "failed" && have.JobExplanation == "" {
		have.JobExplanation = c.failedTask(ctx, j)
	}
	s := have.status()
	switch s.State {
	case provider.Failed, provider.Canceled:
		s.Result = provider.Lost
	case provider.Succeeded:
		return c.observe(ctx, j, s, provider.Open)
	}
	return s, nil
}

// observe asks the resource whether the operation has brought about what it should; otherwise is the
// result where it has not.
func (c *Controller) observe(ctx context.Context, j provider.Job, s provider.Status, otherwise provider.Result) (provider.Status, error) {
	s.Result = otherwise
	if j.Operation == provider.Deprovision {
		proof, err := c.hub.Absent(ctx, j.AllocationID)
		if proof != "" {
			s.Result, s.Observed, s.Proof = provider.OK, provider.ObservedAbsent, proof
		}
		return s, err
	}
	marks, err := c.hub.Marks(ctx, j.AllocationID)
	if err == nil && marks.Reconciled == j.ConfigVersion {
		s.Result, s.Observed, s.Proof = provider.OK, provider.ObservedRunning, "reconciled-config-version "+marks.Reconciled
	}
	return s, err
}

// Cancel asks the controller to stop the job.
func (c *Controller) Cancel(ctx context.Context, j provider.Job) (provider.Acknowledgement, error) {
	err := c.caller.Call(ctx, "cancel "+j.Kind+" "+j.ID, http.MethodPost, "/v2/"+j.Kind+"s/"+url.PathEscape(j.ID)+"/cancel/", nil, nil)
	switch {
	case err == nil:
		return provider.Accepted, nil
	case provider.KindOf(err) == provider.NotAllowed:
		return provider.AlreadyOver, nil
	case provider.KindOf(err) == provider.NotFound:
		return provider.Gone, nil
	}
	return "", err
}

// Project writes the job into the resource's status.
func (c *Controller) Project(ctx context.Context, j provider.Job, s provider.Status) (provider.Status, error) {
	return c.hub.Show(ctx, j, s, true)
}
