package workflow

import (
	"fmt"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/store"
)

// either does one thing for allocations that a provider serves, and another for those on nodes of the
// inventory.
func either(provided, onNode func(*run) (outcome, error)) func(*run) (outcome, error) {
	return func(r *run) (outcome, error) {
		if _, ok, err := r.provider(); err != nil || !ok {
			if err != nil {
				return outcome{}, err
			}
			return onNode(r)
		}
		return provided(r)
	}
}

// provider is the one that serves the allocation: the one that has begun, else the pool's. A change of
// the configuration does not move an allocation to a provider that knows nothing of it.
func (r *run) provider() (id provider.Identity, ok bool, err error) {
	d := r.engine.driver
	if len(d.known) == 0 && len(d.pools) == 0 {
		return id, false, nil
	}
	jobs, err := r.tx.ProviderJobs(r.a.ID)
	if err != nil {
		return id, false, err
	}
	if len(jobs) > 0 {
		return jobs[0].Identity, true, nil
	}
	id, ok = d.pools[r.a.Pool]
	return id, ok, nil
}

func skip(*run) (outcome, error) { return outcome{}, nil }

// setAside: the provider has its own capacity, so there is no node to reserve.
func setAside(r *run) (outcome, error) {
	return orGiveUp(r.tx.MoveAllocation(r.a, semconv.Reserved, "", lifecycle.Facts{Provided: true}))
}

func startProvided(r *run) (outcome, error) {
	return orGiveUp(r.tx.MoveAllocation(r.a, semconv.Provisioning, "", lifecycle.Facts{Provided: true}))
}

// provide has the provider do an operation, once for each attempt, and waits for its end.
func provide(operation string) func(*run) (outcome, error) {
	return func(r *run) (outcome, error) {
		id, _, err := r.provider()
		if err != nil {
			return outcome{}, err
		}
		jobs, err := r.tx.ProviderJobs(r.a.ID)
		if err != nil {
			return outcome{}, err
		}
		if operation == provider.Deprovision {
			if len(jobs) == 0 { // nothing was ever asked of it
				return outcome{}, nil
			}
			if out, err := r.settle(jobs); err != nil || out.kind != next {
				return out, err
			}
		}
		attempt, mine := 0, 0
		var last store.ProviderJob
		for _, j := range jobs {
			if j.Operation == operation {
				attempt = max(attempt, j.Attempt)
				if j.WorkflowID == r.w.ID {
					last, mine = j, mine+1
				}
			}
		}
		allowed := 1
		if p := r.engine.driver.known[id]; p != nil && p.Traits().Blocks && operation == provider.Deprovision {
			allowed = r.engine.config.Attempts
		}
		now := r.tx.Now()
		await := outcome{kind: waiting, on: "provider", until: now.Add(far)}
		switch {
		case mine == 0:
			return await, r.want(id, operation, attempt+1)
		case last.Phase != store.JobEnded:
			return await, nil
		case last.Status.Result == provider.OK:
			return outcome{}, nil
		case mine >= allowed:
			return outcome{kind: gaveUp, failure: fmt.Sprintf("%s %s %s: %s", id.Provider, operation, last.Status.State, last.Status.Message)}, nil
		case r.w.WaitingOn != "timer":
			return outcome{kind: waiting, on: "timer", until: now.Add(r.engine.config.RetryWait)}, nil
		}
		return await, r.want(id, operation, attempt+1)
	}
}

// want writes the job. Its key is the same however often the step runs.
func (r *run) want(id provider.Identity, operation string, attempt int) error {
	version := provider.ConfigVersion(r.a.Image, r.a.Pool)
	patience := r.engine.config.JobTime
	if p := r.engine.driver.known[id]; p != nil && p.Traits().JobTime > 0 {
		patience = p.Traits().JobTime
	}
	r.tx.After(r.engine.driver.wakeUp)
	return r.tx.WantProviderJob(store.ProviderJob{
		Key: fmt.Sprintf("%s/%s/%s/%d", r.a.ID, operation, version, attempt), AllocationID: r.a.ID, WorkflowID: r.w.ID, Identity: id,
		Operation: operation, ConfigVersion: version, Attempt: attempt, Deadline: r.tx.Now().Add(patience),
		CorrelationID: r.w.CorrelationID, Baggage: r.w.Baggage, Trace: r.w.Trace.Child(), Parent: r.w.Trace,
	})
}

// settle sees to it that no job goes on when cleanup begins: it is canceled and waited for. One
// that cannot be canceled is looked at once more and left alone; its provider cleans up after it.
func (r *run) settle(jobs []store.ProviderJob) (outcome, error) {
	for _, j := range jobs {
		if j.Operation == provider.Deprovision && j.WorkflowID == r.w.ID && j.Phase != store.JobEnded {
			continue // the one that this workflow waits for
		}
		p := r.engine.driver.known[j.Identity]
		switch {
		case j.Phase == store.JobEnded && (j.Status.State.Terminal() || p == nil || !p.Traits().Cancels || j.Status.Raw == purged):
		case j.Phase == store.JobWanted:
			if err := r.tx.CloseProviderJob(j, provider.Status{State: provider.Canceled, Message: "canceled before it was launched", Result: provider.Lost}); err != nil {
				return outcome{}, err
			}
		case j.Phase == store.JobEnded && !j.CancelAt.Before(r.w.CreatedAt):
			return outcome{kind: gaveUp, failure: fmt.Sprintf("%s %s may still be at work: %s", j.Identity.Provider, j.Operation, j.Status.Message)}, nil
		case j.Phase == store.JobEnded && !j.CancelAt.IsZero(): // given up on by an earlier workflow: how is it now?
			r.tx.After(r.engine.driver.wakeUp)
			if err := r.tx.ReopenProviderJob(j.Key); err != nil {
				return outcome{}, err
			}
			return outcome{kind: waiting, on: "provider", until: r.tx.Now().Add(r.engine.config.Tick)}, nil
		default:
			if j.CancelAt.IsZero() {
				r.tx.After(r.engine.driver.wakeUp)
				if err := r.tx.CancelProviderJob(j.Key); err != nil {
					return outcome{}, err
				}
			}
			// The job wakes the workflow that wanted it, which may be another one.
			return outcome{kind: waiting, on: "provider", until: r.tx.Now().Add(r.engine.config.Tick)}, nil
		}
	}
	return outcome{}, nil
}

// purged is what aap calls a job that it no longer knows: nothing can be asked of it.
const purged = "purged"

// activateProvided wants the job's success and what was seen of the resource.
func activateProvided(r *run) (outcome, error) {
	j, err := r.lastJob(provider.Provision)
	if err != nil {
		return outcome{}, err
	}
	return orGiveUp(r.tx.MoveAllocation(r.a, semconv.Active, "", lifecycle.Facts{
		TasksDone: j.Status.Result == provider.OK, Observed: j.Status.Observed == provider.ObservedRunning,
	}))
}

// stopProvided stops the provision, as far as its provider can, and lets cleanup begin.
func stopProvided(r *run) (outcome, error) {
	if r.a.State != semconv.Canceling {
		return outcome{}, nil
	}
	if err := r.stopProvision(); err != nil {
		return outcome{}, err
	}
	jobs, err := r.tx.ProviderJobs(r.a.ID)
	if err != nil {
		return outcome{}, err
	}
	if out, err := r.settle(jobs); err != nil || out.kind != next {
		return out, err
	}
	return orGiveUp(r.tx.MoveAllocation(r.a, semconv.Releasing, "", lifecycle.Facts{}))
}

// giveBackProvided refuses to call an allocation clean without the provider's proof.
func giveBackProvided(to string) func(*run) (outcome, error) {
	return func(r *run) (outcome, error) {
		j, err := r.lastJob(provider.Deprovision)
		if err != nil && !store.IsNotFound(err) {
			return outcome{}, err
		}
		if err == nil && (j.Status.Observed != provider.ObservedAbsent || j.Status.Proof == "") {
			return outcome{kind: gaveUp, failure: string(lifecycle.CleanupUnproven) + ": " + j.Status.Message}, nil
		}
		return orGiveUp(r.tx.MoveAllocation(r.a, to, "", lifecycle.Facts{Evidence: j.Status.Proof}))
	}
}

// lastJob is the newest one of an operation; ErrNotFound where there is none.
func (r *run) lastJob(operation string) (store.ProviderJob, error) {
	jobs, err := r.tx.ProviderJobs(r.a.ID)
	if err != nil {
		return store.ProviderJob{}, err
	}
	for i := len(jobs) - 1; i >= 0; i-- {
		if jobs[i].Operation == operation {
			return jobs[i], nil
		}
	}
	return store.ProviderJob{}, fmt.Errorf("%s job of %s: %w", operation, r.a.ID, store.ErrNotFound)
}
