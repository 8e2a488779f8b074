package lokibench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Shape is seeded telemetry: allocations that begin over some days, half of them held for less than six hours, with lines of the
// platform at their begin and end and lines of their node all the time.
type Shape struct {
	Seed  uint64
	Lines int
	Each  int // lines of an allocation
	Start time.Time
	Span  time.Duration
}

// line is one record to be made.
type line struct {
	at         int64
	allocation int32
	emitter    uint8
	severity   uint8
}

// emitters are services of the platform, then those of a node.
var emitters = []string{"ingress", "api", "auth-service", "provisioner", "outbox-relay", "operator", "kernel", "node-agent", "journald"}

const platformEmitters = 6

var words = []string{
	"POST /api/v1/allocations/%d HTTP/1.1 201 in %d ms", "allocation %d: reconcile finished in %d ms", "token for allocation %d verified in %d ms",
	"workflow of allocation %d: step wait_for_claim done after %d ms", "message of allocation %d published after %d ms", "observed generation %d of the claim, status Ready after %d s",
	"mlx5_core 0000:%02x:00.0 eth0: Link up, %d Gbps full duplex", "claim of task %d renewed, lease for %d s", "Started session %d of user root after %d ms.",
}

// lines gives all, oldest first.
func (s Shape) lines() []line {
	rng := rand.New(rand.NewPCG(s.Seed, 1)) //nolint:gosec // seeded on purpose
	out := make([]line, 0, s.Lines)
	last := s.Start.Add(s.Span).UnixNano()
	for a := int32(0); len(out) < s.Lines; a++ {
		from := s.Start.UnixNano() + rng.Int64N(int64(s.Span))
		hours := min(max(6*math.Exp(1.6*rng.NormFloat64()), 0.2), 240)
		to := min(from+int64(hours*float64(time.Hour)), last)
		for range min(s.Each, s.Lines-len(out)) {
			l := line{allocation: a, severity: uint8([]int{9, 9, 9, 9, 9, 9, 9, 9, 13, 17}[rng.IntN(10)])} //nolint:gosec // small
			if rng.Float64() < 0.4 {
				l.emitter = uint8(rng.IntN(platformEmitters)) //nolint:gosec // small
				l.at = from + rng.Int64N(int64(10*time.Minute))
				if rng.IntN(3) == 0 {
					l.at = to - rng.Int64N(int64(3*time.Minute))
				}
				if l.at < from {
					l.at = from + rng.Int64N(int64(time.Minute))
				}
			} else {
				l.emitter = uint8(platformEmitters + rng.IntN(len(emitters)-platformEmitters)) //nolint:gosec // small
				l.at = from + rng.Int64N(max(int64(time.Minute), to-from))
			}
			if l.at >= last { // never two at one moment: Loki would know them for one
				l.at = last - rng.Int64N(int64(time.Minute))
			}
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b line) int { return int(min(max(a.at-b.at, -1), 1)) })
	return out
}

// bucketAttribute is what a label of buckets is made of.
const bucketAttribute = "allocation.bucket"

// logs makes records of lines, grouped by who emits them, as they come out of the identity processor.
func logs(lines []line, y layout) plog.Logs {
	ld := plog.NewLogs()
	by := map[string]plog.LogRecordSlice{}
	for _, l := range lines {
		service := emitters[l.emitter]
		key := service
		if l.emitter >= platformEmitters || y.buckets > 0 {
			key += fmt.Sprint(l.allocation)
		}
		records, ok := by[key]
		if !ok {
			rl := ld.ResourceLogs().AppendEmpty()
			m := rl.Resource().Attributes()
			m.PutStr(semconv.ServiceName, service)
			m.PutStr("service.version", "1.14.2")
			m.PutStr("deployment.environment.name", "prod")
			m.PutStr("k8s.cluster.name", "east-1")
			if y.buckets > 0 {
				m.PutStr(bucketAttribute, y.bucket(l.allocation))
			}
			if l.emitter >= platformEmitters {
				m.PutStr(semconv.HostName, fmt.Sprintf("node-%05d", l.allocation))
				m.PutStr(semconv.NodeID, fmt.Sprintf("node-%05d", l.allocation))
				m.PutStr(semconv.NodeInstanceID, fmt.Sprintf("ni-%016x", l.allocation))
			} else {
				m.PutStr(semconv.HostName, "control-2")
			}
			sl := rl.ScopeLogs().AppendEmpty()
			sl.Scope().SetName("github.com/example/" + service)
			records = sl.LogRecords()
			by[key] = records
		}
		l.write(records.AppendEmpty())
	}
	return ld
}

func (l line) write(lr plog.LogRecord) {
	n := l.at / 1e6 % 1000
	lr.SetTimestamp(pcommon.Timestamp(l.at))         //nolint:gosec // after 1970
	lr.SetObservedTimestamp(pcommon.Timestamp(l.at)) //nolint:gosec // after 1970
	lr.SetSeverityNumber(plog.SeverityNumber(l.severity))
	lr.Body().SetStr(fmt.Sprintf(words[l.emitter], l.allocation, n))
	m := lr.Attributes()
	m.EnsureCapacity(9)
	if l.emitter < platformEmitters {
		var id pcommon.TraceID
		for i := range 8 {
			id[i], id[8+i] = byte(l.at>>(8*i)), byte(l.allocation>>(4*i)) //nolint:gosec // bytes
		}
		lr.SetTraceID(id)
		lr.SetSpanID(pcommon.SpanID(id[:8]))
		m.PutStr("http.request.method", "POST")
		m.PutInt("http.response.status_code", 200+int64(l.severity))
		m.PutStr("url.path", "/api/v1/allocations")
		m.PutStr(semconv.CorrelationID, fmt.Sprintf("c-%08x", l.allocation))
	} else {
		m.PutStr("systemd.unit", "faultline.service")
		m.PutStr(semconv.BootID, fmt.Sprintf("%032x", l.allocation))
	}
	m.PutStr(semconv.AllocationID, fmt.Sprintf("a-%08x", l.allocation))
	m.PutStr(semconv.WorkflowID, fmt.Sprintf("w-%08x", l.allocation))
	m.PutStr(semconv.IdentityVia, "node_instance")
	m.PutStr(semconv.IdentityStamped, "allocation_id,workflow_id")
}
