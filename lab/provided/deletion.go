package provided

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab/hubsim"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/provider/hub"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Validation is one thing that must hold when an allocation is deleted while it is provisioned.
type Validation struct {
	Number int    `json:"number"`
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Seen   string `json:"seen"`
}

// Deletion is the outcome of one such experiment.
type Deletion struct {
	Provider     string       `json:"provider"`
	AllocationID string       `json:"allocation_id"`
	Validations  []Validation `json:"validations"`
	Passed       int          `json:"passed"`
}

// DeletionTemplates are the ways in which a provider's work can go in the experiment.
func DeletionTemplates() []string {
	return []string{hubsim.Well, hubsim.LateMachine, hubsim.RunForever, hubsim.IgnoreCancel, hubsim.NoAnnotation}
}

// stablePolls is how often the deprovision's id is read.
const stablePolls = 10

// DeleteDuringProvision creates an allocation, cancels it while its provision runs, and checks what the
// resource shows meanwhile and what is left: six validations for AAP, five for EDA (osac-test-infra,
// playbooks/test_compute_instance_delete_during_provision.yml). It needs provisions that run for a while.
// The error is one of the experiment; validations that fail are in the outcome.
func (p *Platform) DeleteDuringProvision(ctx context.Context, kind, template string) (Deletion, error) {
	d := deletion{p: p, out: Deletion{Provider: kind, AllocationID: telemetry.NewID("vm")}}
	pool := PoolAAP
	if kind == "eda" {
		pool = PoolEDA
	}
	p.Hub.Watch(d.keep)
	if err := p.Create(ctx, d.out.AllocationID, pool, template); err != nil {
		return d.out, err
	}
	if err := Until(ctx, p.config.Patience, "the resource shows the provision job at work", func() (bool, error) {
		v, ok := d.shown(provider.Provision)
		return ok && (v.State == string(provider.Running) || v.State == string(provider.Unknown)), nil
	}); err != nil {
		return d.out, err
	}
	d.before()
	ctx = telemetry.With(ctx, semconv.CorrelationID, telemetry.NewID("c"))
	if _, err := p.Control.Cancel(ctx, d.out.AllocationID, control.Asker{Actor: "alice", ActorType: "user", Reason: "delete during provision"}); err != nil {
		return d.out, err
	}
	if kind == "eda" {
		d.unknown(ctx)
	} else {
		d.terminal(ctx)
		d.deprovision(ctx)
	}
	d.gone(ctx, kind == "eda")
	return d.out, nil
}

type deletion struct {
	p   *Platform
	out Deletion

	mu      sync.Mutex
	history []hub.Resource // every state that the resource passed through
}

func (d *deletion) keep(r hub.Resource) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.Metadata.Name == hub.Name(d.out.AllocationID) {
		d.history = append(d.history, r)
	}
}

// states lists what the resource has shown of an operation's job, one after the other.
func (d *deletion) states(operation string) (all []hub.JobView) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.history {
		for _, v := range r.Status.ProvisioningJobs {
			if v.Type == operation && (len(all) == 0 || all[len(all)-1] != v) {
				all = append(all, v)
			}
		}
	}
	return all
}

func (d *deletion) shown(operation string) (hub.JobView, bool) {
	all := d.states(operation)
	if len(all) == 0 {
		return hub.JobView{}, false
	}
	return all[len(all)-1], true
}

func (d *deletion) say(name string, ok bool, format string, args ...any) {
	d.out.Validations = append(d.out.Validations, Validation{len(d.out.Validations) + 1, name, ok, fmt.Sprintf(format, args...)})
	if ok {
		d.out.Passed++
	}
}

func (d *deletion) before() {
	v, _ := d.shown(provider.Provision)
	_, deleting := d.shown(provider.Deprovision)
	ok := v.JobID != "" && slices.Contains([]string{"Running", "Pending", "Unknown"}, v.State) && !deleting
	d.say("before the delete a provision job is at work and no deprovision job exists", ok, "job %s is %s, deprovision: %t", v.JobID, v.State, deleting)
}

// terminal: the resource shows the provision's end, state and message of one moment. That the resource is gone is no
// excuse: everything that it has shown was seen.
func (d *deletion) terminal(ctx context.Context) {
	err := Until(ctx, d.p.config.Patience, "provision over", func() (bool, error) {
		v, _ := d.shown(provider.Provision)
		return provider.State(v.State).Terminal() || d.removed(), nil
	})
	v, _ := d.shown(provider.Provision)
	over := err == nil && provider.State(v.State).Terminal()
	d.say("the resource shows the provision job Canceled, Failed or Succeeded, with the message that belongs to it", over && inStep(d.states(provider.Provision)),
		"%s: %q", v.State, v.Message)
}

func (d *deletion) deprovision(ctx context.Context) {
	err := Until(ctx, d.p.config.Patience, "deprovision", func() (bool, error) {
		_, ok := d.shown(provider.Deprovision)
		return ok, nil
	})
	all := d.states(provider.Deprovision)
	began := len(all) > 0 && (all[0].State == "Pending" || all[0].State == "Running" || all[0].State == "Waiting" || all[0].State == "Unknown")
	first := hub.JobView{}
	if began {
		first = all[0]
	}
	after := true // never beside a provision that is not over
	d.mu.Lock()
	for _, r := range d.history {
		var provisionOver, deprovision bool
		for _, v := range r.Status.ProvisioningJobs {
			provisionOver = provisionOver || v.Type == provider.Provision && provider.State(v.State).Terminal()
			deprovision = deprovision || v.Type == provider.Deprovision
		}
		after = after && (!deprovision || provisionOver)
	}
	d.mu.Unlock()
	d.say("then a deprovision job appears", err == nil && began && after, "job %s begins %s, after the provision's end: %t", first.JobID, first.State, after)
	same := true
	for range stablePolls {
		for _, v := range d.states(provider.Deprovision) {
			same = same && v.JobID == first.JobID
		}
		time.Sleep(d.p.config.Poll / 3)
	}
	n := d.p.AAP.Launches(hub.Name(d.out.AllocationID), true)
	d.say("the deprovision job stays the same one", same && n == 1, "id %s in %d looks, %d launches", first.JobID, stablePolls, n)
}

func (d *deletion) unknown(ctx context.Context) {
	err := Until(ctx, d.p.config.Patience, "Unknown", func() (bool, error) {
		v, _ := d.shown(provider.Provision)
		return v.State == string(provider.Unknown) || d.removed(), nil
	})
	v, _ := d.shown(provider.Provision)
	// Nobody has told an end of what cannot be asked, and a resource that is gone has not shown one either.
	ok := err == nil && !provider.State(v.State).Terminal() && inStep(d.states(provider.Provision))
	d.say("the provision job is Unknown, or the resource is gone", ok, "%s: %q", v.State, v.Message)
}

// words are those with which a provider's message on a job begins, and the state that each belongs to.
var words = map[string]provider.State{
	"pending": provider.Pending, "launched": provider.Pending, "waiting": provider.Waiting, "running": provider.Running,
	"successful": provider.Succeeded, "failed": provider.Failed, "error": provider.Failed, "canceled": provider.Canceled,
}

// inStep tells whether each message of a job was shown beside the state that it is about: none stands beside two
// states, and none begins with the word of another one.
func inStep(shown []hub.JobView) bool {
	beside := map[string]string{} // message → state
	for _, v := range shown {
		word, _, _ := strings.Cut(strings.ReplaceAll(v.Message, ":", " "), " ")
		if about, known := words[word]; known && string(about) != v.State {
			return false
		}
		if before, seen := beside[v.Message]; seen && before != v.State {
			return false
		}
		beside[v.Message] = v.State
	}
	return true
}

func (d *deletion) removed() bool {
	_, there := d.p.Hub.Resource(hub.Name(d.out.AllocationID))
	return !there
}

// gone: the resource disappears, the tenant's list doesn't have it, and no virtual machine is left.
func (d *deletion) gone(ctx context.Context, apart bool) {
	id := d.out.AllocationID
	err := Until(ctx, d.p.config.Patience, "resource gone", func() (bool, error) { return d.removed(), nil })
	ended := d.p.Reaches(ctx, id, semconv.Canceled, d.p.config.Patience)
	live, listErr := d.p.Control.List(ctx, store.Filter{Live: true, Limit: 1000})
	listed := slices.ContainsFunc(live, func(a store.Allocation) bool { return a.ID == id })
	absent := ended == nil && listErr == nil && !listed
	if apart {
		d.say("the resource disappears", err == nil, "gone: %t", err == nil)
		d.say("the list of live allocations does not have it", absent, "listed: %t, canceled: %t", listed, ended == nil)
	} else {
		d.say("the resource disappears, and the list of live allocations does not have it", err == nil && absent, "gone: %t, listed: %t, canceled: %t", err == nil, listed, ended == nil)
	}
	time.Sleep(d.p.config.Poll) // what was sent to a host before the cancel would be there by now
	left := d.p.Hub.VirtualMachines(hub.Name(id))
	d.say("no virtual machine is left that carries its label", len(left) == 0, "%d virtual machines", len(left))
}
