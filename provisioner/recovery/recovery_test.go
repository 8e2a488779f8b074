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
)

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
		all, err := b.service.Stuck(context.Background(), time.Hour)
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
