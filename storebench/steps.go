package storebench

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/faultline-io/faultline/internal/semconv"
)

// services of the control plane, with how many pods each has.
var services = [steps]struct {
	service, scope, version string
	pods                    int
}{
	stepRequest:    {"ingress-proxy", "envoy", "1.33.2", 4},
	stepAPI:        {"fulfillment-api", "fulfillment/rest", "2.14.1", 6},
	stepAuth:       {"auth-service", "authz", "1.9.0", 3},
	stepQuery:      {"postgres", "pg_stat", "15.6", 2},
	stepState:      {"fulfillment-api", "fulfillment/rest", "2.14.1", 6},
	stepOutbox:     {"outbox-relay", "outbox", "0.8.3", 2},
	stepWorkflow:   {"provisioning-worker", "workflow", "2.14.1", 8},
	stepSpan:       {"provisioning-worker", "workflow", "2.14.1", 8},
	stepJob:        {"aap", "controller", "4.5.6", 3},
	stepPoll:       {"provisioning-worker", "workflow", "2.14.1", 8},
	stepProjection: {"ui-projection", "projection", "1.2.7", 2},
	stepAssigned:   {"provisioning-worker", "workflow", "2.14.1", 8},
	stepInstance:   {"provisioning-worker", "workflow", "2.14.1", 8},
	stepUnassigned: {"provisioning-worker", "workflow", "2.14.1", 8},
	stepBoot:       {"cloud-init", "cloud-init", "23.4", 0},
	stepKernel:     {"kernel", "journald", "5.14.0-427", 0},
	stepAgent:      {"node-agent", "agent", "3.2.0", 0},
	stepHost:       {"host", "journald", "252-32", 0},
	stepCleanup:    {"host", "journald", "252-32", 0},
}

// emit makes the record of one emission.
func (a *allocation) emit(b *Batch, e emission) {
	s := services[e.step]
	switch { // how finely those processes stamp
	case s.pods == 0:
		e.at -= e.at % int64(time.Microsecond)
	case e.step == stepQuery || e.step == stepRequest:
		e.at -= e.at % int64(time.Millisecond)
	}
	from := emitter{service: s.service, scope: s.scope, version: s.version, instance: a.node, node: s.pods == 0}
	if !from.node {
		from.instance = s.service + "-6f7d9c-" + strconv.Itoa(a.rng.IntN(s.pods))
	}
	if e.step == stepSpan {
		a.workflowSpan(b.span(from, e.at))
		return
	}
	lr := b.log(from, e.at)
	lr.SetObservedTimestamp(pcommon.Timestamp(e.at + int64(time.Millisecond) + a.rng.Int64N(int64(80*time.Millisecond)))) //nolint:gosec // after 1970
	a.severity(lr, from.node)
	if from.node {
		a.nodeLine(lr, e.step)
		return
	}
	a.controlLine(lr, e)
}

// severity: three in a hundred are worse than informational.
func (a *allocation) severity(lr plog.LogRecord, node bool) {
	switch p := a.rng.IntN(200); {
	case p < 2:
		lr.SetSeverityNumber(plog.SeverityNumberError)
		lr.SetSeverityText("ERROR")
	case p < 6:
		lr.SetSeverityNumber(plog.SeverityNumberWarn)
		lr.SetSeverityText("WARN")
	case node && p < 40:
		lr.SetSeverityNumber(plog.SeverityNumberDebug)
		lr.SetSeverityText("DEBUG")
	default:
		lr.SetSeverityNumber(plog.SeverityNumberInfo)
		lr.SetSeverityText("INFO")
	}
}

// phase is 0 while the allocation is provisioned, 1 while it is released.
func (a *allocation) phase(at int64) int {
	if at > a.end-int64(3*time.Minute) {
		return 1
	}
	return 0
}

var (
	routes  = [...]string{"/api/v1/allocations", "/api/v1/allocations/{id}", "/api/v1/allocations/{id}/status", "/api/v1/nodes/{id}", "/api/v1/workflows/{id}"}
	methods = [...]string{"GET", "GET", "GET", "POST", "PATCH", "DELETE"}
	states  = [...]string{"requested", "reserved", "provisioning", "active", "releasing", "released"}
	tables  = [...]string{"allocations", "nodes", "outbox", "leases", "workflows", "projections"}
	verbs   = [...]string{"selected", "inserted", "updated", "locked"}
	tasks   = [...]string{"reserve", "power_on", "pxe_boot", "image", "network_attach", "enrol", "configure", "verify", "drain", "wipe"}
	units   = [...]string{"sshd", "chronyd", "NetworkManager", "kubelet", "containerd", "nvidia-persistenced", "multipathd", "lldpd"}
	devices = [...]string{"mlx5_core 0000:3b:00.0", "nvme nvme0", "nvidia 0000:5e:00.0", "ice 0000:17:00.1", "EDAC MC0", "bond0", "XFS (sda3)"}
	reports = [...]string{"link up", "temperature within limits", "corrected error, no action required", "queue reset", "firmware version matches", "timestamp counter stable", "write barrier completed"}
)

func pick[T any](a *allocation, of []T) T { return of[a.rng.IntN(len(of))] }

var moves = map[step]string{
	stepAssigned: semconv.EventNodeAssigned, stepUnassigned: semconv.EventNodeUnassigned, stepInstance: semconv.EventNodeInstance,
}

// controlLine fills a log record of the control plane: eight attributes, a text with what happened.
func (a *allocation) controlLine(lr plog.LogRecord, e emission) {
	m, phase := lr.Attributes(), a.phase(e.at)
	m.EnsureCapacity(12)
	request := a.calls[e.call]
	took := 1 + int(a.rng.ExpFloat64()*40)
	known := func() { // by what the platform itself wrote on it
		m.PutStr(semconv.WorkflowID, a.workflow[phase])
		m.PutStr(semconv.AllocationID, a.id)
	}
	learnt := func() { // by the processor, from the request
		m.PutStr(semconv.AllocationID, a.id)
		m.PutStr(semconv.IdentityStamped, semconv.AllocationID)
		m.PutStr(semconv.IdentityVia, "request")
	}
	switch e.step {
	case stepRequest:
		route, method := pick(a, routes[:]), pick(a, methods[:])
		lr.Body().SetStr(fmt.Sprintf(`[%s] "%s %s HTTP/2" 200 - via_upstream - "-" %d %d %d "-" "tenant-%d-cli/1.4" "%s" "api.example.net" "10.42.%d.%d:8443"`,
			time.Unix(0, e.at).UTC().Format("2006-01-02T15:04:05.000Z"), method, route, a.rng.IntN(2000), a.rng.IntN(9000), took, a.tenant, request, a.rng.IntN(16), a.rng.IntN(250)))
		m.PutStr("http.request.method", method)
		m.PutStr("http.route", route)
		m.PutInt("http.response.status_code", 200)
		m.PutStr("upstream.address", "10.42."+strconv.Itoa(a.rng.IntN(16))+".17:8443")
		m.PutStr("user_agent.original", "tenant-"+strconv.Itoa(a.tenant)+"-cli/1.4")
		m.PutInt("duration_ms", int64(took))
		m.PutStr("proxy.flags", "-")
		m.PutStr(semconv.RequestID, request)
		if e.call > 0 { // the very first is resolved when it is read
			learnt()
		}
	case stepAPI, stepAuth:
		lr.Body().SetStr(fmt.Sprintf("handled request %s for tenant-%d in %d ms: %s %s", request, a.tenant, took, pick(a, verbs[:]), pick(a, tables[:])))
		m.PutStr("http.request.method", pick(a, methods[:]))
		m.PutStr("http.route", pick(a, routes[:]))
		m.PutInt("http.response.status_code", 200)
		m.PutInt("duration_ms", int64(took))
		m.PutStr("tenant", "tenant-"+strconv.Itoa(a.tenant))
		m.PutStr("thread", "worker-"+strconv.Itoa(a.rng.IntN(32)))
		m.PutStr(semconv.RequestID, request)
		m.PutStr(semconv.CorrelationID, a.correlation[phase])
		if e.step == stepAPI {
			learnt()
		}
	case stepState:
		to := states[a.rng.IntN(3)+3*phase]
		lr.SetEventName(semconv.EventAllocationState)
		lr.Body().SetStr("allocation " + a.id + " is " + to)
		m.PutStr(semconv.To, to)
		m.PutStr(semconv.Reason, "workflow "+tasks[a.rng.IntN(len(tasks))]+" completed")
		m.PutStr(semconv.Actor, "provisioning-worker")
		m.PutStr(semconv.CorrelationID, a.correlation[phase])
		m.PutStr(semconv.EventIDKey, a.uuid())
		m.PutStr("tenant", "tenant-"+strconv.Itoa(a.tenant))
		known()
	case stepAssigned, stepUnassigned, stepInstance:
		lr.SetEventName(moves[e.step])
		lr.Body().SetStr(moves[e.step] + " " + a.node)
		m.PutStr(semconv.EventIDKey, a.uuid())
		m.PutStr(semconv.NodeID, a.node)
		if e.step == stepInstance {
			m.PutStr(semconv.NodeInstanceID, a.instance)
			m.PutStr(semconv.To, semconv.Live)
		}
		known()
	case stepQuery:
		table := pick(a, tables[:])
		lr.Body().SetStr(fmt.Sprintf("duration: %d.%03d ms  execute s_%d: SELECT * FROM %s WHERE allocation_id = $1  params: '%s'", took, a.rng.IntN(1000), a.rng.IntN(64), table, a.id))
		m.PutStr("db.system.name", "postgresql")
		m.PutStr("db.collection.name", table)
		m.PutStr("db.operation.name", "SELECT")
		m.PutInt("db.response.returned_rows", int64(a.rng.IntN(50)))
		m.PutInt("process.pid", int64(2000+a.rng.IntN(400)))
		m.PutStr("db.user", "fulfillment")
		m.PutInt("duration_us", int64(took*1000+a.rng.IntN(1000)))
		m.PutStr(semconv.AllocationID, a.id)
	case stepOutbox:
		id := a.uuid()
		lr.Body().SetStr("published message " + id + " to provisioning." + tasks[a.rng.IntN(len(tasks))] + " after " + strconv.Itoa(took) + " ms")
		m.PutStr("outbox_id", id)
		m.PutStr(semconv.Subject, "provisioning."+tasks[a.rng.IntN(len(tasks))])
		m.PutInt(semconv.AttemptCount, 1)
		m.PutStr("messaging.system", "nats")
		m.PutInt("messaging.message.body.size", int64(400+a.rng.IntN(900)))
		m.PutStr(semconv.CorrelationID, a.correlation[phase])
		known()
	default: // workflow, job, poll, projection
		task := pick(a, tasks[:])
		a.task++
		id := "task-" + a.workflow[phase][:13] + "-" + strconv.Itoa(a.task/3)
		lr.Body().SetStr(fmt.Sprintf("step %s of workflow %s on %s: attempt %d took %d ms, next check in %d s", task, a.workflow[phase], a.node, 1+a.rng.IntN(3), took, a.rng.IntN(60)))
		m.PutStr(semconv.TaskID, id)
		m.PutStr("task.type", task)
		m.PutInt("attempt", int64(1+a.rng.IntN(3)))
		m.PutStr("worker", "worker-"+strconv.Itoa(a.rng.IntN(64)))
		m.PutInt("duration_ms", int64(took))
		m.PutStr(semconv.NodeID, a.node)
		known()
	}
	if e.step != stepRequest && e.step != stepQuery {
		lr.SetTraceID(traceID(a.trace[phase]))
		lr.SetSpanID(a.spanID())
	}
}

// nodeLine fills a line of the node: whose it is was found by the processor, from the node and the time.
func (a *allocation) nodeLine(lr plog.LogRecord, s step) {
	m := lr.Attributes()
	m.EnsureCapacity(13)
	unit, pid := pick(a, units[:]), 900+a.rng.IntN(60000)
	switch s {
	case stepBoot:
		lr.Body().SetStr(fmt.Sprintf("util.py[DEBUG]: Running module %s with frequency once-per-instance took %d.%03d seconds (%d.%02d)", unit, a.rng.IntN(4), a.rng.IntN(1000), a.rng.IntN(60), a.rng.IntN(100)))
	case stepKernel:
		lr.Body().SetStr(fmt.Sprintf("[%d.%06d] %s: %s (%#x)", a.rng.IntN(900000), a.rng.IntN(1000000), pick(a, devices[:]), pick(a, reports[:]), a.rng.Uint32()))
	case stepAgent:
		lr.Body().SetStr(fmt.Sprintf("report %s delivered, %d checks of %d passed, load %d.%02d, %d MiB free", a.hex(6), 20+a.rng.IntN(12), 32, a.rng.IntN(90), a.rng.IntN(100), a.rng.IntN(500000)))
	default:
		lr.Body().SetStr(fmt.Sprintf("%s.service: process %d (%s) consumed %d.%03ds CPU time, %d.%dM memory peak", unit, pid, unit, a.rng.IntN(20), a.rng.IntN(1000), a.rng.IntN(900), a.rng.IntN(10)))
	}
	m.PutStr("syslog.identifier", unit)
	m.PutInt("process.pid", int64(pid))
	m.PutStr("systemd.unit", unit+".service")
	m.PutStr("syslog.facility", "daemon")
	m.PutStr("transport", "journal")
	m.PutInt("journald.monotonic_us", (int64(lr.Timestamp())-a.start)/1000) //nolint:gosec // it came from an int64
	m.PutStr("uid", "0")
	m.PutStr(semconv.BootID, a.boot)
	if s == stepCleanup {
		return
	}
	m.PutStr(semconv.NodeInstanceID, a.instance)
	m.PutStr(semconv.AllocationID, a.id)
	m.PutStr(semconv.IdentityStamped, semconv.NodeInstanceID+","+semconv.AllocationID)
	m.PutStr(semconv.IdentityVia, "node")
}

func (a *allocation) workflowSpan(sp ptrace.Span) {
	at, task := int64(sp.StartTimestamp()), pick(a, tasks[:]) //nolint:gosec // it came from an int64
	phase := a.phase(at)
	sp.SetEndTimestamp(pcommon.Timestamp(at + int64(a.rng.ExpFloat64()*float64(2*time.Second)))) //nolint:gosec // after 1970
	sp.SetName("workflow/" + task)
	sp.SetTraceID(traceID(a.trace[phase]))
	sp.SetSpanID(a.spanID())
	sp.SetParentSpanID(a.spanID())
	sp.SetKind(ptrace.SpanKindInternal)
	if a.rng.IntN(40) == 0 {
		sp.Status().SetCode(ptrace.StatusCodeError)
		sp.Status().SetMessage("attempt " + strconv.Itoa(a.rng.IntN(4)) + ": deadline exceeded waiting for " + a.node)
	}
	m := sp.Attributes()
	m.EnsureCapacity(8)
	m.PutStr("task.type", task)
	m.PutInt("attempt", int64(1+a.rng.IntN(3)))
	m.PutStr("worker", "worker-"+strconv.Itoa(a.rng.IntN(64)))
	m.PutStr("queue", "provisioning")
	m.PutStr(semconv.CorrelationID, a.correlation[phase])
	m.PutStr(semconv.NodeID, a.node)
	m.PutStr(semconv.WorkflowID, a.workflow[phase])
	m.PutStr(semconv.AllocationID, a.id)
}

func traceID(text string) (id pcommon.TraceID) {
	_, _ = hex.Decode(id[:], []byte(text))
	return id
}

func (a *allocation) spanID() (id pcommon.SpanID) {
	for i := range id {
		id[i] = byte(a.rng.Uint32())
	}
	return id
}
