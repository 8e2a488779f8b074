package hubsim

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/faultline-io/faultline/provisioner/provider/hub"
)

// Template names choose how the work for a resource goes: one simulation for tests, documents and the
// lab. Templates lists them all; a name that is not among them is work that goes well, too.
const (
	Well            = "ocp_virt_vm"      // all goes well
	FailQuota       = "fail_quota"       // the create playbook fails
	FailTask        = "fail_task"        // a task of the create playbook fails
	PurgeRunning    = "purge_running"    // the create job is forgotten while it runs
	ErrorStart      = "error_start"      // the create job cannot be run at all
	PendingCapacity = "pending_capacity" // the create job is never scheduled
	PendingOther    = "pending_other"    // the create job waits for another job for ever
	JobTimeout      = "job_timeout"      // the create job is ended by its template's time limit
	ShutDown        = "shut_down"        // the controller is shut down while the create job runs
	RunForever      = "run_forever"      // the create playbook does not come to an end
	IgnoreCancel    = "ignore_cancel"    // a cancel is accepted, and the playbook goes on to its end
	HangOnCancel    = "hang_on_cancel"   // a cancel is accepted, and the job goes on long after its playbook has ended
	NoAnnotation    = "no_annotation"    // the create playbook ends well and leaves no mark of it
	LateMachine     = "late_machine"     // what was sent to a host before a cancel is done after it
	DeleteFails     = "delete_fails"     // the delete playbook fails
	PurgeJobs       = "purge_jobs"       // jobs are forgotten as soon as they are over
)

// Templates lists the names that mean something here.
func Templates() []string {
	return []string{
		Well, FailQuota, FailTask, PurgeRunning, ErrorStart, PendingCapacity, PendingOther, JobTimeout, ShutDown, RunForever, IgnoreCancel, HangOnCancel, NoAnnotation, LateMachine, DeleteFails, PurgeJobs,
	}
}

// ErrQuota is what the create playbook of FailQuota fails with.
var ErrQuota = errors.New("TASK [create virtual machine] failed: admission webhook denied the request: exceeded quota: compute")

var errTask = errors.New("TASK [wait for virtual machine] failed: timed out waiting for the condition")

// Create is the create playbook. It begins with its finalizer, which fails once the resource is gone or
// going; it ends with the virtual machine and with the mark of the configuration that it has brought about. ctx's
// end is the interrupt of a cancel: no further task begins.
func (h *Hub) Create(ctx context.Context, name string, takes time.Duration) error {
	r, ok := h.Resource(name)
	if !ok {
		return fmt.Errorf("TASK [set finalizer] failed: computeinstances %s not found", name)
	}
	how := h.How(r.Spec.TemplateID)
	release, _ := h.hold(name)
	if release == nil {
		return errors.New("TASK [acquire lease] failed: Lease conflict: another job works on " + name)
	}
	defer release()
	if err := h.edit(name, func(r *hub.Resource) {
		if !r.Metadata.Has(hub.PlaybookFinalizer) {
			r.Metadata.Finalizers = append(r.Metadata.Finalizers, hub.PlaybookFinalizer)
		}
	}); err != nil {
		return fmt.Errorf("TASK [set finalizer] failed: %w", err)
	}
	if how == RunForever {
		<-ctx.Done()
	}
	if !sleep(ctx, takes/2) {
		if how == LateMachine {
			h.Start(name)
		}
		return context.Cause(ctx)
	}
	switch how {
	case FailQuota:
		return ErrQuota
	case FailTask:
		return errTask
	}
	h.Start(name)
	if !sleep(ctx, takes-takes/2) {
		return context.Cause(ctx)
	}
	if how == NoAnnotation {
		return nil
	}
	return h.edit(name, func(r *hub.Resource) {
		setAnnotation(r, hub.ReconciledVersion, &r.Status.DesiredConfigVersion)
		r.Status.Phase = "Running"
	})
}

// Delete is the delete playbook: it waits for the lease that a create playbook may hold; then the virtual machine
// goes, then the finalizer.
func (h *Hub) Delete(ctx context.Context, name string, takes time.Duration) error {
	release, held := h.hold(name)
	for release == nil {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-held:
		}
		release, held = h.hold(name)
	}
	defer release()
	if !sleep(ctx, takes) {
		return context.Cause(ctx)
	}
	r, ok := h.Resource(name)
	if ok && h.How(r.Spec.TemplateID) == DeleteFails {
		return errors.New("TASK [delete virtual machine] failed: timed out waiting for the condition")
	}
	h.mu.Lock()
	for m, owner := range h.vms {
		if owner == name {
			delete(h.vms, m)
		}
	}
	h.mu.Unlock()
	if !ok {
		return nil
	}
	return h.edit(name, func(r *hub.Resource) {
		var keep []string
		for _, f := range r.Metadata.Finalizers {
			if f != hub.PlaybookFinalizer {
				keep = append(keep, f)
			}
		}
		r.Metadata.Finalizers = keep
	})
}

// hold takes the lease on a resource; where somebody has it, release is nil and held is closed when it is
// given back.
func (h *Hub) hold(name string) (release func(), held <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c, taken := h.leases[name]; taken {
		return nil, c
	}
	mine := make(chan struct{})
	h.leases[name] = mine
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.leases, name)
		close(mine)
	}, nil
}

// Start starts a resource's virtual machine, as a playbook does.
func (h *Hub) Start(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.vms["vm-"+name] = name
}

func (h *Hub) edit(name string, f func(*hub.Resource)) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	have, ok := h.resources[name]
	if !ok {
		return fmt.Errorf("computeinstances %s not found", name)
	}
	next := clone(have)
	f(&next)
	if why := h.replace(next); why != "" {
		return errors.New(why)
	}
	return nil
}

// sleep says whether the time went by before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return ctx.Err() == nil
	}
}
