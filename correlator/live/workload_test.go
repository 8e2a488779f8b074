package live

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Workload makes the records of a platform with many live allocations: each of them on a node, in the
// middle of a task.
type Workload struct {
	r       *rand.Rand
	live    []*tenant
	made, n int
}

// tenant is one live allocation.
type tenant struct {
	id, node, task string
	tries          int
}

// NewWorkload gives the same records every time.
func NewWorkload() *Workload { return &Workload{r: rand.New(rand.NewPCG(1, 2))} } //nolint:gosec // the same every time

func (w *Workload) record(at time.Time, service, event string, severity int, body string, attrs ...string) *record.Record {
	w.n++
	r := &record.Record{
		Signal: record.Log, Time: at.UnixNano(), Observed: at.UnixNano() + int64(3*time.Millisecond), Service: service, Name: event, Severity: severity, Body: body,
		Resource: record.Attrs{{Key: semconv.ServiceName, Value: service}},
	}
	attrs = append(attrs, semconv.EventIDKey, fmt.Sprintf("w-%d", w.n))
	m := map[string]string{}
	for i := 0; i < len(attrs); i += 2 {
		m[attrs[i]] = attrs[i+1]
	}
	r.Attrs = record.FromMap(m)
	return r
}

// Begin starts one more allocation, up to its first task being claimed: seven records.
func (w *Workload) Begin(at time.Time) []*record.Record {
	w.made++
	t := &tenant{id: fmt.Sprintf("alloc-%06d", w.made), node: fmt.Sprintf("node-%06d", w.made), task: fmt.Sprintf("task-%06d-0", w.made)}
	w.live = append(w.live, t)
	a, n, k := semconv.AllocationID, semconv.NodeID, semconv.TaskID
	return []*record.Record{
		w.record(at, "provisioner", semconv.EventAllocationState, 9, "", a, t.id, "to", "requested"),
		w.record(at.Add(1e6), "provisioner", semconv.EventAllocationState, 9, "", a, t.id, "from", "requested", "to", "reserved"),
		w.record(at.Add(2e6), "provisioner", semconv.EventNodeAssigned, 9, "", a, t.id, n, t.node),
		w.record(at.Add(3e6), "provisioner", semconv.EventAllocationState, 9, "", a, t.id, "from", "reserved", "to", "provisioning"),
		w.record(at.Add(4e6), "provisioner", semconv.EventTaskState, 9, "", a, t.id, k, t.task, n, t.node, "type", "prepare", "to", "queued"),
		w.record(at.Add(5e6), "provisioner", semconv.EventTaskState, 9, "", k, t.task, n, t.node, semconv.ClaimID, t.task+"-c", "to", "dispatched"),
		w.record(at.Add(6e6), "node-agent", "", 9, "claimed "+t.task, k, t.task, n, t.node),
	}
}

// Next is one moment of one allocation. Of 1,000 moments: 700 lines of a node or a service, 200 signs of
// life, 60 lifecycle events, 30 warnings that cost nothing, and 10 failures that cost an attempt.
func (w *Workload) Next(at time.Time) []*record.Record {
	t := w.live[w.r.IntN(len(w.live))]
	a, n, k := semconv.AllocationID, semconv.NodeID, semconv.TaskID
	switch p := w.r.IntN(1000); {
	case p < 400:
		return []*record.Record{w.record(at, "node-agent", "", 9, fmt.Sprintf("pulled layer %d of 12 (%d MB)", w.n%12, w.n%400), k, t.task, n, t.node)}
	case p < 700:
		return []*record.Record{w.record(at, "kernel", "", 9, fmt.Sprintf("nvme0n1: p1 p2 queue depth %d", w.n%64), n, t.node)}
	case p < 900:
		return []*record.Record{w.record(at, "node-agent", semconv.EventHeartbeat, 9, "", semconv.Component, "node-agent", n, t.node)}
	case p < 960:
		return []*record.Record{w.record(at, "provisioner", semconv.EventTaskState, 9, "", k, t.task, n, t.node, semconv.ClaimID, t.task+"-c", "to", "running")}
	case p < 990:
		return []*record.Record{w.record(at, "node-agent", "", 13, "mirror answered slowly, retrying", k, t.task, n, t.node)}
	}
	old := t.task
	t.tries++
	t.task = fmt.Sprintf("%s-%d", old[:len("task-000000")], t.tries)
	return []*record.Record{
		w.record(at, "node-agent", "", 17, "write /var/lib/image: no space left on device", k, old, n, t.node),
		w.record(at.Add(1e6), "provisioner", semconv.EventTaskState, 9, "", k, old, n, t.node, semconv.ClaimID, old+"-c", "to", "failed"),
		w.record(at.Add(2e6), "provisioner", semconv.EventTaskState, 9, "", a, t.id, k, t.task, n, t.node, "type", "prepare", "to", "queued"),
		w.record(at.Add(3e6), "provisioner", semconv.EventTaskState, 9, "", k, t.task, n, t.node, semconv.ClaimID, t.task+"-c", "to", "dispatched"),
	}
}
