// Package hub reads and writes the custom resource that stands for an allocation on a Kubernetes API:
// the marks that playbooks leave on it, the status that others read there, and the virtual machines
// that belong to it.
package hub

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Names on the resource (osac-operator, internal/controller/computeinstance_names.go).
const (
	Group               = "osac.openshift.io"
	BaseFinalizer       = Group + "/computeinstance"     // the controller's: set at creation, removed last
	PlaybookFinalizer   = Group + "/computeinstance-aap" // the create playbook's; the delete playbook removes it
	ReconciledVersion   = Group + "/reconciled-config-version"
	AllocationLabel     = Group + "/computeinstance-uuid"
	VirtualMachineLabel = Group + "/computeinstance" // on the virtual machine: the resource's name
	resources           = "/apis/" + Group + "/v1alpha1/namespaces/%s/computeinstances"
	virtualMachines     = "/apis/kubevirt.io/v1/virtualmachines?labelSelector="
	mergePatch          = "application/merge-patch+json"
	maxHistory          = 10 // jobs kept in the status
	conflictTries       = 5
)

// Resource is the part of a ComputeInstance that matters here.
type Resource struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Metadata   Metadata `json:"metadata"`
	Spec       Spec     `json:"spec"`
	Status     Status   `json:"status"`
}

// Metadata is the usual one.
type Metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               string            `json:"uid,omitempty"`
	ResourceVersion   string            `json:"resourceVersion,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
	Finalizers        []string          `json:"finalizers,omitempty"`
	DeletionTimestamp string            `json:"deletionTimestamp,omitempty"`
}

// Has reports whether the resource carries the finalizer.
func (m Metadata) Has(finalizer string) bool {
	for _, f := range m.Finalizers {
		if f == finalizer {
			return true
		}
	}
	return false
}

// Spec is what is wanted.
type Spec struct {
	TemplateID string `json:"templateID"`
	Pool       string `json:"pool,omitempty"`
}

// Status is what the controller shows.
type Status struct {
	Phase                string    `json:"phase,omitempty"`
	DesiredConfigVersion string    `json:"desiredConfigVersion,omitempty"`
	ProvisioningJobs     []JobView `json:"provisioningJobs,omitempty"`
}

// JobView is one job as the resource shows it.
type JobView struct {
	JobID                  string `json:"jobID"`
	Type                   string `json:"type"`
	Timestamp              string `json:"timestamp"`
	State                  string `json:"state"`
	Message                string `json:"message"`
	BlockDeletionOnFailure bool   `json:"blockDeletionOnFailure"`
	ConfigVersion          string `json:"configVersion"`
}

// Marks are what the resource says of the playbooks' work.
type Marks struct {
	Exists     bool
	Deleting   bool
	Playbook   bool   // the playbooks' finalizer is set: the create playbook has begun
	Reconciled string // configuration version that the create playbook has brought about
}

// Hub is one namespace of one Kubernetes API.
type Hub struct {
	caller    *provider.Caller
	namespace string
}

// Open makes a hub: emitter has the spans of its requests.
func Open(e provider.Endpoint, namespace string, emitter *telemetry.Emitter) (*Hub, error) {
	c, err := provider.NewCaller(e, emitter)
	if err != nil {
		return nil, err
	}
	return &Hub{c, namespace}, nil
}

// Close ends idle connections.
func (h *Hub) Close() { h.caller.Close() }

// Name is the resource's name: an allocation's id, as Kubernetes allows it.
func Name(allocation string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '-'
	}, strings.ToLower(allocation))
}

func (h *Hub) path(name string) string {
	base := fmt.Sprintf(resources, url.PathEscape(h.namespace))
	if name == "" {
		return base
	}
	return base + "/" + url.PathEscape(name)
}

// Ensure makes the allocation's resource, or reads the one that is there.
func (h *Hub) Ensure(ctx context.Context, r provider.Request) (Resource, error) {
	want := Resource{
		APIVersion: Group + "/v1alpha1", Kind: "ComputeInstance",
		Metadata: Metadata{
			Name: Name(r.AllocationID), Namespace: h.namespace, Finalizers: []string{BaseFinalizer},
			Labels: map[string]string{AllocationLabel: r.AllocationID},
		},
		Spec:   Spec{TemplateID: r.Template, Pool: r.Pool},
		Status: Status{Phase: "Starting", DesiredConfigVersion: r.ConfigVersion},
	}
	var have Resource
	err := h.caller.Call(ctx, "create resource", http.MethodPost, h.path(""), want, &have)
	if provider.KindOf(err) == provider.Refused { // 409: it is there
		have, _, err = h.Get(ctx, r.AllocationID)
	}
	return have, err
}

// Get reads the allocation's resource; found is false where there is none.
func (h *Hub) Get(ctx context.Context, allocation string) (r Resource, found bool, err error) {
	err = h.caller.Call(ctx, "read resource", http.MethodGet, h.path(Name(allocation)), nil, &r)
	if provider.KindOf(err) == provider.NotFound {
		return r, false, nil
	}
	return r, err == nil, err
}

// Marks reads what the playbooks left.
func (h *Hub) Marks(ctx context.Context, allocation string) (Marks, error) {
	r, found, err := h.Get(ctx, allocation)
	if err != nil || !found {
		return Marks{}, err
	}
	m := r.Metadata
	return Marks{Exists: true, Deleting: m.DeletionTimestamp != "", Playbook: m.Has(PlaybookFinalizer), Reconciled: m.Annotations[ReconciledVersion]}, nil
}

// Delete asks for the resource's end: from then on nobody can add a finalizer to it. It goes when the
// last finalizer goes.
func (h *Hub) Delete(ctx context.Context, allocation string) error {
	err := h.caller.Call(ctx, "delete resource", http.MethodDelete, h.path(Name(allocation)), nil, nil)
	if provider.KindOf(err) == provider.NotFound {
		return nil
	}
	return err
}

// LetGo removes the controller's own finalizer, so that a deleted resource disappears.
func (h *Hub) LetGo(ctx context.Context, allocation string) error {
	return h.edit(ctx, allocation, func(r *Resource) any {
		keep := []string{}
		for _, f := range r.Metadata.Finalizers {
			if f != BaseFinalizer {
				keep = append(keep, f)
			}
		}
		return map[string]any{"metadata": map[string]any{"resourceVersion": r.Metadata.ResourceVersion, "finalizers": keep}}
	})
}

// Show writes a job into the resource's status and gives what then stands there.
func (h *Hub) Show(ctx context.Context, j provider.Job, s provider.Status, blocks bool) (shown provider.Status, err error) {
	view := JobView{
		JobID: j.ID, Type: j.Operation, Timestamp: time.Now().UTC().Format(time.RFC3339), State: string(s.State), Message: s.Message,
		BlockDeletionOnFailure: blocks, ConfigVersion: j.ConfigVersion,
	}
	err = h.edit(ctx, j.AllocationID, func(r *Resource) any {
		jobs := r.Status.ProvisioningJobs
		at := len(jobs)
		for i, one := range jobs { // webhook jobs share their id: one of each type
			if one.JobID == view.JobID && one.Type == view.Type {
				at, view.Timestamp = i, one.Timestamp
			}
		}
		if at == len(jobs) {
			jobs = append(jobs, view)
		}
		jobs[at] = view
		jobs = jobs[max(0, len(jobs)-maxHistory):]
		return map[string]any{
			"metadata": map[string]any{"resourceVersion": r.Metadata.ResourceVersion},
			"status":   map[string]any{"provisioningJobs": jobs},
		}
	})
	return provider.Status{State: provider.State(view.State), Message: view.Message}, err
}

// edit patches the resource; one that is gone is left alone, one that somebody else has changed in
// between is read again.
func (h *Hub) edit(ctx context.Context, allocation string, patch func(*Resource) any) error {
	var err error
	for range conflictTries {
		r, found, e := h.Get(ctx, allocation)
		if e != nil || !found {
			return e
		}
		err = h.caller.Call(ctx, "patch resource", http.MethodPatch, h.path(r.Metadata.Name), patch(&r), nil, "Content-Type", mergePatch)
		switch provider.KindOf(err) {
		case provider.NotFound:
			return nil
		case provider.Refused: // 409
			continue
		}
		return err
	}
	return err
}

// VirtualMachines counts those that carry the allocation's label, in any namespace.
func (h *Hub) VirtualMachines(ctx context.Context, allocation string) (int, error) {
	var list struct {
		Items []struct{} `json:"items"`
	}
	err := h.caller.Call(ctx, "list virtual machines", http.MethodGet, virtualMachines+url.QueryEscape(VirtualMachineLabel+"="+Name(allocation)), nil, &list)
	return len(list.Items), err
}

// Absent removes the deleted resource and says what shows that nothing is left; "" where something is.
func (h *Hub) Absent(ctx context.Context, allocation string) (proof string, err error) {
	if err := h.LetGo(ctx, allocation); err != nil {
		return "", err
	}
	if _, found, err := h.Get(ctx, allocation); err != nil || found {
		return "", err
	}
	n, err := h.VirtualMachines(ctx, allocation)
	if err != nil || n > 0 {
		return "", err
	}
	return fmt.Sprintf("resource %s is gone, no virtual machine is labelled with it", Name(allocation)), nil
}
