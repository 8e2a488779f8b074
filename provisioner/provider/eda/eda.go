// Package eda has a rulebook activation run playbooks, by posting to its webhook. The webhook's yes means
// queued, not launched; nobody can be asked how a job stands. What is known comes from the marks that
// playbooks leave on the resource, so the job's state stays Unknown, rightly.
package eda

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/provider/hub"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Name is the provider's kind.
const Name = "eda"

// jobID is the same for all jobs: the webhook gives none.
const (
	jobID = "eda-webhook"
	kind  = "webhook"
)

// unobservable is what is said of every job that is not known to be over.
const unobservable = "the webhook accepts events and cannot be asked about jobs"

// Webhook is one activation's.
type Webhook struct {
	config Config
	caller *provider.Caller
	hub    *hub.Hub
}

var _ provider.Provider = (*Webhook)(nil)

// Open makes a webhook: emitter has the spans of its requests.
func Open(c Config, emitter *telemetry.Emitter) (*Webhook, error) {
	caller, err := provider.NewCaller(c.Webhook, emitter)
	if err != nil {
		return nil, fmt.Errorf("eda %s: %w", c.Instance, err)
	}
	h, err := hub.Open(c.Hub, c.Namespace, emitter)
	if err != nil {
		return nil, fmt.Errorf("eda %s: hub: %w", c.Instance, err)
	}
	return &Webhook{c, caller, h}, nil
}

// Close ends idle connections.
func (w *Webhook) Close() {
	w.caller.Close()
	w.hub.Close()
}

// Identity is eda and the configured instance.
func (w *Webhook) Identity() provider.Identity { return w.config.Identity() }

// Traits say that nothing can be canceled, and that a failed deprovision does not block.
func (w *Webhook) Traits() provider.Traits {
	return provider.Traits{Poll: w.config.Watch, Settle: w.config.Settle, JobTime: w.config.JobTime}
}

// Launch posts the resource. A deprovision first marks the resource as deleted, which keeps a create
// playbook that has not begun yet from beginning, and is skipped where none has begun.
func (w *Webhook) Launch(ctx context.Context, r provider.Request) (provider.Launch, error) {
	path := w.config.Create
	var resource hub.Resource
	var err error
	if r.Operation == provider.Deprovision {
		path = w.config.Delete
		if err := w.hub.Delete(ctx, r.AllocationID); err != nil {
			return provider.Launch{}, provider.NotSent(err)
		}
		var found bool
		if resource, found, err = w.hub.Get(ctx, r.AllocationID); err == nil && (!found || !resource.Metadata.Has(hub.PlaybookFinalizer)) {
			return w.skip(ctx, r)
		}
	} else {
		resource, err = w.hub.Ensure(ctx, r)
	}
	if err != nil {
		return provider.Launch{}, provider.NotSent(err)
	}
	// The body of the answer is the path, as text: nothing to read.
	if err := w.caller.Call(ctx, "post "+path, http.MethodPost, path, resource, nil); err != nil {
		return provider.Launch{}, err
	}
	return provider.Launch{ID: jobID, Kind: kind, Status: queued(r.Operation)}, nil
}

// queued: the operator calls it Running from the moment of the webhook's yes.
func queued(string) provider.Status {
	return provider.Status{State: provider.Running, Raw: "queued", Message: "event accepted by the webhook"}
}

func (w *Webhook) skip(ctx context.Context, r provider.Request) (provider.Launch, error) {
	s := provider.Status{State: provider.Succeeded, Raw: "skipped", Message: "skipped: no playbook had begun"}
	proof, err := w.hub.Absent(ctx, r.AllocationID)
	if err != nil {
		return provider.Launch{}, provider.NotSent(err)
	}
	if s.Result = provider.Lost; proof != "" {
		s.Result, s.Observed, s.Proof = provider.OK, provider.ObservedAbsent, proof
	} else {
		s.State, s.Message = provider.Failed, "skipped: no playbook had begun, but something of it is there"
	}
	return provider.Launch{ID: jobID, Kind: kind, Skipped: true, Status: s}, nil
}

// Adopt looks for the playbooks' marks. Their absence proves nothing: the event may wait in a queue. So
// an event whose answer was lost counts as posted; it is never posted again.
func (w *Webhook) Adopt(ctx context.Context, r provider.Request, _ time.Time) (l provider.Launch, found, sure bool, err error) {
	m, err := w.hub.Marks(ctx, r.AllocationID)
	if err != nil {
		return l, false, false, err
	}
	l = provider.Launch{ID: jobID, Kind: kind, Status: unknown()}
	if r.Operation == provider.Provision {
		found = m.Playbook || m.Reconciled == r.ConfigVersion
	} else {
		found = !m.Playbook
	}
	return l, found, false, nil
}

// Poll looks at the marks, as there is nobody to ask.
func (w *Webhook) Poll(ctx context.Context, j provider.Job) (provider.Status, error) {
	m, err := w.hub.Marks(ctx, j.AllocationID)
	if err != nil {
		return provider.Status{}, err
	}
	s := unknown()
	switch {
	case j.Operation == provider.Provision:
		if m.Reconciled != "" && m.Reconciled == j.ConfigVersion { // the job stays Unknown; the resource is ready
			s.Result, s.Observed, s.Proof = provider.OK, provider.ObservedRunning, "reconciled-config-version "+m.Reconciled
		} else if begun := m.Playbook || m.Reconciled != ""; !begun && w.config.BeginTime > 0 && j.Age >= w.config.BeginTime {
			return lost(j.Age), nil
		}
		return s, nil
	case m.Playbook:
		return provider.Status{State: provider.Running, Raw: "finalizer present", Message: "waiting for the delete playbook to remove its finalizer"}, nil
	}
	proof, err := w.hub.Absent(ctx, j.AllocationID)
	if err != nil {
		return provider.Status{}, err
	}
	s = provider.Status{State: provider.Succeeded, Raw: "finalizer removed", Message: "the delete playbook removed its finalizer"}
	if proof != "" {
		s.Result, s.Observed, s.Proof = provider.OK, provider.ObservedAbsent, proof
	}
	return s, nil
}

// lost: the webhook's yes, or a post that was written down and maybe never made, is all there is. The event is not
// posted again, for it may still wait in a queue; and should its playbook begin after all, it finds a resource that is
// being deleted. Whoever wants the resource asks anew, under another name.
func lost(age time.Duration) provider.Status {
	s := unknown()
	s.Result, s.Explanation = provider.Lost, fmt.Sprintf("no playbook has begun in the %s since its event was posted", age.Round(time.Second))
	s.Message = s.Raw + ": " + s.Explanation
	return s
}

func unknown() provider.Status {
	return provider.Status{State: provider.Unknown, Raw: "unknown", Message: "EDA provider does not support status polling", Explanation: unobservable}
}

// Cancel cannot be done; it is an error to ask.
func (w *Webhook) Cancel(context.Context, provider.Job) (provider.Acknowledgement, error) {
	return "", &provider.Failure{Op: "cancel", Kind: provider.NotAllowed, Detail: unobservable}
}

// Project writes the job into the resource's status.
func (w *Webhook) Project(ctx context.Context, j provider.Job, s provider.Status) (provider.Status, error) {
	return w.hub.Show(ctx, j, s, false)
}
