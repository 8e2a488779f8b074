package main

import (
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// Sizes: batches of 1,000 records, 100,000 different keys.
const (
	records = 1000
	batches = 100
)

var start = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// batch makes one batch of ordinary records: eight attributes each, ten on the resource, of which there
// is one for each so many records.
func batch(n, each int, resource func(i int, m pcommon.Map), fill func(i int, lr plog.LogRecord)) plog.Logs {
	ld := plog.NewLogs()
	for i := n * records; i < (n+1)*records; i += each {
		rl := ld.ResourceLogs().AppendEmpty()
		describe(rl.Resource().Attributes())
		if resource != nil {
			resource(i, rl.Resource().Attributes())
		}
		add(rl.ScopeLogs().AppendEmpty().LogRecords(), i, i+each, fill)
	}
	return ld
}

func describe(m pcommon.Map) {
	for _, kv := range [][2]string{
		{"service.name", "checkout"}, {"service.version", "1.2.3"}, {"service.namespace", "shop"}, {"k8s.pod.name", "checkout-5d8f7c9b6-abcde"}, {"k8s.namespace.name", "shop"},
		{"k8s.node.name", "node-17"}, {"host.name", "node-17"}, {"telemetry.sdk.language", "go"}, {"telemetry.sdk.name", "opentelemetry"}, {"deployment.environment", "prod"},
	} {
		m.PutStr(kv[0], kv[1])
	}
}

func add(to plog.LogRecordSlice, from, until int, fill func(i int, lr plog.LogRecord)) {
	for i := from; i < until; i++ {
		lr := to.AppendEmpty()
		lr.SetTimestamp(pcommon.NewTimestampFromTime(start))
		lr.SetObservedTimestamp(pcommon.NewTimestampFromTime(start))
		lr.SetSeverityNumber(plog.SeverityNumberInfo)
		a := lr.Attributes()
		a.PutStr("http.request.method", "GET")
		a.PutStr("url.path", fmt.Sprintf("/api/v1/orders/%d", i))
		a.PutStr("http.route", "/api/v1/orders/{id}")
		a.PutInt("http.response.status_code", 200)
		a.PutStr("server.address", "10.0.0.17")
		lr.Body().SetStr(fmt.Sprintf(`2026-03-02T12:00:00Z level=info msg="order placed" order=%d duration=12ms`, i))
		fill(i, lr)
	}
}

// all makes every batch, each with one resource.
func all(resource func(int, pcommon.Map), fill func(i int, lr plog.LogRecord)) (out []plog.Logs) {
	for n := range batches {
		out = append(out, batch(n, records, resource, fill))
	}
	return out
}

// pods: one resource for each so many records, a pod each, with what k8sattributes asks for. The
// identifiers that ours asks for stand beside it, so that both read the same batches.
func pods(each int, ids func(i int, m pcommon.Map)) func() []plog.Logs {
	return func() (out []plog.Logs) {
		for n := range batches {
			out = append(out, batch(n, each, func(i int, m pcommon.Map) {
				m.Remove("k8s.pod.name") // what k8sattributes is there to add
				m.Remove("k8s.namespace.name")
				m.Remove("k8s.node.name")
				m.PutStr("k8s.pod.uid", podUID(i))
				ids(i, m)
			}, func(int, plog.LogRecord) {}))
		}
		return out
	}
}

// allKeys: allocation, workflow and node stand on the resource already.
func allKeys(i int, m pcommon.Map) {
	m.PutStr("allocation_id", fmt.Sprintf("a-%06d", i))
	m.PutStr("workflow_id", fmt.Sprintf("w-%06d", i))
	m.PutStr("node_id", fmt.Sprintf("n-%06d", i))
}

// taskKey: a task stands on the resource, from which allocation, workflow and node follow.
func taskKey(i int, m pcommon.Map) { m.PutStr("task_id", fmt.Sprintf("t-%06d", i)) }

func put(lr plog.LogRecord, kind string, i int) {
	lr.Attributes().PutStr(kind+"_id", fmt.Sprintf("%c-%06d", kind[0], i))
}

// carriesOne: a task, from which allocation, workflow and node follow.
func carriesOne() []plog.Logs {
	return all(nil, func(i int, lr plog.LogRecord) {
		put(lr, "task", i)
		lr.Attributes().PutStr("user_agent.original", "Mozilla/5.0 (X11; Linux x86_64)")
		lr.Attributes().PutStr("net.peer.ip", "10.1.2.3")
	})
}

// carriesThree: workflow, correlation and task, from which the allocation follows.
func carriesThree() []plog.Logs {
	return all(nil, func(i int, lr plog.LogRecord) {
		put(lr, "workflow", i/10)
		put(lr, "correlation", i/5)
		put(lr, "request", i)
	})
}

// carriesNone: all stands on the resource.
func carriesNone() []plog.Logs {
	return all(allKeys, func(int, plog.LogRecord) {})
}

// lines: nova's, with the identifiers in the text.
func lines() []plog.Logs {
	return all(func(_ int, m pcommon.Map) { m.PutStr("service.name", "nova-compute") }, func(i int, lr plog.LogRecord) {
		lr.Body().SetStr(fmt.Sprintf("2017-05-16 00:00:04.500 2931 INFO nova.compute.manager [req-3ea4052c-895d-4b64-9e2d-%012x 113d3a99c3da401fbd62cc2caa5b96d2 54fadb412c4e40cdbaed9335e4c35a9e - - -] "+
			"[instance: b9000564-fe1a-409b-b8cc-%012x] VM Started (Lifecycle Event)", i, i/10))
	})
}

// without leaves out the lines: what is left is the look-up and the stamps.
func without(data func() []plog.Logs) func() []plog.Logs {
	return func() []plog.Logs {
		out := data()
		for _, ld := range out {
			for _, lr := range ld.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().All() {
				lr.Body().SetStr("")
			}
		}
		return out
	}
}

// links say whose the 100,000 keys are.
func links() []plog.Logs {
	out := all(nil, func(i int, lr plog.LogRecord) {
		put(lr, "task", i)
		put(lr, "workflow", i/10)
		put(lr, "allocation", i/10)
	})
	return append(out, all(nil, func(i int, lr plog.LogRecord) {
		lr.SetEventName("identity.binding")
		a := lr.Attributes()
		a.PutStr("subject_kind", "task")
		a.PutStr("subject_id", fmt.Sprintf("t-%06d", i))
		a.PutStr("object_kind", "node")
		a.PutStr("object_id", fmt.Sprintf("n-%06d", i/10))
	})...)
}
