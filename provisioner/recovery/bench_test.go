package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// bench is a service on a store in which nothing moves by itself.
type bench struct {
	t       *testing.T
	store   *store.Store
	service *recovery.Service
}

func newBench(t *testing.T, target string) *bench {
	t.Helper()
	s := storetest.Open(t, target, store.Options{})
	return &bench{t, s, recovery.New(s, recovery.DefaultConfig(), time.Minute)}
}

func (b *bench) update(f func(*store.Tx) error) {
	b.t.Helper()
	if err := b.store.Update(context.Background(), "test", f); err != nil {
		b.t.Fatal(err)
	}
}

// lives are the ways to each state of an allocation, by legal moves; each goes on from the one before it
// on its way.
var lives = map[string][]string{
	semconv.Requested:     {},
	semconv.Reserved:      {"reserve"},
	semconv.Provisioning:  {"reserve", semconv.Provisioning},
	semconv.Active:        {"reserve", semconv.Provisioning, "occupy", semconv.Active},
	semconv.Degraded:      {"reserve", semconv.Provisioning, "occupy", semconv.Active, semconv.Degraded},
	semconv.Failed:        {"reserve", semconv.Provisioning, "occupy", "clean", semconv.Failed},
	semconv.Canceling:     {"reserve", semconv.Provisioning, "occupy", semconv.Canceling},
	semconv.Releasing:     {"reserve", semconv.Provisioning, "occupy", semconv.Active, "clean", semconv.Releasing},
	semconv.ReleaseFailed: {"reserve", semconv.Provisioning, "occupy", semconv.Active, "clean", semconv.Releasing, semconv.ReleaseFailed},
	semconv.Released:      {"reserve", semconv.Provisioning, "occupy", semconv.Active, "clean", semconv.Releasing, "free", semconv.Released},
	semconv.Canceled:      {semconv.Canceled},
}

// live brings an allocation into a state, on a node of its own, with the message that would have begun it.
func (b *bench) live(id, state string) (node, message string) {
	b.t.Helper()
	node = "n-" + id
	b.update(func(t *store.Tx) error {
		if err := t.RegisterNode(node, "p"); err != nil {
			return err
		}
		a, err := t.CreateAllocation(store.Allocation{ID: id, Pool: "p", Image: "i", RequestedBy: "alice"})
		if err != nil {
			return err
		}
		n, err := t.Node(node)
		if err != nil {
			return err
		}
		for _, step := range lives[state] {
			switch step {
			case "reserve":
				if err = t.Reserve(&n, &a); err == nil {
					err = t.MoveAllocation(&a, semconv.Reserved, "", lifecycle.Facts{})
				}
			case "occupy":
				err = t.MoveNode(&n, lifecycle.Occupied, "first claim", lifecycle.NodeFacts{})
			case "clean":
				err = t.MoveNode(&n, lifecycle.Cleanup, "release", lifecycle.NodeFacts{})
			case "free":
				err = t.MoveNode(&n, lifecycle.Free, "wiped", lifecycle.NodeFacts{Proof: "task t-1"})
				a.NodeID = ""
			default:
				err = t.MoveAllocation(&a, step, "because", lifecycle.Facts{Actor: "alice", Why: "done", TasksDone: true, Observed: true})
			}
			if err != nil {
				return fmt.Errorf("%s: %w", step, err)
			}
		}
		subject := map[string]string{semconv.Releasing: workflow.SubjectRelease, semconv.Canceling: workflow.SubjectCancel}[state]
		if subject == "" {
			subject = workflow.SubjectProvision
		}
		message, err = t.PutOutbox(subject, id, "{}")
		return err
	})
	return node, message
}

// fence keeps a node out of use.
func (b *bench) fence(node string) {
	b.t.Helper()
	b.update(func(t *store.Tx) error {
		n, err := t.Node(node)
		if err != nil {
			return err
		}
		return t.MoveNode(&n, lifecycle.Fenced, "suspect", lifecycle.NodeFacts{Actor: "kim"})
	})
}

// message moves a message as the relay does.
func (b *bench) message(id, to string) {
	b.t.Helper()
	b.update(func(t *store.Tx) error {
		m, err := t.Message(id)
		if err != nil {
			return err
		}
		if m.State == to {
			return nil
		}
		m.Attempts, m.LastError = 15, "refused"
		return t.MoveMessage(&m, to)
	})
}

// state is how an allocation, its node and a message stand.
func (b *bench) state(allocation, node, message string) (out string) {
	b.t.Helper()
	if err := b.store.View(context.Background(), "test", func(t *store.Tx) error {
		a, err := t.Allocation(allocation)
		if err != nil {
			return err
		}
		n, err := t.Node(node)
		if err != nil {
			return err
		}
		m, err := t.Message(message)
		out = a.State + "/" + n.Occupancy + "/" + m.State
		return err
	}); err != nil {
		b.t.Fatal(err)
	}
	return out
}

func (b *bench) rows() []store.Audit {
	b.t.Helper()
	var rows []store.Audit
	if err := b.store.View(context.Background(), "test", func(t *store.Tx) (err error) {
		rows, err = t.AuditLog(store.AuditFilter{Limit: 100})
		return err
	}); err != nil {
		b.t.Fatal(err)
	}
	return rows
}

// asks is a request that lacks nothing.
func asks(id string) recovery.Request {
	return recovery.Request{ID: id, Reason: "ticket 7", Absent: true, Evidence: "console:7", By: recovery.By{Actor: "kim", ActorType: "admin", Via: "token kim"}}
}

func (b *bench) do(of recovery.Kind, name string, r recovery.Request) (recovery.Answer, bool, error) {
	return b.service.Do(context.Background(), of, name, r)
}

// must does an action and checks how everything stands then.
func (b *bench) must(of recovery.Kind, name string, r recovery.Request) recovery.Answer {
	b.t.Helper()
	answer, _, err := b.do(of, name, r)
	if err != nil {
		b.t.Fatalf("%s: %v", name, err)
	}
	return answer
}

func (b *bench) refused(of recovery.Kind, name string, r recovery.Request, guard string, reason lifecycle.Reason) *recovery.Refusal {
	b.t.Helper()
	_, _, err := b.do(of, name, r)
	var refusal *recovery.Refusal
	if !errors.As(err, &refusal) || refusal.Guard != guard || refusal.Cause.Reason != reason {
		b.t.Fatalf("%s: %v (%+v), want guard %s, %s", name, err, refusal, guard, reason)
	}
	return refusal
}
