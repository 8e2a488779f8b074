package correlator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Trouble is something that was owed and did not come about: it cost a claim, a lease, an attempt, a
// deadline or a user's request, or is still open. A failure that cost nothing is no trouble.
type Trouble struct {
	Kind     TroubleKind
	From, At int64    // when the step began, and when it was known to have failed
	Cites    []*Event // the obligation and its breach
	What     string   // for people: "task t-3 (wipe) was never claimed"
	Owes     string   // the layer that owed the step, "" where that is not known
	Node     string   // the machine that it happened on, "" where it was none
	Instance string
	Attempt  *Attempt // of a task
	Call     string   // of a request: what was asked
	Cleared  int64    // the first success of the same, 0 while there is none
}

// TroubleKind is what sort of obligation was broken.
type TroubleKind string

// The kinds, deepest first: a broken task explains why its workflow and its allocation failed.
const (
	TaskTrouble     TroubleKind = "task"
	JobTrouble      TroubleKind = "job"
	OutboxTrouble   TroubleKind = "outbox"
	RequestTrouble  TroubleKind = "request"
	WorkflowTrouble TroubleKind = "workflow"
	StateTrouble    TroubleKind = "state"
	OverdueTrouble  TroubleKind = "overdue"
	DriftTrouble    TroubleKind = "drift"
)

// NeverTaken says whether it is a task that nobody claimed.
func (t *Trouble) NeverTaken() bool { return t.Attempt != nil && t.Attempt.Taken == nil }

// findTroubles lists what went wrong, in order of time. What a deeper trouble explains is not listed
// again: a workflow that failed because its task failed is one trouble.
func findTroubles(c *Case) []*Trouble {
	var deep []*Trouble
	deep = append(deep, taskTroubles(c)...)
	deep = append(deep, jobTroubles(c)...)
	deep = append(deep, outboxTroubles(c)...)
	calls, complaints := requestTroubles(c)
	out := slices.Concat(deep, calls)
	for _, t := range slices.Concat(runTroubles(c), stateTroubles(c), complaints) {
		if !slices.ContainsFunc(out, func(d *Trouble) bool { return explains(d, t) }) {
			out = append(out, t)
		}
	}
	if !slices.ContainsFunc(out, func(t *Trouble) bool { return t.Cleared == 0 }) {
		out = append(out, overdueTroubles(c)...)
	}
	slices.SortStableFunc(out, func(a, b *Trouble) int { return cmp.Compare(a.At, b.At) })
	return out
}

// explains says whether one trouble is why the other came about: it happened while the other's step ran.
func explains(deep, t *Trouble) bool {
	return deep.At >= t.From && deep.From <= t.At+int64(30*time.Second)
}

func taskTroubles(c *Case) []*Trouble {
	var out []*Trouble
	for i, a := range c.Lifecycle.Tasks {
		if a.Over == nil {
			continue
		}
		var what, owes string
		switch a.Over.To() {
		case semconv.Failed:
			what = "failed"
		case semconv.Lost:
			what, owes = "was lost with its claim", semconv.LayerNodeAgent
		case semconv.Expired:
			what, owes = "expired", semconv.LayerNodeAgent
			if a.Taken == nil {
				what = "was never claimed"
			}
		case semconv.Rejected:
			what = "was rejected"
		default:
			continue
		}
		t := &Trouble{
			Kind: TaskTrouble, From: a.From(), At: a.Over.At, Owes: owes, Node: a.Node, Instance: a.Instance, Attempt: a,
			What: join("task", a.Task, parenthesis(a.Type), what), Cites: distinct(a.Queued, a.Taken, a.Over),
		}
		for _, later := range c.Lifecycle.Tasks[i+1:] {
			if later.Over != nil && later.Over.To() == semconv.Succeeded && (later.Task == a.Task || later.Type == a.Type && a.Type != "") {
				t.Cleared = later.Over.At
				break
			}
		}
		out = append(out, t)
	}
	return out
}

func jobTroubles(c *Case) []*Trouble {
	var out []*Trouble
	for i, j := range c.Lifecycle.Jobs {
		bad := -1
		for k, change := range j.Changes {
			if strings.EqualFold(change.To, "failed") || strings.EqualFold(change.To, "canceled") && !c.canceledBefore(change.At) {
				bad = k
				break
			}
		}
		if bad < 0 {
			continue
		}
		t := &Trouble{
			Kind: JobTrouble, From: j.Changes[0].At, At: j.Changes[bad].At, Owes: semconv.LayerProvider,
			What: join("provider job", j.ID, parenthesis(j.Operation), strings.ToLower(j.Changes[bad].To)), Cites: distinct(j.Changes[0].Event, j.Changes[bad].Event),
		}
		for _, later := range c.Lifecycle.Jobs[i+1:] {
			if later.Operation == j.Operation && strings.EqualFold(later.Last().To, "succeeded") {
				t.Cleared = later.Last().At
				break
			}
		}
		out = append(out, t)
	}
	return out
}

func outboxTroubles(c *Case) []*Trouble {
	var out []*Trouble
	for _, o := range c.Lifecycle.Outbox {
		for _, change := range o.Changes {
			if change.To != semconv.Dead && change.To != semconv.Failed {
				continue
			}
			published := slices.IndexFunc(o.Changes, func(later Change) bool { return later.To == semconv.Published && later.At >= change.At })
			if change.To == semconv.Failed && published >= 0 && o.Changes[published].At-o.Changes[0].At <= int64(c.Profile.Budgets().Outbox) {
				continue // a retry that succeeded within its budget
			}
			t := &Trouble{Kind: OutboxTrouble, From: o.Changes[0].At, At: change.At, Owes: semconv.LayerOutbox,
				What: join("outbox record", o.ID, parenthesis(o.Operation), "was not published"), Cites: o.events()}
			if published >= 0 {
				t.Cleared = o.Changes[published].At
			}
			out = append(out, t)
			break
		}
	}
	return out
}

func runTroubles(c *Case) []*Trouble {
	var out []*Trouble
	for i, w := range c.Lifecycle.Workflows {
		for _, change := range w.Changes {
			switch change.To {
			case semconv.Failed, semconv.TimedOut:
			case semconv.Terminated, semconv.Canceled:
				if c.canceledBefore(change.At) || change.To == semconv.Canceled {
					continue
				}
			default:
				continue
			}
			t := &Trouble{Kind: WorkflowTrouble, From: w.Changes[0].At, At: change.At, Owes: semconv.LayerWorkflow,
				What: join("workflow", w.ID, parenthesis(w.Operation), strings.ReplaceAll(change.To, "_", " ")), Cites: distinct(w.Changes[0].Event, change.Event)}
			for _, later := range c.Lifecycle.Workflows[i+1:] {
				if later.Operation == w.Operation && later.Last().To == semconv.Completed {
					t.Cleared = later.Last().At
				}
			}
			out = append(out, t)
			break
		}
	}
	return out
}

func stateTroubles(c *Case) []*Trouble {
	var out []*Trouble
	for i, s := range c.Lifecycle.States {
		if s.To != semconv.Failed && s.To != semconv.ReleaseFailed && s.To != semconv.Degraded {
			continue
		}
		from := s.At
		cites := []*Event{s.Event}
		for _, before := range slices.Backward(c.Lifecycle.States[:i]) {
			if before.To == semconv.Releasing || before.To == semconv.Provisioning || before.To == semconv.Requested || before.To == semconv.Active {
				from, cites = before.At, distinct(before.Event, s.Event)
				break
			}
		}
		t := &Trouble{Kind: StateTrouble, From: from, At: s.At, What: "the allocation went to " + s.To, Cites: cites}
		for _, later := range c.Lifecycle.States[i+1:] {
			if s.To == semconv.ReleaseFailed && later.To == semconv.Released || s.To == semconv.Degraded && later.To == semconv.Active {
				t.Cleared = later.At
			}
		}
		if len(c.Lifecycle.Nodes) == 1 {
			t.Node = c.Lifecycle.Nodes[0]
		}
		out = append(out, t)
	}
	return out
}

// canceledBefore says whether somebody asked for the end before a time, give or take a moment of skew.
func (c *Case) canceledBefore(t int64) bool {
	return c.Lifecycle.Cancel != nil && c.Lifecycle.Cancel.At <= t+int64(2*time.Second)
}

func parenthesis(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

func distinct(events ...*Event) []*Event {
	var out []*Event
	for _, e := range events {
		if e != nil && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// terminal says whether an allocation in this state owes nothing any more.
func terminal(state string) bool {
	return state == semconv.Released || state == semconv.Canceled || state == semconv.Active
}

// overdueTroubles says who owes the next move and whether its time is over. A step is overdue only if
// the party that owes it, or its layer, was seen after the deadline; otherwise nobody can tell.
func overdueTroubles(c *Case) []*Trouble {
	state, since, ok := c.Lifecycle.State()
	if !ok || terminal(state) {
		return nil
	}
	b := c.Profile.Budgets()
	for _, a := range c.Lifecycle.Tasks {
		if a.Over != nil {
			continue
		}
		switch {
		case a.Taken == nil && a.Queued != nil && b.TaskClaim > 0:
			if t := c.overdue(a.Queued, a.Queued.At+int64(b.TaskClaim), semconv.LayerNodeAgent, join("task", a.Task, parenthesis(a.Type), "is queued and not claimed")); t != nil {
				t.Node, t.Instance, t.Attempt = a.Node, a.Instance, a
				return []*Trouble{t}
			}
		case a.Taken != nil && b.TaskLease > 0:
			last := a.Taken
			for _, s := range a.Signs {
				last = s
			}
			deadline := last.At + int64(b.TaskLease)
			if at, err := record.ParseTime(last.Attr(semconv.LeaseUntil)); err == nil {
				deadline = at
			}
			if t := c.overdue(last, deadline, semconv.LayerNodeAgent, join("task", a.Task, parenthesis(a.Type), "is claimed and has no result")); t != nil {
				t.Node, t.Instance, t.Attempt = a.Node, a.Instance, a
				return []*Trouble{t}
			}
		}
	}
	for _, o := range c.Lifecycle.Outbox {
		if last := o.Last(); last.To == semconv.Pending && b.Outbox > 0 {
			if t := c.overdue(o.Changes[0].Event, o.Changes[0].At+int64(b.Outbox), semconv.LayerOutbox, join("outbox record", o.ID, "is not published")); t != nil {
				t.Cites = o.events()
				return []*Trouble{t}
			}
		}
	}
	for _, j := range c.Lifecycle.Jobs {
		if t := c.overdueJob(j); t != nil {
			return []*Trouble{t}
		}
	}
	budget, limited := b.States[state]
	if !limited {
		return nil
	}
	entered := c.Lifecycle.States[len(c.Lifecycle.States)-1].Event
	owes, obligation := c.owesNext()
	if t := c.overdue(entered, since+int64(budget), owes, fmt.Sprintf("%s for longer than %s", state, budget)); t != nil {
		t.Cites = distinct(obligation, entered)
		return []*Trouble{t}
	}
	return nil
}

// overdueJob is a provider's job that is neither done nor called off in time. Unknown is no end: EDA says
// nothing else for ever, and then it is the allocation that must get ready.
func (c *Case) overdueJob(j *Run) *Trouble {
	b := c.Profile.Budgets()
	last := j.Last()
	switch strings.ToLower(last.To) {
	case "pending", "waiting", "running", "unknown":
	default:
		return nil
	}
	what := join("provider job", j.ID, "is", strings.ToLower(last.To))
	if end := c.Lifecycle.Cancel; end != nil && end.At > j.Changes[0].At && b.Cancel > 0 && !strings.EqualFold(last.To, "unknown") {
		if t := c.overdue(last.Event, end.At+int64(b.Cancel), semconv.LayerProvider, what+" though its end was asked for"); t != nil {
			t.From, t.Cites = end.At, append([]*Event{end}, j.events()...)
			return t
		}
	}
	if b.Provider == 0 {
		return nil
	}
	t := c.overdue(last.Event, j.Changes[0].At+int64(b.Provider), semconv.LayerProvider, what)
	if t != nil {
		t.Cites = j.events()
	}
	return t
}

// events are the records of a run's moves.
func (r *Run) events() []*Event {
	out := make([]*Event, 0, len(r.Changes))
	for _, c := range r.Changes {
		out = append(out, c.Event)
	}
	return out
}

// owesNext is who has to move an allocation that stands still, where a workflow is known to be at it.
func (c *Case) owesNext() (layer string, obligation *Event) {
	for _, w := range slices.Backward(c.Lifecycle.Workflows) {
		last := w.Last()
		switch last.To {
		case semconv.Scheduled, semconv.Running:
			return semconv.LayerWorkflow, last.Event
		case semconv.Waiting:
			if on := last.Event.Attr(semconv.WaitingOn); on == "provider" || strings.HasPrefix(on, "provider") {
				return semconv.LayerProvider, last.Event
			}
		}
	}
	return "", nil
}

func (c *Case) overdue(obligation *Event, deadline int64, owes, what string) *Trouble {
	if c.Now <= deadline {
		return nil
	}
	return &Trouble{Kind: OverdueTrouble, From: obligation.At, At: deadline, Owes: owes, What: what, Cites: []*Event{obligation}}
}

// requestTroubles finds the user's requests that failed and were not made good by a later one. What a
// client merely says, without telling of a request, is a complaint: a trouble only where nothing deeper
// explains it.
func requestTroubles(c *Case) (requests, complaints []*Trouble) {
	type call struct {
		first, last *Event
		failed      []*Event
	}
	calls := map[string]*call{}
	var keys []string
	for _, e := range c.Events {
		if !isUserCall(e) {
			continue
		}
		key := callKey(e)
		k := calls[key]
		if k == nil {
			k = &call{first: e}
			calls[key] = k
			keys = append(keys, key)
		}
		k.last = e
		if callFailed(e) && !c.expected(e) {
			k.failed = append(k.failed, e)
		}
	}
	for _, key := range keys {
		k := calls[key]
		if len(k.failed) == 0 {
			continue
		}
		end, cleared := k.failed[len(k.failed)-1], int64(0)
		if !callFailed(k.last) && k.last.At > end.At {
			if k.last.At-k.failed[0].At <= int64(c.Profile.Budgets().Request) {
				continue // the retry succeeded in time
			}
			cleared = k.last.EndAt()
		}
		t := &Trouble{
			Kind: RequestTrouble, From: k.failed[0].At, At: end.EndAt(), Call: key, What: "the request " + key + " failed",
			Cites: distinct(k.failed[0], end), Cleared: cleared,
		}
		if cleared != 0 {
			t.At = max(t.At, cleared-1) // it lasted until it worked again
		}
		state, _ := c.Lifecycle.StateAt(end.At)
		switch {
		case tellsOfRequest(end):
			requests = append(requests, t)
		case !terminal(state): // whoever has what he asked for complains of his own affairs
			t.From = c.Events[0].At // it may be about anything that went before
			complaints = append(complaints, t)
		}
	}
	return requests, complaints
}

// tellsOfRequest says whether a record is about one request, not just about how things stand.
func tellsOfRequest(e *Event) bool {
	return e.HTTP.Method != "" || e.HTTP.Status != 0 || e.SpanKind == "client" || e.GRPCFailed()
}

// isUserCall says whether a record tells of a request made by a client, by the one who made it. The
// lines of proxies and services on its way are evidence, not trouble of their own.
func isUserCall(e *Event) bool {
	return e.Layer == semconv.LayerClient && !e.IsEvent() && (tellsOfRequest(e) || e.Failed())
}

func callKey(e *Event) string {
	if e.HTTP.Method != "" || e.HTTP.Path != "" {
		return join(e.HTTP.Method, e.HTTP.Path)
	}
	return firstOf(e.Name, "of "+e.Service)
}

func callFailed(e *Event) bool {
	return e.HTTP.Status >= 400 || e.HTTP.Status == 0 && (e.Status == "error" || e.GRPCFailed() || e.Severity >= severityError)
}

// expected says whether a client's failure is what its own doing looks like: it hung up, it asked for an
// end, or it asks for what is gone by its own wish.
func (c *Case) expected(e *Event) bool {
	if hungUp(e) || c.hangups()[e.TraceID] {
		return true
	}
	if c.canceledBefore(e.At) && afterCancel(e) {
		return true
	}
	state, since := c.Lifecycle.StateAt(e.At)
	gone := (state == semconv.Released || state == semconv.Canceled || state == semconv.Releasing) && e.At >= since
	return gone && (e.HTTP.Status == 404 || e.HTTP.Status == 410 || e.HTTP.Status == 0 && strings.Contains(e.Text, "not found"))
}

// hungUp says whether a record tells that the caller itself ended the request.
func hungUp(e *Event) bool {
	if e.HTTP.Status == 499 {
		return true
	}
	return slices.ContainsFunc([]string{"keyboardinterrupt", "sigint", "interrupted by user", "signal: interrupt"}, func(words string) bool {
		return strings.Contains(e.Text, words)
	})
}

// hangups holds the traces in which the caller hung up, as anyone on the way saw it.
func (c *Case) hangups() map[string]bool {
	out := map[string]bool{}
	for _, e := range c.Events {
		if e.TraceID != "" && hungUp(e) {
			out[e.TraceID] = true
		}
	}
	return out
}

// afterCancel says whether a failure is what a cancellation looks like.
func afterCancel(e *Event) bool {
	switch e.HTTP.Status {
	case 404, 405, 409, 410, 499:
		return true
	}
	return slices.ContainsFunc([]string{"canceled", "cancelled", "499", "already terminal"}, func(words string) bool {
		return strings.Contains(e.Text, words)
	})
}
