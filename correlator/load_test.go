package correlator_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/story"
)

// busy makes the telemetry of one allocation: n records over all layers of a platform at work (lines, access
// lines, spans, task events; one in twenty a warning that cost nothing), among them a number of tasks that
// failed, each with the line that says why. 40 ms lie between two records.
func busy(allocation string, n, troubles int, seed uint64) []*record.Record {
	return busyFrom(allocation, n, troubles, seed, false)
}

// busyFrom can have all tasks queued at the beginning, so that every trouble lasts from there to its end.
func busyFrom(allocation string, n, troubles int, seed uint64, atOnce bool) []*record.Record {
	r := rand.New(rand.NewPCG(seed, 17))
	b := busyWriter{allocation: allocation, at: story.Day.Add(10 * time.Hour).UnixNano(), queued: atOnce}
	for k := 1; atOnce && k <= troubles; k++ {
		b.queue(k)
	}
	b.event("provisioner", "allocation.state", "to", "requested")
	b.event("provisioner", "workflow.state", "workflow_id", "w-"+allocation, "operation", "provision", "to", "running")
	b.event("provisioner", "node.assigned", "node_id", "n-"+allocation)
	b.event("provisioner", "allocation.state", "from", "reserved", "to", "provisioning")
	every := n
	if troubles > 0 {
		every = max(1, n/troubles)
	}
	failed := 0
	for i := len(b.out); len(b.out) < n-2; i++ {
		if troubles > failed && i%every == every/2 {
			failed++
			b.failedTask(failed)
			continue
		}
		b.ordinary(r, i)
	}
	if troubles > 0 {
		b.event("provisioner", "workflow.state", "workflow_id", "w-"+allocation, "operation", "provision", "to", "failed")
		b.event("provisioner", "allocation.state", "from", "provisioning", "to", "failed", "reason", "gave up")
	} else {
		b.event("provisioner", "workflow.state", "workflow_id", "w-"+allocation, "operation", "provision", "to", "completed")
		b.event("provisioner", "allocation.state", "from", "provisioning", "to", "active")
	}
	return b.out
}

type busyWriter struct {
	allocation string
	at         int64
	queued     bool // all tasks are
	out        []*record.Record
}

func (b *busyWriter) add(r *record.Record, attrs ...string) {
	b.at += int64(40 * time.Millisecond)
	r.Time, r.Observed = b.at, b.at+int64(story.SeenAfter)
	if r.Signal == record.Span {
		r.End, r.Observed = b.at+int64(3*time.Millisecond), b.at+int64(3*time.Millisecond)
	}
	r.Resource = record.Attrs{{Key: "host.name", Value: "host-" + r.Service}, {Key: "service.name", Value: r.Service}}
	r.Attrs = append(r.Attrs, record.Attr{Key: "allocation_id", Value: b.allocation})
	for i := 0; i < len(attrs); i += 2 {
		r.Attrs = append(r.Attrs, record.Attr{Key: attrs[i], Value: attrs[i+1]})
	}
	r.Attrs = r.Attrs.Sort()
	b.out = append(b.out, r)
}

func (b *busyWriter) event(service, name string, attrs ...string) {
	b.add(&record.Record{Signal: record.Log, Service: service, Name: name, Severity: 9}, attrs...)
}

func (b *busyWriter) queue(k int) {
	b.event("provisioner", "task.state", "task_id", fmt.Sprintf("k-%s-%d", b.allocation, k), "node_id", "n-"+b.allocation, "type", "prepare", "to", "queued")
}

func (b *busyWriter) failedTask(k int) {
	task, node := fmt.Sprintf("k-%s-%d", b.allocation, k), "n-"+b.allocation
	if !b.queued {
		b.queue(k)
	}
	b.event("provisioner", "task.state", "task_id", task, "node_id", node, "claim_id", "c-"+task, "type", "prepare", "to", "dispatched")
	b.add(&record.Record{Signal: record.Log, Service: "node-agent", Severity: 17, Body: "unpack image: write /var/lib/images/base.raw: no space left on device"}, "node_id", node, "task_id", task)
	b.event("provisioner", "task.state", "task_id", task, "node_id", node, "claim_id", "c-"+task, "type", "prepare", "to", "failed", "reason", "exit status 1")
}

func (b *busyWriter) ordinary(r *rand.Rand, i int) {
	node := "n-" + b.allocation
	switch k := r.IntN(20); {
	case k == 0:
		b.add(&record.Record{Signal: record.Log, Service: "fulfillment-api", Severity: 13, Body: fmt.Sprintf("slow query: select * from allocations where id = $1 took %d ms", r.IntN(900))}, "request_id", fmt.Sprintf("r-%s-%d", b.allocation, i))
	case k < 5:
		b.add(&record.Record{Signal: record.Log, Service: "ingress-proxy", Severity: 9, Body: fmt.Sprintf(`10.0.7.%d - - [02/Mar/2026:10:00:00 +0000] "GET /internal/v1/nodes/%s/tasks/wait HTTP/1.1" 204 0 "-" "node-agent/1.4"`, r.IntN(250), node)})
	case k < 10:
		b.add(&record.Record{Signal: record.Span, Service: "fulfillment-api", Name: "GET /v1/allocations/{id}", SpanKind: "server", TraceID: fmt.Sprintf("%032x", i/4+1), SpanID: fmt.Sprintf("%016x", i+1), ParentID: fmt.Sprintf("%016x", i)}, "http.request.method", "GET", "http.response.status_code", "200", "url.path", "/v1/allocations/"+b.allocation)
	case k < 12:
		b.event("provisioner", "heartbeat", "component", "provisioner")
	case k < 16:
		b.add(&record.Record{Signal: record.Log, Service: "provisioning-worker", Severity: 9, Body: fmt.Sprintf("activity %d of workflow w-%s: polled node task, still running", i, b.allocation)}, "workflow_id", "w-"+b.allocation)
	default:
		b.add(&record.Record{Signal: record.Log, Service: "node-agent", Severity: 9, Body: fmt.Sprintf("layer %d/3000 written, %d bytes, checksum ok", i%3000, r.IntN(1<<20))}, "node_id", node)
	}
}

// An allocation of hundreds of thousands of records and hundreds of troubles is judged in time that grows
// with their number, not with their product: four times the records and troubles cost about four times as
// much (make bench-verdict prints it; FAULTLINE_VERDICT_RECORDS is the largest size).
func TestLargeAllocations(t *testing.T) {
	largest, err := strconv.Atoi(os.Getenv("FAULTLINE_VERDICT_RECORDS"))
	if err != nil {
		t.Skip("SKIPPED: set FAULTLINE_VERDICT_RECORDS (make bench-verdict)")
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(table, "records\ttroubles\ttasks queued\tgather\tjudge\t")
	for _, n := range []int{50_000, 200_000, 1_000_000} {
		if n > largest {
			break
		}
		for name, atOnce := range map[string]bool{"one by one": false, "all at once": true} {
			records := busyFrom("a-1", n, min(n/500, 400), 1, atOnce)
			t0 := cpu()
			g := correlator.NewDataset(records, nil, defaultProfile(t), correlator.AsOf{})
			t1 := cpu()
			v := correlator.Judge(g.Cases()[0], rules.All())
			t2 := cpu()
			if v.Outcome != correlator.Attributed || v.Faults[0].Layer != "node" {
				t.Errorf("%d records: %s", n, v.Explanation)
			}
			_, _ = fmt.Fprintf(table, "%d\t%d\t%s\t%.1f s\t%.1f s\t\n", n, min(n/500, 400), name, (t1 - t0).Seconds(), (t2 - t1).Seconds())
		}
	}
	_ = table.Flush()
}
