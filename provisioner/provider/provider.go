// Package provider is what the provisioner asks of systems that provision for it: launch a job, look at
// it, cancel it, and show what is known of it on the resource. An adapter for each system lies below:
// aap speaks to an automation controller, eda to a webhook.
package provider

import (
	"context"
	"fmt"
	"hash/fnv"
	"time"
)

// State is a job's, in words that all providers share.
type State string

// States. Unknown is not an end: a provider that cannot be asked leaves its jobs there, healthy or not.
const (
	Pending   State = "Pending"
	Waiting   State = "Waiting"
	Running   State = "Running"
	Succeeded State = "Succeeded"
	Failed    State = "Failed"
	Canceled  State = "Canceled"
	Unknown   State = "Unknown"
)

// Terminal reports whether the provider will not change the state any more.
func (s State) Terminal() bool { return s == Succeeded || s == Failed || s == Canceled }

// Operations.
const (
	Provision   = "provision"
	Deprovision = "deprovision"
)

// What was seen of the resource at the end of an operation.
const (
	ObservedRunning = "running" // it is configured as wanted
	ObservedAbsent  = "absent"  // nothing of it is left
)

// Identity names one provider: its kind, and which one of that kind.
type Identity struct{ Provider, Instance string }

// Traits are what the workflow must know of a provider.
type Traits struct {
	Cancels bool          // jobs can be canceled; otherwise nothing is stopped before cleanup
	Blocks  bool          // a failed deprovision is tried again before the release fails
	Poll    time.Duration // between two looks at one job
	Settle  time.Duration // a request whose answer was lost has arrived by then, or never will
	JobTime time.Duration // patience with one job; 0: as long as the workflow has with any
}

// Request is one operation to launch. Key is the same for every try of the same operation, of the same
// configuration, in the same attempt: launching twice under one key must be avoided.
type Request struct {
	Key           string
	AllocationID  string
	Operation     string
	ConfigVersion string
	Pool          string
	Template      string // what to make: the tenant's image
	RequestedBy   string
}

// Job is one that was launched. ID is the provider's own, Kind tells its collections apart.
type Job struct {
	Request
	ID, Kind string
	Age      time.Duration // since the launch was written down, which was before it was made
}

// Result is how an operation came out, which is more than the job's state says: a job may have succeeded
// and the resource not be there, or be unobservable and the resource be there.
type Result string

// Results.
const (
	Open Result = ""
	OK   Result = "ok"
	Lost Result = "failed"
)

// Status is all that is known of a job at one moment. It is one value and always replaced whole: a
// state of now never stands beside a message or an explanation of before.
type Status struct {
	State       State
	Raw         string // the provider's own word
	Message     string // for people; made from the other fields
	Explanation string // the provider's reason, "" where it gives none
	Result      Result
	Observed    string
	Proof       string // what shows Observed
}

// Launch is the answer to a launch. Skipped: there was nothing to do, Status says why.
type Launch struct {
	ID, Kind string
	Skipped  bool
	Status   Status
}

// Acknowledgement is what a provider answers to a cancel.
type Acknowledgement string

// Acknowledgements. Accepted is a promise, not a fact: only a later Status shows the end.
const (
	Accepted    Acknowledgement = "accepted"
	AlreadyOver Acknowledgement = "already_over"
	Gone        Acknowledgement = "gone"
)

// Provider launches and follows jobs. All methods are safe for use by several goroutines, take their
// trace and identifiers from ctx, and give errors of type *Failure where the provider or the way to it is
// to blame.
type Provider interface {
	Identity() Identity
	Traits() Traits
	// Launch starts a job. After an error for which Ambiguous holds, it may run all the same.
	Launch(ctx context.Context, r Request) (Launch, error)
	// Adopt looks for the job that a launch under r.Key at since may have started. found is false where
	// there is none; sure is false where the provider cannot say.
	Adopt(ctx context.Context, r Request, since time.Time) (l Launch, found, sure bool, err error)
	// Poll says how the job stands.
	Poll(ctx context.Context, j Job) (Status, error)
	// Cancel asks for the job's end.
	Cancel(ctx context.Context, j Job) (Acknowledgement, error)
	// Project writes what is known of the job on the resource, for those who look there, and tells what
	// then stands there.
	Project(ctx context.Context, j Job, s Status) (shown Status, err error)
}

// ConfigVersion is the version of what is wanted: FNV-1a of 64 bits over all that decides it.
func ConfigVersion(template, pool string) string {
	sum := fnv.New64a()
	_, _ = fmt.Fprintf(sum, `{"pool":%q,"templateID":%q}`, pool, template)
	return fmt.Sprintf("%016x", sum.Sum64())
}
