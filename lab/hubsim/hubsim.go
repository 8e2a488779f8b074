// Package hubsim is a Kubernetes API as far as providers and playbooks need one: ComputeInstances with
// finalizers, annotations, optimistic locking and deletion in two phases, and virtual machines. The
// playbooks that the simulated providers run are here too, because all they do is done to the hub.
package hubsim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/faultline-io/faultline/provisioner/provider/hub"
)

// Hub is safe for use by several goroutines.
type Hub struct {
	token string

	mu        sync.Mutex
	version   int64
	resources map[string]*hub.Resource
	vms       map[string]string        // virtual machine → name of the resource it is labelled with
	leases    map[string]chan struct{} // resource → closed when its playbook ends
	watch     func(hub.Resource)
	how       string // chosen for all work that begins now; "": each resource's template says
}

// Choose has all work that begins from now on go as the template of that name does; "" ends it.
func (h *Hub) Choose(template string) { h.mu.Lock(); defer h.mu.Unlock(); h.how = template }

// How is the way in which work for a resource with a template goes.
func (h *Hub) How(template string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.how != "" {
		return h.how
	}
	return template
}

// New makes an empty hub. token is what callers must bear; empty: anyone may call.
func New(token string) *Hub {
	return &Hub{token: token, resources: map[string]*hub.Resource{}, vms: map[string]string{}, leases: map[string]chan struct{}{}}
}

// Watch has f told of every state that a resource's status passes through. One watcher at a time; it must not call back.
func (h *Hub) Watch(f func(hub.Resource)) { h.mu.Lock(); defer h.mu.Unlock(); h.watch = f }

// Handler serves the API.
func (h *Hub) Handler() http.Handler {
	const base = "/apis/" + hub.Group + "/v1alpha1/namespaces/{namespace}/computeinstances"
	m := http.NewServeMux()
	m.HandleFunc("POST "+base, h.create)
	m.HandleFunc("GET "+base+"/{name}", h.get)
	m.HandleFunc("PATCH "+base+"/{name}", h.patch)
	m.HandleFunc("DELETE "+base+"/{name}", h.remove)
	m.HandleFunc("GET /apis/kubevirt.io/v1/virtualmachines", h.list)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.token != "" && r.Header.Get("Authorization") != "Bearer "+h.token {
			answer(w, http.StatusUnauthorized, "Unauthorized")
			return
		}
		m.ServeHTTP(w, r)
	})
}

// Resource reads one; ok is false where there is none.
func (h *Hub) Resource(name string) (r hub.Resource, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	have, ok := h.resources[name]
	if ok {
		r = clone(have)
	}
	return r, ok
}

// VirtualMachines lists the virtual machines labelled with a resource's name.
func (h *Hub) VirtualMachines(name string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for m, owner := range h.vms {
		if owner == name {
			out = append(out, m)
		}
	}
	slices.Sort(out)
	return out
}

func (h *Hub) create(w http.ResponseWriter, r *http.Request) {
	var in hub.Resource
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&in); err != nil || in.Metadata.Name == "" {
		answer(w, http.StatusBadRequest, "the body is no ComputeInstance")
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, there := h.resources[in.Metadata.Name]; there {
		answer(w, http.StatusConflict, "computeinstances "+in.Metadata.Name+" already exists")
		return
	}
	in.Metadata.Namespace, in.Metadata.DeletionTimestamp = r.PathValue("namespace"), ""
	h.version++
	in.Metadata.UID = fmt.Sprintf("00000000-0000-4000-8000-%012d", h.version)
	h.stamp(&in)
	h.resources[in.Metadata.Name] = &in
	send(w, http.StatusCreated, in)
}

func (h *Hub) get(w http.ResponseWriter, r *http.Request) {
	have, ok := h.Resource(r.PathValue("name"))
	if !ok {
		missing(w, r)
		return
	}
	send(w, http.StatusOK, have)
}

// patch merges finalizers, annotations and status; a stale resourceVersion is a conflict.
func (h *Hub) patch(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Metadata struct {
			ResourceVersion string             `json:"resourceVersion"`
			Finalizers      *[]string          `json:"finalizers"`
			Annotations     map[string]*string `json:"annotations"`
		} `json:"metadata"`
		Status json.RawMessage `json:"status"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&in); err != nil {
		answer(w, http.StatusBadRequest, "the body is no merge patch")
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	have, ok := h.resources[r.PathValue("name")]
	if !ok {
		missing(w, r)
		return
	}
	if v := in.Metadata.ResourceVersion; v != "" && v != have.Metadata.ResourceVersion {
		answer(w, http.StatusConflict, "the object has been modified; please apply your changes to the latest version and try again")
		return
	}
	next := clone(have)
	if f := in.Metadata.Finalizers; f != nil {
		next.Metadata.Finalizers = *f
	}
	for k, v := range in.Metadata.Annotations {
		setAnnotation(&next, k, v)
	}
	if in.Status != nil {
		if err := json.Unmarshal(in.Status, &next.Status); err != nil {
			answer(w, http.StatusBadRequest, "the status is no ComputeInstance's")
			return
		}
	}
	if why := h.replace(next); why != "" {
		answer(w, http.StatusUnprocessableEntity, why)
		return
	}
	send(w, http.StatusOK, next)
}

func (h *Hub) remove(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	have, ok := h.resources[r.PathValue("name")]
	if !ok {
		missing(w, r)
		return
	}
	next := clone(have)
	if next.Metadata.DeletionTimestamp == "" {
		next.Metadata.DeletionTimestamp = time.Now().UTC().Format(time.RFC3339)
		next.Status.Phase = "Deleting"
	}
	h.replace(next)
	send(w, http.StatusOK, next)
}

func (h *Hub) list(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Query().Get("labelSelector"), hub.VirtualMachineLabel+"=")
	if !ok {
		answer(w, http.StatusBadRequest, "only the label "+hub.VirtualMachineLabel+" is known here")
		return
	}
	items := []map[string]any{}
	for _, m := range h.VirtualMachines(name) {
		items = append(items, map[string]any{"metadata": map[string]any{"name": m, "labels": map[string]string{hub.VirtualMachineLabel: name}}})
	}
	send(w, http.StatusOK, map[string]any{"kind": "VirtualMachineList", "items": items})
}

// replace puts the next state in the place of the last, as the API server would: nobody adds a finalizer
// to what is being deleted, and what is being deleted goes with its last finalizer.
func (h *Hub) replace(next hub.Resource) (refused string) {
	have := h.resources[next.Metadata.Name]
	if have.Metadata.DeletionTimestamp != "" {
		for _, f := range next.Metadata.Finalizers {
			if !have.Metadata.Has(f) {
				return "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted"
			}
		}
	}
	h.version++
	h.stamp(&next)
	if next.Metadata.DeletionTimestamp != "" && len(next.Metadata.Finalizers) == 0 {
		delete(h.resources, next.Metadata.Name)
	} else {
		h.resources[next.Metadata.Name] = &next
	}
	if h.watch != nil {
		h.watch(clone(&next))
	}
	return ""
}

func (h *Hub) stamp(r *hub.Resource) { r.Metadata.ResourceVersion = fmt.Sprint(h.version) }

func setAnnotation(r *hub.Resource, key string, value *string) {
	if value == nil {
		delete(r.Metadata.Annotations, key)
		return
	}
	if r.Metadata.Annotations == nil {
		r.Metadata.Annotations = map[string]string{}
	}
	r.Metadata.Annotations[key] = *value
}

func clone(r *hub.Resource) hub.Resource {
	var out hub.Resource
	text, _ := json.Marshal(r)
	_ = json.Unmarshal(text, &out)
	return out
}

func missing(w http.ResponseWriter, r *http.Request) {
	answer(w, http.StatusNotFound, "computeinstances "+r.PathValue("name")+" not found")
}

// answer is a refusal in Kubernetes' form.
func answer(w http.ResponseWriter, status int, message string) {
	send(w, status, map[string]any{"kind": "Status", "status": "Failure", "message": message, "code": status})
}

func send(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
