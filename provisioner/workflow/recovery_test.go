package workflow_test

import (
	"context"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/fleet"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// A release that has failed, a node that was fenced for it, and a node that is suspect: what an operator
// does leads to the end, and nothing is given back without a wipe that says so.
func TestAnOperatorBringsItToTheEnd(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		b := newBench(t, target).start()
		a := b.agent("n-1")
		b.create("a-1")
		b.do(a, workflow.TaskPrepare, "")
		b.do(a, workflow.TaskProvision, workflow.ObservedRunning)
		b.until("a-1", semconv.Active)
		service := recovery.New(b.store, recovery.DefaultConfig(), time.Minute)
		act := func(of recovery.Kind, action, id string) error {
			_, _, err := service.Do(context.Background(), of, action, recovery.Request{ID: id, Reason: "INC-7", By: recovery.By{Actor: "kim", ActorType: "admin"}})
			return err
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(act(recovery.Nodes, "fence", "n-1"))
		refused(t, act(recovery.Nodes, "unfence", "n-1"), lifecycle.OperationInProgress) // it is in use
		_, err := b.control.Release(context.Background(), "a-1", control.Asker{Actor: "alice", ActorType: "user"})
		must(err)
		refused(t, act(recovery.Allocations, "force-release", "a-1"), lifecycle.OperationInProgress)
		b.do(a, workflow.TaskDeprovision, "")
		must(b.report(a, b.claim(a, workflow.TaskWipe), fleet.Result{OK: true, Observed: workflow.ObservedAbsent}))
		b.until("a-1", semconv.ReleaseFailed) // a wipe does not lift an operator's fence
		b.occupancy("n-1", lifecycle.Fenced, "a-1")
		_, err = b.control.Release(context.Background(), "a-1", control.Asker{Actor: "alice", ActorType: "user", Reason: "again"})
		refused(t, err, lifecycle.NodeFenced)
		refused(t, act(recovery.Allocations, "retry-release", "a-1"), lifecycle.NodeFenced)

		must(act(recovery.Allocations, "force-release", "a-1"))
		b.occupancy("n-1", lifecycle.Cleanup, "a-1")
		b.do(a, workflow.TaskDeprovision, "")
		must(b.report(a, b.claim(a, workflow.TaskWipe), fleet.Result{OK: true, Observed: workflow.ObservedAbsent}))
		b.until("a-1", semconv.Released)
		b.occupancy("n-1", lifecycle.Free, "")
	})
}
