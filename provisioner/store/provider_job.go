package store

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Phases of a provider's job, as the driver sees it.
const (
	JobWanted    = lifecycle.JobWanted
	JobLaunching = lifecycle.JobLaunching
	JobFollowing = lifecycle.JobFollowing
	JobEnded     = lifecycle.JobEnded
)

// ProviderJob is one operation that a provider does, from the wish to its end.
type ProviderJob struct {
	Key, AllocationID, WorkflowID   string
	Identity                        provider.Identity
	Operation, ConfigVersion        string
	Attempt                         int
	Phase                           string
	JobID, Kind                     string
	Status                          provider.Status
	Failure                         string
	Tries                           int
	CancelAt                        time.Time
	CancelAnswer                    provider.Acknowledgement
	Lease                           string
	DueAt, Deadline                 time.Time
	LaunchedAt, PolledAt, CreatedAt time.Time
	Scheduled                       time.Time // when it was due before it was leased; not stored
	CorrelationID                   string
	Baggage                         string // the caller's, as far as it is not ours
	Trace, Parent                   telemetry.SpanContext
}

const providerJobColumns = `job_key, allocation_id, workflow_id, provider, instance, operation, config_version, attempt, phase, job_id, kind,
	state, raw, message, explanation, result, observed, proof, failure, tries, cancel_at, cancel_answer, lease, due_at, deadline, launched_at, polled_at, created_at,
	correlation_id, baggage, trace, parent`

func scanProviderJob(scan func(...any) error) (ProviderJob, error) {
	var j ProviderJob
	var trace, parent string
	var cancel, due, deadline, launched, polled, created int64
	s := &j.Status
	err := scan(&j.Key, &j.AllocationID, &j.WorkflowID, &j.Identity.Provider, &j.Identity.Instance, &j.Operation, &j.ConfigVersion, &j.Attempt, &j.Phase,
		&j.JobID, &j.Kind, &s.State, &s.Raw, &s.Message, &s.Explanation, &s.Result, &s.Observed, &s.Proof, &j.Failure, &j.Tries,
		&cancel, &j.CancelAnswer, &j.Lease, &due, &deadline, &launched, &polled, &created, &j.CorrelationID, &j.Baggage, &trace, &parent)
	j.Trace, j.Parent = telemetry.ParseTraceparent(trace), telemetry.ParseTraceparent(parent)
	j.CancelAt, j.DueAt, j.Deadline = timeOf(cancel), timeOf(due), timeOf(deadline)
	j.LaunchedAt, j.PolledAt, j.CreatedAt = timeOf(launched), timeOf(polled), timeOf(created)
	return j, err
}

// Name is the job's provider_job, "" before it has an id. EDA repeats its ids, so the allocation is part
// of the name.
func (j ProviderJob) Name() string {
	if j.JobID == "" {
		return ""
	}
	name := j.Identity.Provider + "/" + j.Identity.Instance + "/" + j.Kind + "/" + j.JobID
	if j.Kind == "webhook" {
		name += "/" + j.AllocationID
	}
	return name
}

// Context is the job's own context: its identifiers, its span.
func (j ProviderJob) Context(ctx context.Context) context.Context {
	ctx = telemetry.With(ctx, semconv.AllocationID, j.AllocationID, semconv.WorkflowID, j.WorkflowID, semconv.CorrelationID, j.CorrelationID,
		semconv.ProviderJob, j.Name())
	return telemetry.WithSpan(telemetry.WithRemoteBaggage(ctx, j.Baggage), j.Trace)
}

// WantProviderJob writes a new job; one with the same key is left as it is.
func (t *Tx) WantProviderJob(j ProviderJob) error {
	if err := t.moveJob(j, "", JobWanted); err != nil {
		return err
	}
	j.CreatedAt = t.Now()
	_, err := t.exec(`INSERT INTO provider_jobs (job_key, allocation_id, workflow_id, provider, instance, operation, config_version, attempt, phase, due_at, deadline, created_at, correlation_id, baggage, trace, parent)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (job_key) DO NOTHING`,
		j.Key, j.AllocationID, j.WorkflowID, j.Identity.Provider, j.Identity.Instance, j.Operation, j.ConfigVersion, j.Attempt, JobWanted,
		nanos(j.CreatedAt), nanos(j.Deadline), nanos(j.CreatedAt), j.CorrelationID, j.Baggage, j.Trace.String(), j.Parent.String())
	if err != nil {
		return fmt.Errorf("insert provider job: %w", err)
	}
	return nil
}

// ProviderJob reads one; ErrNotFound where there is none.
func (t *Tx) ProviderJob(key string) (ProviderJob, error) {
	j, err := scanProviderJob(t.row(`SELECT `+providerJobColumns+` FROM provider_jobs WHERE job_key = ?`, key).Scan)
	return j, wrapNotFound("provider job", key, err)
}

// ProviderJobs lists those of an allocation, oldest first.
func (t *Tx) ProviderJobs(allocation string) ([]ProviderJob, error) {
	return t.providerJobs(`SELECT `+providerJobColumns+` FROM provider_jobs WHERE allocation_id = ? ORDER BY created_at, job_key`, allocation)
}

// DueProviderJobs lists those that somebody must look at, and when the next one is due after them; the
// zero time where there is none.
func (t *Tx) DueProviderJobs(limit int) (due []ProviderJob, next time.Time, err error) {
	now := nanos(t.Now())
	if due, err = t.providerJobs(`SELECT `+providerJobColumns+` FROM provider_jobs WHERE phase <> 'ended' AND due_at <= ? ORDER BY due_at LIMIT ?`, now, limit); err != nil {
		return nil, next, err
	}
	var at int64
	err = t.row(`SELECT coalesce(min(due_at), 0) FROM provider_jobs WHERE phase <> 'ended' AND due_at > ?`, now).Scan(&at)
	return due, timeOf(at), err
}

func (t *Tx) providerJobs(query string, args ...any) ([]ProviderJob, error) {
	var out []ProviderJob
	err := t.rows(func(r *sql.Rows) error {
		j, err := scanProviderJob(r.Scan)
		out = append(out, j)
		return err
	}, query, args...)
	return out, err
}

// LeaseProviderJob takes a due job for oneself until the given time; false where somebody else has.
func (t *Tx) LeaseProviderJob(j *ProviderJob, lease string, until time.Time) (bool, error) {
	n, err := t.exec(`UPDATE provider_jobs SET lease = ?, due_at = ? WHERE job_key = ? AND lease = ? AND due_at = ? AND phase <> 'ended'`,
		lease, nanos(until), j.Key, j.Lease, nanos(j.DueAt))
	if err != nil {
		return false, fmt.Errorf("lease provider job: %w", err)
	}
	j.Scheduled, j.Lease, j.DueAt = j.DueAt, lease, until
	return n == 1, nil
}

// GiveBackProviderJob ends a lease whose holder stops before it has saved anything: the job is due again, as it stood. One that was saved
// meanwhile, or is somebody else's by now, is left alone; so is one whose launch was cut off, which may yet arrive: whoever looked for it at
// once could find nothing and launch again.
func (t *Tx) GiveBackProviderJob(j ProviderJob) error {
	_, err := t.exec(`UPDATE provider_jobs SET lease = '', due_at = ? WHERE job_key = ? AND lease = ? AND phase NOT IN ('launching', 'ended')`, nanos(t.Now()), j.Key, j.Lease)
	return err
}

// LaunchProviderJob writes that the lease's holder is about to launch; false: somebody else holds the job
// by now, or its end is wanted.
func (t *Tx) LaunchProviderJob(j ProviderJob) (bool, error) {
	if err := t.moveJob(j, JobWanted, JobLaunching); err != nil {
		return false, err
	}
	n, err := t.exec(`UPDATE provider_jobs SET phase = 'launching', launched_at = ? WHERE job_key = ? AND lease = ? AND phase = 'wanted' AND cancel_at = 0`,
		nanos(j.LaunchedAt), j.Key, j.Lease)
	return n == 1, err
}

// CancelProviderJob writes that the job's end is wanted; the driver sees to it, and looks for the job
// first where its launch was never answered. Asking again changes nothing.
func (t *Tx) CancelProviderJob(key string) error {
	j, err := t.ProviderJob(key)
	if err != nil || !j.CancelAt.IsZero() {
		return err
	}
	phase, err := t.reopened(j)
	if err != nil {
		return err
	}
	now := nanos(t.Now())
	_, err = t.exec(`UPDATE provider_jobs SET cancel_at = ?, due_at = CASE lease WHEN '' THEN ? ELSE due_at END, phase = CASE phase WHEN 'ended' THEN ? ELSE phase END WHERE job_key = ? AND cancel_at = 0`,
		now, now, phase, key)
	return err
}

// ReopenProviderJob has a job that was given up on looked at again, with a new cancel.
func (t *Tx) ReopenProviderJob(key string) error {
	j, err := t.ProviderJob(key)
	if err != nil || j.Phase != JobEnded {
		return err
	}
	phase, err := t.reopened(j)
	if err != nil {
		return err
	}
	now := nanos(t.Now())
	_, err = t.exec(`UPDATE provider_jobs SET phase = ?, cancel_at = ?, cancel_answer = '', due_at = ? WHERE job_key = ? AND phase = 'ended'`, phase, now, now, key)
	return err
}

// reopened is the phase in which a job goes on whose end is wanted: one that has ended is followed again, or
// looked for where it has no id.
func (t *Tx) reopened(j ProviderJob) (phase string, err error) {
	switch {
	case j.Phase != JobEnded:
		return j.Phase, nil
	case j.JobID == "":
		phase = JobLaunching
	default:
		phase = JobFollowing
	}
	return phase, t.moveJob(j, JobEnded, phase)
}

// moveJob asks the domain whether a job may go from one phase to another, given what j knows. To stay is no move.
func (t *Tx) moveJob(j ProviderJob, from, to string) error {
	if from == to {
		return nil
	}
	facts := lifecycle.JobFacts{Named: j.JobID != "", Canceled: !j.CancelAt.IsZero(), Settled: j.Status.Result != provider.Open}
	if err := lifecycle.MoveJob(j.Key, from, to, facts); err != nil {
		return t.refuse(j.Context(t.ctx), err)
	}
	return nil
}

// SaveProviderJob writes what the lease's holder has learnt and gives the lease back. A cancel that was
// asked for meanwhile stays, and makes the job due at once. false: somebody else holds the job by now.
func (t *Tx) SaveProviderJob(j *ProviderJob) (bool, error) {
	if err := t.Lock(j.AllocationID); err != nil {
		return false, err
	}
	have, err := t.ProviderJob(j.Key)
	if err != nil {
		return false, err
	}
	if have.Lease != j.Lease || have.Phase == JobEnded {
		return false, nil
	}
	if err := t.moveJob(*j, have.Phase, j.Phase); err != nil {
		return false, err
	}
	if j.CancelAt.IsZero() && !have.CancelAt.IsZero() {
		j.CancelAt, j.DueAt = have.CancelAt, t.Now()
	}
	s := j.Status
	if _, err := t.exec(`UPDATE provider_jobs SET phase = ?, job_id = ?, kind = ?, state = ?, raw = ?, message = ?, explanation = ?, result = ?, observed = ?, proof = ?,
		failure = ?, tries = ?, cancel_at = ?, cancel_answer = ?, lease = '', due_at = ?, deadline = ?, launched_at = ?, polled_at = ? WHERE job_key = ?`,
		j.Phase, j.JobID, j.Kind, string(s.State), s.Raw, s.Message, s.Explanation, string(s.Result), s.Observed, s.Proof,
		j.Failure, j.Tries, nanos(j.CancelAt), string(j.CancelAnswer), nanos(j.DueAt), nanos(j.Deadline), nanos(j.LaunchedAt), nanos(j.PolledAt), j.Key); err != nil {
		return false, fmt.Errorf("update provider job: %w", err)
	}
	j.Lease = ""
	if s.State != "" && (s.State != have.Status.State || s.Message != have.Status.Message || have.JobID == "") {
		t.sayProviderJob(*j)
	}
	if j.Phase != JobEnded {
		return true, nil
	}
	return true, t.endProviderJob(*j)
}

// CloseProviderJob ends a job that nobody follows any more: it was never sent, or cannot be stopped. What
// is known of it stays.
func (t *Tx) CloseProviderJob(j ProviderJob, s provider.Status) error {
	known := j
	known.Status = s
	if err := t.moveJob(known, j.Phase, JobEnded); err != nil {
		return err
	}
	n, err := t.exec(`UPDATE provider_jobs SET phase = 'ended', lease = '', state = ?, raw = ?, message = ?, explanation = ?, result = ? WHERE job_key = ? AND phase = ?`,
		string(s.State), s.Raw, s.Message, s.Explanation, string(s.Result), j.Key, j.Phase)
	if err != nil {
		return fmt.Errorf("close provider job: %w", err)
	}
	if n != 1 {
		return fmt.Errorf("close provider job %s: it is no longer %s", j.Key, j.Phase)
	}
	changed := s.State != j.Status.State || s.Message != j.Status.Message
	if j.Status = s; changed && j.JobID != "" {
		t.sayProviderJob(j)
	}
	return t.endProviderJob(j)
}

// endProviderJob wakes the workflow and emits the job's span.
func (t *Tx) endProviderJob(j ProviderJob) error {
	end, source, failure := t.Now(), t.store.options.Emitter, ""
	if j.Status.Result == provider.Lost {
		failure = j.Status.Message
	}
	t.record(source.ComposeSpan(j.Context(context.Background()), j.Identity.Provider+" "+j.Operation, j.Trace, j.Parent, telemetry.SpanContext{}, j.CreatedAt, end, failure,
		slog.String(semconv.Provider, j.Identity.Provider), slog.String(semconv.Operation, j.Operation), slog.String(semconv.To, string(j.Status.State))))
	return t.Reschedule(j.WorkflowID, time.Time{})
}

func (t *Tx) sayProviderJob(j ProviderJob) {
	attrs := []slog.Attr{
		slog.String(semconv.Provider, j.Identity.Provider), slog.String(semconv.Operation, j.Operation), slog.String(semconv.To, string(j.Status.State)),
		slog.String(semconv.ConfigVersion, j.ConfigVersion), slog.String(semconv.ProviderStatus, j.Status.Raw),
	}
	if j.Status.Explanation != "" {
		attrs = append(attrs, slog.String(semconv.ProviderExplanation, j.Status.Explanation))
	}
	t.event(j.Context(t.ctx), t.Now(), semconv.EventProviderState, attrs...)
}
