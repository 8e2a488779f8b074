package identityprocessor

import (
	"context"
	"fmt"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processortest"
)

// What the processor may allocate for a record beside what pdata takes for the attributes that are put on
// it (the identifiers, identity_stamped, identity_via): one piece of memory for each of them, and one for
// the list that grows; see docs/adr/0006. A bound is lowered when the code gets better and never raised.
func TestAllocationsPerRecord(t *testing.T) {
	const records = 1000
	f := func(name string, attributes int, bound float64, resource func(plog.ResourceLogs), record func(int, plog.LogRecord)) {
		t.Helper()
		p, err := newProcessor(createDefaultConfig().(*Config), processortest.NewNopSettings(Type))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = p.Shutdown(context.Background()) })
		if _, err := p.logs(t.Context(), taskLinks(records)); err != nil {
			t.Fatal(err)
		}
		made := allocationBatch(records, resource, record)
		if resource == nil {
			made = resourceBatch(records)
		}
		pass := func(do bool) float64 {
			return testing.AllocsPerRun(10, func() {
				ld := plog.NewLogs()
				made.CopyTo(ld)
				if do {
					if _, err := p.logs(t.Context(), ld); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
		pass(true) // what is measured is what is known
		got := (pass(true) - pass(false)) / records
		if bound += float64(attributes); attributes > 0 {
			bound++ // the list
		}
		t.Logf("%s: %.3f allocations a record (bound %.2f)", name, got, bound)
		if got > bound {
			t.Errorf("%s: %.3f allocations a record, more than %.2f", name, got, bound)
		}
	}
	f("three on the resource, nothing to stamp", 0, 0.05, func(rl plog.ResourceLogs) {
		rl.Resource().Attributes().PutStr("allocation_id", "a-1")
		rl.Resource().Attributes().PutStr("workflow_id", "w-1")
		rl.Resource().Attributes().PutStr("node_id", "n-1")
	}, func(int, plog.LogRecord) {})
	f("three on the resource of each record", 1, 0.05, nil, func(int, plog.LogRecord) {})
	f("one on the record, three stamped", 5, 0.05, func(plog.ResourceLogs) {}, func(i int, lr plog.LogRecord) {
		lr.Attributes().PutStr("task_id", fmt.Sprintf("t-%d", i))
	})
	f("three on the record, one stamped", 3, 0.05, func(plog.ResourceLogs) {}, func(i int, lr plog.LogRecord) {
		lr.Attributes().PutStr("task_id", fmt.Sprintf("t-%d", i))
		lr.Attributes().PutStr("workflow_id", fmt.Sprintf("w-%d", i))
		lr.Attributes().PutStr("node_id", fmt.Sprintf("n-%d", i))
	})
}

// resourceBatch is one batch of records that each have a resource of their own.
func resourceBatch(n int) plog.Logs {
	ld := plog.NewLogs()
	for i := range n {
		allocationBatch(1, func(rl plog.ResourceLogs) {
			for _, name := range []string{"allocation_id", "workflow_id", "node_id"} {
				rl.Resource().Attributes().PutStr(name, fmt.Sprintf("%s-%d", name, i))
			}
		}, func(int, plog.LogRecord) {}).ResourceLogs().MoveAndAppendTo(ld.ResourceLogs())
	}
	return ld
}

// allocationBatch is one batch of ordinary records under one resource.
func allocationBatch(n int, resource func(plog.ResourceLogs), record func(int, plog.LogRecord)) plog.Logs {
	ld := plog.NewLogs()
	rl := ld.ResourceLogs().AppendEmpty()
	rl.Resource().Attributes().PutStr("service.name", "checkout")
	if resource != nil {
		resource(rl)
	}
	sl := rl.ScopeLogs().AppendEmpty()
	for i := range n {
		lr := sl.LogRecords().AppendEmpty()
		lr.SetTimestamp(at(1))
		lr.SetObservedTimestamp(at(1))
		lr.Attributes().PutStr("http.request.method", "GET")
		lr.Attributes().PutInt("http.response.status_code", 200)
		lr.Body().SetStr(fmt.Sprintf("level=info msg=\"order placed\" order=%d", i))
		record(i, lr)
	}
	return ld
}

// taskLinks say of each task whose it is: allocation, workflow and node.
func taskLinks(n int) plog.Logs {
	return allocationBatch(2*n, func(plog.ResourceLogs) {}, func(i int, lr plog.LogRecord) {
		a, task := lr.Attributes(), fmt.Sprintf("t-%d", i/2)
		if i%2 == 0 {
			a.PutStr("task_id", task)
			a.PutStr("workflow_id", fmt.Sprintf("w-%d", i/2))
			a.PutStr("allocation_id", fmt.Sprintf("a-%d", i/2))
			return
		}
		lr.SetEventName("identity.binding")
		a.PutStr("subject_kind", "task")
		a.PutStr("subject_id", task)
		a.PutStr("object_kind", "node")
		a.PutStr("object_id", fmt.Sprintf("n-%d", i/2))
	})
}
