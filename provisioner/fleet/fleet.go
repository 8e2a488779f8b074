// Package fleet is the side of the provisioner that node agents talk to: enrolment, claims, leases and
// results. Who calls is known from the client certificate, which whoever listens has verified.
package fleet

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Config is the `fleet` section.
type Config struct {
	Lease       time.Duration `yaml:"lease"`        // a claim that is not renewed for this long is lost
	LongestWait time.Duration `yaml:"longest_wait"` // of one long poll
	TokenLife   time.Duration `yaml:"token_life"`   // of an enrolment token
}

// DefaultConfig gives agents a minute to renew.
func DefaultConfig() Config {
	return Config{Lease: time.Minute, LongestWait: 30 * time.Second, TokenLife: 15 * time.Minute}
}

// Validate names the key that is wrong.
func (c Config) Validate() error {
	if c.Lease <= 0 || c.LongestWait <= 0 || c.TokenLife <= 0 {
		return errors.New("fleet: lease, longest_wait and token_life must be positive")
	}
	return nil
}

// Agent says who calls: node and node instance, both by the certificate where the fleet has an authority,
// else the node instance by the agent's own word.
type Agent struct{ NodeID, InstanceID string }

// Fleet serves node agents.
type Fleet struct {
	store    *store.Store
	config   Config
	emitter  *telemetry.Emitter
	issuer   issuer
	refusals rateLimiter
}

// New makes a fleet on a store; emitter has its spans.
func New(s *store.Store, c Config, emitter *telemetry.Emitter) *Fleet {
	return &Fleet{store: s, config: c, emitter: emitter}
}

// Heartbeat notes that the agent is there, and in which boot of its node; boot may be empty.
func (f *Fleet) Heartbeat(ctx context.Context, a Agent, boot string) error {
	return f.store.Update(ctx, "node heartbeat", func(t *store.Tx) error {
		if _, err := f.callerNode(t, a); err != nil {
			return err
		}
		if boot != "" {
			if err := t.Booted(a.NodeID, a.InstanceID, boot); err != nil {
				return err
			}
		}
		return t.Seen(a.NodeID)
	})
}

// Wait claims the next task of the agent's node, for up to the given time. ok is false where there
// was none.
func (f *Fleet) Wait(ctx context.Context, a Agent, longest time.Duration) (k store.Task, ok bool, err error) {
	deadline := time.NewTimer(min(longest, f.config.LongestWait))
	defer deadline.Stop()
	for {
		changed := f.store.TaskFor(a.NodeID)
		err := f.store.View(telemetry.Untraced(ctx), "look for task", func(t *store.Tx) error {
			if _, err := f.callerNode(t, a); err != nil {
				return err
			}
			k, err = t.NextTask(a.NodeID)
			return err
		})
		if err == nil {
			k, ok, err = f.claim(ctx, a, k)
			if ok || err != nil {
				return k, ok, err
			}
		} else if !isNoTask(err) {
			return k, false, err
		}
		select {
		case <-ctx.Done():
			return k, false, ctx.Err()
		case <-deadline.C:
			return k, false, nil
		case <-changed:
		}
	}
}

// Held is the task that the agent's node instance has claimed and not reported, with the claim that it was
// given: for an agent that died, or lost the answer, before it had written it down. ok is false where
// there is none.
func (f *Fleet) Held(ctx context.Context, a Agent) (k store.Task, ok bool, err error) {
	err = f.store.View(telemetry.Untraced(ctx), "look for held task", func(t *store.Tx) error {
		if _, err := f.callerNode(t, a); err != nil {
			return err
		}
		k, err = t.HeldTask(a.NodeID, a.InstanceID)
		return err
	})
	if isNoTask(err) {
		return k, false, nil
	}
	return k, err == nil, err
}

// isNoTask tells "nothing to do" from "no such node".
func isNoTask(err error) bool {
	var refused *lifecycle.Refusal
	return store.IsNotFound(err) && !errors.As(err, &refused)
}

// claim takes a task if it is still to be had. The poll that asked may have begun while the node was
// another allocation's: its trace stays its own, and the claim is a span of the task's, linked to it.
func (f *Fleet) claim(ctx context.Context, a Agent, want store.Task) (k store.Task, ok bool, err error) {
	poll := telemetry.SpanOf(ctx)
	ctx, span := f.emitter.Start(want.Context(telemetry.Detached(ctx)), "claim", telemetry.Internal,
		slog.String(semconv.TaskType, want.Type), slog.String(semconv.NodeInstanceID, a.InstanceID))
	defer span.End()
	span.Link(poll)
	err = f.store.Update(ctx, "claim task", func(t *store.Tx) error {
		n, err := f.callerNode(t, a)
		if err != nil {
			return err
		}
		if k, err = t.Task(want.ID); err != nil || k.State != semconv.Queued || !k.ExpiresAt.After(t.Now()) {
			return err
		}
		k.Claim = lifecycle.Claim{ID: telemetry.NewID("cl"), Fence: k.Claim.Fence + 1, InstanceID: a.InstanceID, LeaseUntil: t.Now().Add(f.config.Lease)}
		if err := t.MoveTask(&k, semconv.Dispatched, ""); err != nil {
			return err
		}
		if n.Occupancy == lifecycle.Reserved {
			if err := t.MoveNode(&n, lifecycle.Occupied, "first claim", lifecycle.NodeFacts{}); err != nil {
				return err
			}
		}
		ok = true
		return t.Seen(a.NodeID)
	})
	span.Set(slog.String(semconv.ClaimID, k.Claim.ID), slog.Int64(semconv.Fence, k.Claim.Fence))
	return k, ok && err == nil, err
}

// Renew extends a claim's lease; a claim that does not count any more is refused.
func (f *Fleet) Renew(ctx context.Context, a Agent, task, claim string, fence int64) (until time.Time, err error) {
	err = f.report(ctx, a, "renew claim", task, claim, fence, never, func(t *store.Tx, k *store.Task) error {
		until = t.Now().Add(f.config.Lease)
		return t.RenewTask(k, until)
	})
	return until, err
}

// Result is how a task ended.
type Result struct {
	OK       bool
	Code     string // of a failure: short, stable
	Message  string // in words
	Observed string // what the agent saw at the end
}

// Report applies a result. The same result under the same claim may come again; it changes nothing.
func (f *Fleet) Report(ctx context.Context, a Agent, task, claim string, fence int64, r Result) error {
	same := func(k store.Task) bool {
		return r.OK && k.State == semconv.Succeeded || !r.OK && k.State == semconv.Failed && k.Code == r.Code
	}
	return f.report(ctx, a, "task result", task, claim, fence, same, func(t *store.Tx, k *store.Task) error {
		k.Code, k.Message, k.Evidence = r.Code, r.Message, r.Observed
		if r.OK {
			return t.MoveTask(k, semconv.Succeeded, "")
		}
		return t.MoveTask(k, semconv.Failed, r.Code+": "+r.Message)
	})
}

func never(store.Task) bool { return false }

// report runs then if the claim counts. A refusal is told as task.state rejected, unless the task is
// over and has already what the report says.
func (f *Fleet) report(ctx context.Context, a Agent, group, task, claim string, fence int64, already func(store.Task) bool,
	then func(*store.Tx, *store.Task) error) error {
	var refused error
	err := f.store.Update(ctx, group, func(t *store.Tx) error {
		if _, err := f.callerNode(t, a); err != nil {
			return err
		}
		k, err := t.Task(task)
		if err != nil {
			return err
		}
		telemetry.Current(ctx).Set(taskAttributes(k)...)
		presented := lifecycle.Claim{ID: claim, Fence: fence, InstanceID: a.InstanceID}
		if k.NodeID != a.NodeID {
			refused = lifecycle.Refuse(lifecycle.WrongClaim, "task "+task, "it is another node's")
			return nil
		}
		if refused = lifecycle.CheckClaim(task, k.State, k.Claim, presented); refused != nil {
			var r *lifecycle.Refusal
			if errors.As(refused, &r) {
				if r.Reason == lifecycle.TaskOver && already(k) {
					refused = nil // sent again: the first one counted
					return nil
				}
				t.RejectReport(k, presented, r.Reason)
			}
			return nil // the transaction has something to tell
		}
		return then(t, &k)
	})
	if err == nil {
		err = refused
	}
	f.Refused(ctx, Attempt{Action: strings.ReplaceAll(group, " ", "_"), Actor: a.InstanceID, NodeID: a.NodeID}, err)
	return err
}

// callerNode finds the caller's node and makes sure that the node instance is the live one.
func (f *Fleet) callerNode(t *store.Tx, a Agent) (store.Node, error) {
	n, err := t.Node(a.NodeID)
	if store.IsNotFound(err) {
		return n, lifecycle.Refuse(lifecycle.UnknownNode, "node "+a.NodeID, "")
	}
	if err == nil && n.InstanceID != a.InstanceID {
		err = lifecycle.Refuse(lifecycle.SupersededInstance, "node "+a.NodeID, "the live node instance is another one")
	}
	return n, err
}

func taskAttributes(k store.Task) []slog.Attr {
	return []slog.Attr{
		slog.String(semconv.AllocationID, k.AllocationID), slog.String(semconv.WorkflowID, k.WorkflowID),
		slog.String(semconv.CorrelationID, k.CorrelationID), slog.String(semconv.TaskID, k.ID), slog.String(semconv.NodeID, k.NodeID),
	}
}
