package soak

import (
	"hash/maphash"
	"io"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"

	"github.com/faultline-io/faultline/internal/semconv"
)

// Event is what is kept of one lifecycle event.
type Event struct {
	Time                       time.Time
	Name, Subject              string // Subject: the allocation, node, workflow, task or message
	Allocation, Workflow, Kind string // Kind: operation of a workflow, type of a task
	From, To, Reason           string
	Fence, Attempt             int64
}

// Receiver is an OTLP/HTTP receiver that keeps lifecycle events, each once.
type Receiver struct {
	mu         sync.Mutex
	seed       maphash.Seed
	seen       map[uint64]struct{}
	events     []Event
	duplicates int
	without    int // events without an event_id
}

// NewReceiver makes an empty one.
func NewReceiver() *Receiver {
	return &Receiver{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
}

// Events are those that have arrived, in order of arrival; duplicates is how often one came again.
func (r *Receiver) Events() (all []Event, duplicates int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.events, r.duplicates
}

// ServeHTTP takes logs, and spans without reading them.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if q.URL.Path != "/v1/logs" {
		return
	}
	request := plogotlp.NewExportRequest()
	if err := request.UnmarshalProto(body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, rl := range request.Logs().ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, l := range sl.LogRecords().All() {
				r.take(l)
			}
		}
	}
}

func (r *Receiver) take(l plog.LogRecord) {
	a := l.Attributes()
	subject, ok := subjects[l.EventName()]
	if !ok {
		return
	}
	id := str(a, semconv.EventIDKey)
	if id == "" {
		r.without++
		return
	}
	key := maphash.String(r.seed, id)
	if _, again := r.seen[key]; again {
		r.duplicates++
		return
	}
	r.seen[key] = struct{}{}
	e := Event{
		Time: l.Timestamp().AsTime(), Name: l.EventName(), Subject: str(a, subject), Allocation: str(a, semconv.AllocationID),
		Workflow: str(a, semconv.WorkflowID), From: str(a, semconv.From), To: str(a, semconv.To), Reason: str(a, semconv.Reason),
		Kind: str(a, semconv.Operation) + str(a, semconv.TaskType),
	}
	if v, ok := a.Get(semconv.Fence); ok {
		e.Fence = v.Int()
	}
	if v, ok := a.Get("attempt"); ok {
		e.Attempt = v.Int()
	}
	r.events = append(r.events, e)
}

// subjects is what each event that is looked at is about.
var subjects = map[string]string{
	semconv.EventAllocationState: semconv.AllocationID, semconv.EventNodeOccupancy: semconv.NodeID, semconv.EventWorkflowState: semconv.WorkflowID,
	semconv.EventTaskState: semconv.TaskID, semconv.EventOutbox: semconv.OutboxID,
}

func str(m pcommon.Map, key string) string {
	v, ok := m.Get(key)
	if !ok {
		return ""
	}
	return v.Str()
}
