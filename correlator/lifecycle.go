package correlator

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Lifecycle is what the lifecycle events of an allocation add up to.
type Lifecycle struct {
	States    []Change // allocation.state, in order
	Workflows []*Run
	Tasks     []*Attempt
	Jobs      []*Run
	Outbox    []*Run
	Nodes     []string // nodes that were assigned to it or worked for it
	// ManualActions are what people did to the allocation's nodes, on record: reimage, reboot, maintenance.
	ManualActions []*Event
	// Cancel is the first sign that a user or administrator asked for an end; nil if nobody did.
	Cancel *Event
}

// Change is one move of a state.
type Change struct {
	From, To string
	At       int64
	Event    *Event
}

// Run is one workflow, provider job or outbox record with its moves.
type Run struct {
	ID, Operation string
	Changes       []Change
	// Late are moves that somebody still told of after the job's end, or that came too late to move it: kept,
	// never applied.
	Late []Change
}

// Last is the newest move.
func (r *Run) Last() Change { return r.Changes[len(r.Changes)-1] }

// late says whether a move comes after the end of a provider's job: a custom resource that still repeats
// Running does not bring back a job that the provider itself called off. Only the provider's own word moves
// what somebody else took for the end.
func (r *Run) late(change Change) bool {
	if len(r.Changes) == 0 {
		return false
	}
	last := r.Last()
	if !jobOver(last.To) {
		return false
	}
	own := func(c Change) bool { return c.Event.Layer == semconv.LayerProvider }
	return !own(change) || own(last)
}

// jobOver says whether a provider's job in this state is at its end. Unknown is not: EDA says nothing else.
func jobOver(state string) bool {
	return strings.EqualFold(state, "succeeded") || strings.EqualFold(state, "failed") || strings.EqualFold(state, "canceled")
}

// Attempt is one claim of a task, or its waiting for one: from queued (or dispatched again) to its end.
type Attempt struct {
	Task, Type, Claim        string
	Node, Instance, Workflow string
	Queued, Taken, Over      *Event // nil where it did not come to that
	Signs                    []*Event
}

// From is when the attempt began.
func (a *Attempt) From() int64 {
	for _, e := range []*Event{a.Queued, a.Taken, a.Over} {
		if e != nil {
			return e.At
		}
	}
	if len(a.Signs) > 0 {
		return a.Signs[0].At
	}
	return 0
}

// First is the record that shows its beginning.
func (a *Attempt) First() *Event {
	for _, e := range []*Event{a.Queued, a.Taken, a.Over} {
		if e != nil {
			return e
		}
	}
	return nil
}

// State and since when, of the last allocation.state; a repeat does not move since.
func (l *Lifecycle) State() (state string, since int64, ok bool) {
	for _, c := range l.States {
		if c.To != state {
			state, since = c.To, c.At
		}
	}
	return state, since, len(l.States) > 0
}

// stateAt is the allocation's state at a time; before the first move that was told of, the state that this one left, "" where it does not say.
func (l *Lifecycle) stateAt(t int64) (state string, since int64) {
	for i, c := range l.States {
		if c.At > t {
			if i == 0 {
				state = c.From
			}
			break
		}
		if c.To != state {
			state, since = c.To, c.At
		}
	}
	return state, since
}

// activeAfter is when the allocation became active after a time, 0 where it did not.
func (l *Lifecycle) activeAfter(t int64) int64 {
	for _, c := range l.States {
		if c.At > t && c.To == semconv.Active {
			return c.At
		}
	}
	return 0
}

func readLifecycle(events, audits []*Event) Lifecycle {
	l := Lifecycle{}
	runs := map[string]*Run{}
	tasks := map[string]*Attempt{}
	for _, e := range events {
		if e.Node != "" && !slices.Contains(l.Nodes, e.Node) && (e.Own(identity.Task) != "" || e.Is(semconv.EventNodeAssigned)) {
			l.Nodes = append(l.Nodes, e.Node)
		}
		if !e.IsEvent() {
			continue
		}
		if l.Cancel == nil && asksForEnd(e) {
			l.Cancel = e
		}
		if manualNodeAction(e) {
			l.ManualActions = append(l.ManualActions, e)
		}
		change := Change{From: e.Attr(semconv.From), To: e.To(), At: e.At, Event: e}
		run := func(list *[]*Run, id, operation string) {
			if id == "" || change.To == "" {
				return
			}
			r := runs[e.Name+id]
			if r != nil && operation != "" && r.Operation != "" && r.Operation != operation {
				r = runs[e.Name+id+" "+operation] // EDA calls all of an allocation's jobs the same
			}
			if r == nil {
				r = &Run{ID: id}
				key := e.Name + id
				if runs[key] != nil {
					key += " " + operation
				}
				runs[key] = r
				*list = append(*list, r)
			}
			r.Operation = firstOf(r.Operation, operation)
			if e.Name == semconv.EventProviderState && r.late(change) {
				r.Late = append(r.Late, change)
				return
			}
			r.Changes = append(r.Changes, change)
		}
		switch e.Name {
		case semconv.EventAllocationState:
			if change.To != "" {
				l.States = append(l.States, change)
			}
		case semconv.EventWorkflowState:
			run(&l.Workflows, e.Own(identity.Workflow), e.Attr(semconv.Operation))
		case semconv.EventProviderState:
			run(&l.Jobs, firstOf(e.Own(identity.ProviderJob), e.Attr(semconv.Provider)), e.Attr(semconv.Operation))
		case semconv.EventOutbox:
			run(&l.Outbox, e.Own(identity.Outbox), e.Attr(semconv.Subject))
		case semconv.EventTaskState:
			l.task(tasks, e)
		}
	}
	if l.Cancel == nil && l.endedBadly() {
		if i := slices.IndexFunc(events, func(e *Event) bool { return e.ends }); i >= 0 {
			l.Cancel = events[i] // nobody wrote it down better
		}
	}
	if len(l.Nodes) == 0 {
		l.Nodes = workedOn(events)
	}
	for _, e := range audits {
		if manualNodeAction(e) && slices.Contains(l.Nodes, e.Node) {
			l.ManualActions = append(l.ManualActions, e)
		}
	}
	slices.SortStableFunc(l.States, func(a, b Change) int { return CompareEvents(a.Event, b.Event) })
	return l
}

// workedOn is the one machine that the allocation's own records of its job and its workflow name, where nobody tells of an assignment; none where
// they name several.
func workedOn(events []*Event) []string {
	var out []string
	for _, e := range events {
		if e.Node != "" && (e.Layer == semconv.LayerProvider || e.Layer == semconv.LayerWorkflow) && !slices.Contains(out, e.Node) {
			out = append(out, e.Node)
		}
	}
	if len(out) != 1 {
		return nil
	}
	return out
}

// task adds an event to the attempt that it belongs to; a task that is queued or taken anew begins
// another attempt.
func (l *Lifecycle) task(open map[string]*Attempt, e *Event) {
	id := e.Own(identity.Task)
	if id == "" {
		return
	}
	a := open[id]
	claim := e.Own(identity.Claim)
	begin := func() *Attempt {
		fresh := &Attempt{Task: id}
		l.Tasks = append(l.Tasks, fresh)
		open[id] = fresh
		return fresh
	}
	to := e.To()
	switch {
	case a == nil, a.Over != nil && (to == semconv.Queued || to == semconv.Dispatched || to == semconv.Running),
		a.Taken != nil && to == semconv.Dispatched && claim != "" && claim != a.Claim,
		a.Taken != nil && to == semconv.Queued:
		a = begin()
	}
	a.Type = firstOf(a.Type, e.Attr(semconv.TaskType))
	a.Node, a.Instance = firstOf(a.Node, e.Node), firstOf(a.Instance, e.NodeInstance)
	a.Workflow = firstOf(a.Workflow, e.Workflow)
	switch to {
	case semconv.Queued:
		if a.Queued == nil {
			a.Queued = e
		}
	case semconv.Dispatched:
		if a.Taken == nil {
			a.Taken = e
		}
		a.Claim = firstOf(a.Claim, claim)
	case semconv.Running:
		a.Claim = firstOf(a.Claim, claim)
		a.Signs = append(a.Signs, e)
		if a.Taken == nil {
			a.Taken = e
		}
	case semconv.Rejected:
		a.Signs = append(a.Signs, e) // a result that was refused; the attempt itself goes on
	default:
		if a.Over == nil {
			a.Over = e
		} else {
			a.Signs = append(a.Signs, e) // a late or repeated result changes nothing
		}
	}
}

// manualNodeAction says whether somebody, on record, worked on a node.
func manualNodeAction(e *Event) bool {
	if !e.Is(semconv.EventAudit) || e.Attr(semconv.ActorType) == "system" {
		return false
	}
	action := strings.ToLower(e.Attr(semconv.Action))
	return slices.ContainsFunc([]string{"reimage", "reinstall", "redeploy", "reboot", "power", "maintenance", "drain", "re_enrol", "reenrol", "fence"}, func(s string) bool {
		return strings.Contains(action, s)
	})
}

// asksForEnd says whether a record is somebody's own wish to end the allocation before its time.
func asksForEnd(e *Event) bool {
	switch {
	case e.Is(semconv.EventAudit):
		action := strings.ToLower(e.Attr(semconv.Action))
		actor := e.Attr(semconv.ActorType)
		return (strings.Contains(action, "cancel") || strings.Contains(action, "delete")) && actor != "system"
	case e.Is(semconv.EventWorkflowState):
		return strings.Contains(e.Attr(semconv.Operation), "cancel") || e.To() == semconv.CancelRequested
	case e.Is(semconv.EventAllocationState):
		return e.To() == semconv.Canceling
	}
	return false
}

// endedBadly says whether something of the allocation came to another end than its success.
func (l *Lifecycle) endedBadly() bool {
	bad := func(change Change) bool {
		switch strings.ToLower(change.To) {
		case semconv.Failed, semconv.Canceled, semconv.TimedOut, semconv.Terminated, semconv.ReleaseFailed:
			return true
		}
		return false
	}
	of := func(r *Run) bool { return slices.ContainsFunc(r.Changes, bad) }
	return slices.ContainsFunc(l.States, bad) || slices.ContainsFunc(l.Workflows, of) || slices.ContainsFunc(l.Jobs, of)
}

// saysEnd says whether a plain record tells, in its own words, that a user ended it.
func saysEnd(e *Event) bool {
	cancel := strings.Contains(e.Text, "cancel") // asked first: hardly any record holds it
	if e.IsEvent() || !cancel && e.Layer != semconv.LayerClient && e.Attr(semconv.ActorType) != "user" || e.Own(identity.Allocation) == "" {
		return false
	}
	return (e.Layer == semconv.LayerClient || e.Attr(semconv.ActorType) == "user") && (holdsAny(e.Text, "interrupt received", "this will cancel", "--cancel", "keyboardinterrupt", "^c") ||
		!e.Failed() && holdsAny(e.Text, "cancelling ", "canceling ") && !holdsAny(e.Text, "due to", "because", "timeout", "timed out", "deadline", "error")) ||
		cancel && holdsAny(e.Text, "canceled by user", "cancelled by user", "canceled by the user", "cancelled by the user", "canceled on user request", "cancelled on user request", "cancel requested by user", "cancellation requested by user", "cancel requested by the user") ||
		cancel && !e.Failed() && strings.Contains(e.Text, "actor_type=user") && actedToCancel.MatchString(e.Text)
}

// actedToCancel finds an act of ending in a line of an audit, as a field.
var actedToCancel = regexp.MustCompile(`\baction="?cancel"?(?:[\s,}]|$)`)

// terminal says whether an allocation in this state owes nothing any more.
func terminal(state string) bool {
	return state == semconv.Released || state == semconv.Canceled || state == semconv.Active
}

// events are the records of a run's moves.
func (r *Run) events() []*Event {
	out := make([]*Event, 0, len(r.Changes))
	for _, c := range r.Changes {
		out = append(out, c.Event)
	}
	return out
}

// Silent says whether a run belongs to a provider that tells nobody how its jobs end (I14).
func (r *Run) Silent() bool {
	return strings.HasPrefix(r.ID, "eda/") || slices.ContainsFunc(r.Changes, func(c Change) bool { return strings.EqualFold(c.To, "unknown") })
}

// at is a run's newest move at or before a time, nil where there is none.
func (r *Run) at(t int64) *Change {
	for i := len(r.Changes) - 1; i >= 0; i-- {
		if r.Changes[i].At <= t {
			return &r.Changes[i]
		}
	}
	return nil
}
