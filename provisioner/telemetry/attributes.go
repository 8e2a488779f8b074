package telemetry

import (
	"log/slog"

	"github.com/faultline-io/faultline/internal/semconv"
)

// attributes are those of a record: the identifiers of its context, over them what was said with it, and,
// of an event, its name. They are put together when the record is written, not when it is made: most
// of what is made is written by somebody for whom nobody waits.
type attributes struct {
	ids   ids
	own   []slog.Attr
	event string // event_id, "" for none
}

// each goes through them in the order in which they are written.
func (a *attributes) each(f func(slog.Attr)) {
	for i := range a.ids {
		if !hasKey(a.own, a.ids[i].Key) {
			f(a.ids[i])
		}
	}
	for i := range a.own {
		if isWritten(&a.own[i]) {
			f(a.own[i])
		}
	}
	if a.event != "" {
		f(slog.String(semconv.EventIDKey, a.event))
	}
}

// set replaces what was said under a key, or adds it.
func (a *attributes) set(attrs []slog.Attr) {
next:
	for _, v := range attrs {
		for i := range a.own {
			if a.own[i].Key == v.Key {
				a.own[i] = v
				continue next
			}
		}
		a.own = append(a.own, v)
	}
}

// isWritten reports whether an attribute is written: an identifier is absent rather than empty.
func isWritten(a *slog.Attr) bool {
	return a.Key != "" && (a.Value.Kind() != slog.KindString || a.Value.String() != "" || !isID(a.Key))
}

func hasKey(attrs []slog.Attr, key string) bool {
	for i := range attrs {
		if attrs[i].Key == key {
			return true
		}
	}
	return false
}

// isID reports whether key names an identifier.
func isID(key string) bool {
	switch key {
	case semconv.AllocationID, semconv.WorkflowID, semconv.CorrelationID, semconv.NodeID, semconv.NodeInstanceID,
		semconv.RequestID, semconv.TaskID, semconv.ClaimID, semconv.BootID, semconv.OutboxID:
		return true
	}
	return false
}
