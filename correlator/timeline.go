package correlator

import (
	"fmt"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// timelineEntry is an event as a line of the timeline.
func (e *Event) timelineEntry(via identity.Via) Entry {
	return Entry{
		Time: Time(e.Time), Observed: Time(e.Observed), Layer: e.Layer, Source: e.Service, Kind: e.kind(), Name: e.Name,
		Severity: SeverityName(e.Severity), Summary: e.Summary(), IDs: e.IDs(), Via: string(via), Ref: e.Ref,
	}
}

var kindsByName = map[string]string{
	semconv.EventBinding: "binding", semconv.EventNodeAssigned: "binding", semconv.EventNodeUnassigned: "binding", semconv.EventNodeInstance: "state",
	semconv.EventAllocationState: "state", semconv.EventNodeOccupancy: "state", semconv.EventWorkflowState: "state",
	semconv.EventTaskState: "task", semconv.EventProviderState: "job", semconv.EventProviderPoll: "job",
	semconv.EventProjection: "projection", semconv.EventOutbox: "outbox", semconv.EventAudit: "audit",
	semconv.EventDeploy: "deploy", semconv.EventHeartbeat: "heartbeat",
}

func (e *Event) kind() string {
	if e.IsEvent() {
		if k, ok := kindsByName[e.Name]; ok {
			return k
		}
	}
	return e.Signal.String()
}

// SeverityName is the name of an OTLP severity number.
func SeverityName(n int) string {
	for _, s := range []struct {
		from int
		name string
	}{{21, "fatal"}, {17, "error"}, {13, "warn"}, {9, "info"}, {5, "debug"}, {1, "trace"}} {
		if n >= s.from {
			return s.name
		}
	}
	return ""
}

// Summary says in one line what the event is.
func (e *Event) Summary() string {
	a := e.Attr
	switch {
	case e.Signal == record.Span:
		return e.spanSummary()
	case !e.IsEvent() || !isLifecycle(e.Name):
		return firstLine(tellingPart(e.Body), e.Name)
	}
	switch e.Name {
	case semconv.EventBinding:
		return join(a(semconv.SubjectKind), a(semconv.SubjectID), "belongs to", a(semconv.ObjectKind), a(semconv.ObjectID))
	case semconv.EventNodeAssigned:
		return join("node", e.Own(identity.Node), "assigned to", e.Own(identity.Allocation))
	case semconv.EventNodeUnassigned:
		return join("node", e.Own(identity.Node), "no longer assigned to", e.Own(identity.Allocation))
	case semconv.EventTaskState:
		return join("task", e.Own(identity.Task), a(semconv.TaskType), e.To(), because(a(semconv.Reason)))
	case semconv.EventWorkflowState:
		return join("workflow", e.Own(identity.Workflow), a(semconv.Operation), e.To(), after("on", a(semconv.WaitingOn)), because(a(semconv.Reason)))
	case semconv.EventProviderState:
		return join(a(semconv.Provider), "job", a(semconv.Operation), e.To(), because(firstOf(a(semconv.ProviderExplanation), a(semconv.ProviderStatus))))
	case semconv.EventProviderPoll:
		return join("poll of", a(semconv.ProviderJob), after("ok", a(semconv.PollOK)), because(a(semconv.Error)))
	case semconv.EventProjection:
		return join(a(semconv.Projection), "shows", a(semconv.Field), a(semconv.Value))
	case semconv.EventOutbox:
		return join("outbox", e.Own(identity.Outbox), a(semconv.Subject), e.To(), because(a(semconv.LastError)))
	case semconv.EventAudit:
		return join(a(semconv.ActorType), a(semconv.Actor), a(semconv.Action), because(a(semconv.Reason)))
	case semconv.EventDeploy:
		return join("deploy of", a(semconv.Component), firstOf(a(semconv.Version), a(semconv.Config)), because(a(semconv.Reason)))
	case semconv.EventHeartbeat:
		return join(a(semconv.Component), "is alive")
	}
	return join(strings.TrimSuffix(e.Name, ".state"), arrow(a(semconv.From), e.To()), because(a(semconv.Reason)))
}

func (e *Event) spanSummary() string {
	took := ""
	if e.End > e.Time {
		took = time.Duration(e.End - e.Time).Round(10 * time.Microsecond).String()
	}
	status := ""
	if e.HTTP.Status != 0 {
		status = fmt.Sprint(e.HTTP.Status)
	}
	return join(e.Name, status, took, because(firstLine(e.StatusMessage, "")))
}
