package recovery_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// bench is a desk on a store in which nothing moves by itself.
type bench struct {
	t     *testing.T
	store *store.Store
	desk  *recovery.Desk
}

func newBench(t *testing.T, target string) *bench {
	t.Helper()
	s, err := store.Open(context.Background(), target, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
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
	return b.desk.Do(context.Background(), of, name, r)
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

func TestForcedReleaseAndCleanup(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target)
		node, message := b.live("a-1", semconv.ReleaseFailed)
		b.fence(node)

		r := b.refused(recovery.Allocations, "retry-release", asks("a-1"), "node_not_fenced", lifecycle.NodeFenced)
		if !slices.Contains(r.Legal, "force-release") || slices.Contains(r.Legal, "retry-release") || slices.Contains(r.Legal, "cancel") {
			t.Fatal(r.Legal)
		}
		bare := asks("a-1")
		bare.Reason = " "
		b.refused(recovery.Allocations, "force-release", bare, "reason_given", lifecycle.UnnamedActor)
		bare = asks("a-1")
		bare.Evidence = ""
		b.refused(recovery.Allocations, "force-cleanup", bare, "verified_absent", lifecycle.EvidenceMissing)
		bare = asks("a-1")
		bare.Absent = false
		b.refused(recovery.Allocations, "force-cleanup", bare, "verified_absent", lifecycle.EvidenceMissing)
		b.refused(recovery.Allocations, "cancel", asks("a-1"), "allocation_not_active_yet", lifecycle.IllegalMove)
		if got := b.state("a-1", node, message); got != "release_failed/fenced/pending" {
			t.Fatal(got)
		}

		before := len(b.rows())
		dry := asks("a-1")
		dry.DryRun = true
		tried := b.must(recovery.Allocations, "force-release", dry)
		if got := b.state("a-1", node, message); got != "release_failed/fenced/pending" || len(b.rows()) != before || tried.AuditID != "" || !tried.DryRun {
			t.Fatalf("a dry run has changed something: %s, %+v", got, tried)
		}
		done := b.must(recovery.Allocations, "force-release", asks("a-1"))
		if got := b.state("a-1", node, message); got != "releasing/cleanup/pending" {
			t.Fatal(got)
		}
		if fmt.Sprint(done.Changes) != fmt.Sprint(tried.Changes) || len(done.Changes) != 3 {
			t.Fatalf("%v, but the dry run said %v", done.Changes, tried.Changes)
		}
		row := b.rows()[0]
		if row.ID != done.AuditID || row.Action != "force_release" || row.Actor != "kim" || row.Via != "token kim" || row.Outcome != store.Done ||
			row.Before != "allocation a-1 release_failed, node "+node+" fenced" || row.After != "allocation a-1 releasing, node "+node+" cleanup" ||
			!strings.Contains(row.Verdict, `"source":"none"`) || row.CorrelationID == "" || row.Detail != "message release.requested written" {
			t.Fatalf("%+v", row)
		}
		// The refusals are in the log, with the guard.
		if row := b.rows()[1]; row.Outcome != store.Refused || !strings.HasPrefix(row.Detail, "guard allocation_not_active_yet") || row.Evidence != "" {
			t.Fatalf("%+v", row)
		}

		other, message := b.live("a-2", semconv.ReleaseFailed)
		b.must(recovery.Allocations, "force-cleanup", asks("a-2"))
		if got := b.state("a-2", other, message); got != "released/free/pending" {
			t.Fatal(got)
		}
		if row := b.rows()[0]; row.Evidence != "console:7" {
			t.Fatalf("%+v", row)
		}
	})
}

func TestAKeyIsOneRequest(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target)
		node, _ := b.live("a-1", semconv.ReleaseFailed)
		r := asks("a-1")
		r.Key = "k-1"
		dry := r
		dry.DryRun = true
		b.must(recovery.Allocations, "retry-release", dry) // spends no key
		first, replayed, err := b.do(recovery.Allocations, "retry-release", r)
		if err != nil || replayed {
			t.Fatal(replayed, err)
		}
		rows := len(b.rows())
		second, replayed, err := b.do(recovery.Allocations, "retry-release", r)
		if err != nil || !replayed || fmt.Sprint(second) != fmt.Sprint(first) || len(b.rows()) != rows {
			t.Fatalf("%+v\n%+v\n%v, %v", second, first, replayed, err)
		}
		otherwise := r
		otherwise.Reason = "another one"
		_, _, err = b.do(recovery.Allocations, "retry-release", otherwise)
		var refusal *lifecycle.Refusal
		if !errors.As(err, &refusal) || refusal.Reason != lifecycle.KeyReused {
			t.Fatal(err)
		}
		_, _, err = b.do(recovery.Nodes, "fence", recovery.Request{ID: node, Reason: r.Reason, By: r.By, Key: "k-1"})
		if !errors.As(err, &refusal) || refusal.Reason != lifecycle.KeyReused {
			t.Fatal(err)
		}
		// Another caller's key is another key; and what was refused leaves its key free.
		theirs := r
		theirs.By.Actor = "lou"
		b.refused(recovery.Allocations, "retry-release", theirs, "no_open_workflow", lifecycle.OperationInProgress)
		b.update(func(t *store.Tx) error {
			a, err := t.Allocation("a-1")
			if err != nil {
				return err
			}
			return t.MoveAllocation(&a, semconv.ReleaseFailed, "again", lifecycle.Facts{})
		})
		if _, replayed, err := b.do(recovery.Allocations, "retry-release", theirs); err != nil || replayed {
			t.Fatal(replayed, err)
		}
	})
}

func TestATokenIsShownOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target)
		node, _ := b.live("a-1", semconv.Active)
		r := asks(node)
		r.Key = "k-1"
		dry := r
		dry.DryRun = true
		if a := b.must(recovery.Nodes, "re-enrol", dry); a.Enrolment == nil || a.Enrolment.Token != "" {
			t.Fatalf("%+v", a.Enrolment)
		}
		if a := b.must(recovery.Nodes, "re-enrol", r); a.Enrolment == nil || len(a.Enrolment.Token) != 32 {
			t.Fatalf("%+v", a.Enrolment)
		}
		again, replayed, err := b.do(recovery.Nodes, "re-enrol", r)
		if err != nil || !replayed || again.Enrolment == nil || again.Enrolment.Token != "" {
			t.Fatalf("%+v, %v, %v", again.Enrolment, replayed, err)
		}
	})
}

func TestSkippedPoisonSettlesWhoWaitedForIt(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target)
		f := func(state, want string) {
			t.Helper()
			id := "a-" + state
			node, message := b.live(id, state)
			b.message(message, semconv.Dead)
			b.must(recovery.Messages, "skip", asks(message))
			if got := b.state(id, node, message); got != want+"/dead" {
				t.Fatalf("%s: %s, want %s", state, got, want)
			}
			b.refused(recovery.Messages, "republish", asks(message), "message_not_skipped", lifecycle.MessageSkipped)
			b.refused(recovery.Messages, "skip", asks(message), "message_not_skipped", lifecycle.MessageSkipped)
		}
		f(semconv.Requested, "failed/free")
		f(semconv.Releasing, "release_failed/cleanup")
		f(semconv.Canceling, "release_failed/cleanup")
		f(semconv.Active, "active/occupied") // nobody waited for it
		all, err := b.desk.Stuck(context.Background(), time.Hour)
		if err != nil || slices.ContainsFunc(all.Items, func(i recovery.Item) bool { return i.Kind == "message" && i.State == semconv.Dead }) {
			t.Fatalf("%+v, %v", all, err)
		}
	})
}

func TestAnEarlierMessageNoLongerHoldsUpLaterOnes(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target)
		_, poison := b.live("a-1", semconv.Requested)
		b.update(func(t *store.Tx) error {
			m, err := t.Message(poison)
			if err != nil {
				return err
			}
			m.Attempts, m.NextAt = 3, t.Now().Add(time.Hour)
			return t.MoveMessage(&m, semconv.Failed)
		})
		due := func() (ids []string) {
			all, err := b.store.DueMessages(context.Background(), 0, 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range all {
				ids = append(ids, m.ID)
			}
			return ids
		}
		b.must(recovery.Messages, "republish", asks(poison))
		if got := due(); !slices.Contains(got, poison) {
			t.Fatal(got)
		}
		b.must(recovery.Messages, "skip", asks(poison))
		if got := due(); slices.Contains(got, poison) || len(got) == 0 { // allocation.failed is sent
			t.Fatal(got)
		}
	})
}

// Whatever state everything is in: what is listed as legal goes through and makes no move but those of its
// line, and what isn't is refused and changes nothing.
func TestWhatIsLegalGoesThrough(t *testing.T) {
	b := newBench(t, t.TempDir()+"/p.db")
	n := 0
	for state := range lives {
		for _, a := range recovery.Actions() {
			variants := []string{semconv.Pending, lifecycle.Fenced} // of the message for its own actions, of the node for the others
			if a.Of == recovery.Messages {
				variants = []string{semconv.Pending, semconv.Failed, semconv.Dead, semconv.Published}
			}
			for _, v := range variants {
				n++
				id := fmt.Sprintf("a-%d", n)
				node, message := b.live(id, state)
				if v == lifecycle.Fenced {
					b.fence(node)
				} else {
					b.message(message, v)
				}
				b.legalOrRefused(a, id, node, message)
			}
		}
	}
}

func (b *bench) legalOrRefused(a recovery.Action, allocation, node, message string) {
	b.t.Helper()
	id := map[recovery.Kind]string{recovery.Allocations: allocation, recovery.Nodes: node, recovery.Messages: message}[a.Of]
	before := strings.Split(b.state(allocation, node, message), "/")
	dry := asks(id)
	dry.DryRun = true
	_, _, tried := b.do(a.Of, a.Name, dry)
	answer, _, err := b.do(a.Of, a.Name, asks(id))
	if (tried == nil) != (err == nil) {
		b.t.Fatalf("%s of %v: dry run says %v, but %v", a.Name, before, tried, err)
	}
	after := strings.Split(b.state(allocation, node, message), "/")
	var refusal *recovery.Refusal
	if err != nil {
		if !errors.As(err, &refusal) || refusal.Guard == "lifecycle" || refusal.Cause.Reason.Remedy() == "" || slices.Contains(refusal.Legal, a.Name) {
			b.t.Fatalf("%s of %v: %v, %+v", a.Name, before, err, refusal)
		}
		if fmt.Sprint(before) != fmt.Sprint(after) {
			b.t.Fatalf("%s was refused, and yet %v became %v", a.Name, before, after)
		}
		return
	}
	for i, of := range []recovery.Kind{recovery.Allocations, recovery.Nodes, recovery.Messages} {
		if before[i] == after[i] {
			continue
		}
		if !reachable(a.Moves, of, before[i], after[i]) {
			b.t.Fatalf("%s moved %s from %s to %s, which is not in its line", a.Name, of, before[i], after[i])
		}
		if !strings.Contains(fmt.Sprint(answer.Changes), before[i]+" "+after[i]) {
			b.t.Fatalf("%s does not say that %s went from %s to %s: %v", a.Name, of, before[i], after[i], answer.Changes)
		}
	}
}

// reachable says whether the moves lead from one state to another.
func reachable(moves []recovery.Move, of recovery.Kind, from, to string) bool {
	return slices.ContainsFunc(moves, func(m recovery.Move) bool {
		return m.Of == of && m.From == from && (m.To == to || m.To != from && reachable(moves, of, m.To, to))
	})
}
