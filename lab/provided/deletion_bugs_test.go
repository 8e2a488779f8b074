package provided_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/faultline-io/faultline/lab/provided"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/provider/hub"
)

// bug is an adapter with one: what is set is done in the adapter's place.
type bug struct {
	provider.Provider
	launch  func(ctx context.Context, p provider.Provider, r provider.Request) (provider.Launch, error)
	poll    func(ctx context.Context, p provider.Provider, j provider.Job) (provider.Status, error)
	project func(ctx context.Context, p provider.Provider, j provider.Job, s provider.Status) (provider.Status, error)
}

func (b bug) Launch(ctx context.Context, r provider.Request) (provider.Launch, error) {
	if b.launch == nil {
		return b.Provider.Launch(ctx, r)
	}
	return b.launch(ctx, b.Provider, r)
}

func (b bug) Poll(ctx context.Context, j provider.Job) (provider.Status, error) {
	if b.poll == nil {
		return b.Provider.Poll(ctx, j)
	}
	return b.poll(ctx, b.Provider, j)
}

func (b bug) Project(ctx context.Context, j provider.Job, s provider.Status) (provider.Status, error) {
	if b.project == nil {
		return b.Provider.Project(ctx, j, s)
	}
	return b.project(ctx, b.Provider, j, s)
}

// showing changes what is shown of an operation's job.
func showing(operation string, change func(*provider.Job, *provider.Status)) bug {
	return bug{project: func(ctx context.Context, p provider.Provider, j provider.Job, s provider.Status) (provider.Status, error) {
		if j.Operation == operation {
			change(&j, &s)
		}
		return p.Project(ctx, j, s)
	}}
}

// hiding does not show an operation's job in some states.
func hiding(operation string, hidden func(provider.State) bool) bug {
	return bug{project: func(ctx context.Context, p provider.Provider, j provider.Job, s provider.Status) (provider.Status, error) {
		if j.Operation == operation && hidden(s.State) {
			return s, nil
		}
		return p.Project(ctx, j, s)
	}}
}

// lag keeps the message of the first look at a job at work.
func lag(state provider.State) bug {
	var first atomic.Pointer[string]
	return showing(provider.Provision, func(_ *provider.Job, s *provider.Status) {
		if s.State == state {
			first.CompareAndSwap(nil, &s.Message)
		}
		if before := first.Load(); before != nil {
			s.Message = *before
		}
	})
}

func anyState(provider.State) bool { return true }

// Each validation fails where what it is about is broken: by the three bugs of the seed, and by one or more of the
// same kind for every other validation.
func TestValidationsSeeBugs(t *testing.T) {
	always := func(s provider.State) func(*provider.Job, *provider.Status) {
		return func(_ *provider.Job, at *provider.Status) { at.State = s }
	}
	for _, c := range []struct {
		name, kind string
		fails      int // the first validation that must fail
		bug        func(p **provided.Platform) bug
	}{
		{"no job id is shown", "aap", 1, func(**provided.Platform) bug {
			return showing(provider.Provision, func(j *provider.Job, _ *provider.Status) { j.ID = "" })
		}},
		{"the state stays when the provision is waited for", "aap", 2, func(**provided.Platform) bug {
			return hiding(provider.Provision, provider.State.Terminal)
		}},
		{"the state stays when the deprovision is launched", "aap", 2, func(**provided.Platform) bug {
			return showing(provider.Provision, always(provider.Running))
		}},
		{"the message stays", "aap", 2, func(**provided.Platform) bug { return lag(provider.Running) }},
		{"the message is of another state", "aap", 2, func(**provided.Platform) bug {
			return showing(provider.Provision, func(_ *provider.Job, s *provider.Status) {
				if s.State.Terminal() {
					s.Message = "running on aap-ee-2"
				}
			})
		}},
		{"no deprovision is shown", "aap", 3, func(**provided.Platform) bug { return hiding(provider.Deprovision, anyState) }},
		{"the deprovision is shown when it is over", "aap", 3, func(**provided.Platform) bug {
			return hiding(provider.Deprovision, func(s provider.State) bool { return !s.Terminal() })
		}},
		{"the deprovision is shown under another id each time", "aap", 4, func(**provided.Platform) bug {
			var n atomic.Int64
			return showing(provider.Deprovision, func(j *provider.Job, _ *provider.Status) { j.ID = fmt.Sprint(1000 + n.Add(1)) })
		}},
		{"the deprovision is launched twice", "aap", 4, func(**provided.Platform) bug {
			return bug{launch: func(ctx context.Context, p provider.Provider, r provider.Request) (provider.Launch, error) {
				if r.Operation == provider.Deprovision {
					if _, err := p.Launch(ctx, r); err != nil {
						return provider.Launch{}, err
					}
				}
				return p.Launch(ctx, r)
			}}
		}},
		{"the resource stays", "aap", 5, func(**provided.Platform) bug { return claiming() }},
		{"the allocation stays", "aap", 5, func(**provided.Platform) bug { return doubting() }},
		{"a virtual machine is left", "aap", 6, leaving},
		{"no job id is shown", "eda", 1, func(**provided.Platform) bug {
			return showing(provider.Provision, func(j *provider.Job, _ *provider.Status) { j.ID = "" })
		}},
		{"an end is shown that nobody can know of", "eda", 2, func(**provided.Platform) bug {
			return showing(provider.Provision, func(_ *provider.Job, s *provider.Status) {
				if s.State == provider.Unknown {
					s.State, s.Message = provider.Canceled, "canceled"
				}
			})
		}},
		{"the message stays", "eda", 2, func(**provided.Platform) bug { return lag(provider.Running) }},
		{"the resource stays", "eda", 3, func(**provided.Platform) bug { return claiming() }},
		{"the allocation stays", "eda", 4, func(**provided.Platform) bug { return doubting() }},
		{"a virtual machine is left", "eda", 5, leaving},
	} {
		t.Run(c.kind+" "+c.name, func(t *testing.T) {
			t.Parallel()
			var p *provided.Platform
			p = start(t, func(f *provided.Config) {
				takes := func(_ string, deletes bool) time.Duration {
					if deletes {
						return 600 * time.Millisecond
					}
					return time.Second
				}
				f.AAP.Takes, f.EDA.Takes, f.Patience = takes, takes, 4*time.Second
				b := c.bug(&p)
				f.Through = func(adapter provider.Provider) provider.Provider {
					with := b
					with.Provider = adapter
					return with
				}
			})
			d, err := p.DeleteDuringProvision(t.Context(), c.kind, "ocp_virt_vm")
			if err != nil {
				t.Fatal(err)
			}
			first := slices.IndexFunc(d.Validations, func(v provided.Validation) bool { return !v.OK }) + 1
			if first != c.fails {
				t.Errorf("validation %d fails first, want %d: %+v", first, c.fails, d.Validations)
			}
		})
	}
}

// claiming says that nothing is left before anything was removed.
func claiming() bug {
	return bug{poll: func(ctx context.Context, p provider.Provider, j provider.Job) (provider.Status, error) {
		if j.Operation != provider.Deprovision {
			return p.Poll(ctx, j)
		}
		return provider.Status{State: provider.Running, Raw: "running", Message: "running", Result: provider.OK, Observed: provider.ObservedAbsent, Proof: "so I say"}, nil
	}}
}

// doubting never says that anything is over.
func doubting() bug {
	return bug{poll: func(ctx context.Context, p provider.Provider, j provider.Job) (provider.Status, error) {
		s, err := p.Poll(ctx, j)
		if j.Operation == provider.Deprovision && s.Result != provider.Open {
			s = provider.Status{State: provider.Running, Raw: "running", Message: "running on aap-ee-1"}
		}
		return s, err
	}}
}

// leaving has a virtual machine be there when the deprovision was proved done.
func leaving(p **provided.Platform) bug {
	return bug{poll: func(ctx context.Context, adapter provider.Provider, j provider.Job) (provider.Status, error) {
		s, err := adapter.Poll(ctx, j)
		if j.Operation == provider.Deprovision && s.Result == provider.OK {
			(*p).Hub.Start(hub.Name(j.AllocationID))
		}
		return s, err
	}}
}
