package correlator

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
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
	Node     string   // the node that it happened on, "" where it was none
	Instance string
	Provider string   // that runs the job that is owed, "" where none is
	Attempt  *Attempt // of a task
	Call     string   // of a request: what was asked
	Cleared  int64    // the first success of the same, 0 while there is none
	// Complaint: a client merely says that things went wrong, and tells of no request. What it says is a symptom;
	// where a layer owns up, that layer's own records are the proof.
	Complaint bool

	memo any // see Memo
}

// Memo gives what read finds in the trouble, which is asked only once: many rules want to know the same.
// Judging one allocation is one goroutine's work.
func (t *Trouble) Memo(read func() any) any {
	if t.memo == nil {
		t.memo = read()
	}
	return t.memo
}

// untilNow is a step that is overdue and not done, as of now: what came after its deadline keeps it as well. nil for other troubles.
func (t *Trouble) untilNow(c *Case) *Trouble {
	if t.Kind != OverdueTrouble || t.Cleared != 0 || c.Now <= t.At+skew {
		return nil
	}
	later := *t
	later.At, later.memo = c.Now, nil
	return &later
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
	OrphanTrouble   TroubleKind = "orphan"
)

// NeverTaken says whether it is a task that nobody claimed.
func (t *Trouble) NeverTaken() bool { return t.Attempt != nil && t.Attempt.Taken == nil }

// findTroubles lists what went wrong, in order of time. What a deeper trouble explains is not listed
// again: a workflow that failed because its task failed is one trouble.
func findTroubles(c *Case) []*Trouble {
	var deep []*Trouble
	deep = append(deep, taskTroubles(c)...)
	deep = append(deep, jobTroubles(c)...)
	deep = append(deep, blindTroubles(c)...)
	deep = append(deep, outboxTroubles(c)...)
	deep = append(deep, canceledLate(c)...)
	deep = append(deep, begunLate(c)...)
	calls, complaints := requestTroubles(c)
	out := slices.Concat(deep, calls)
	for _, t := range slices.Concat(runTroubles(c), stateTroubles(c), complaints) {
		if !slices.ContainsFunc(out, func(d *Trouble) bool { return explains(d, t) }) {
			out = append(out, t)
		}
	}
	for _, t := range persistentTroubles(c) {
		i := slices.IndexFunc(out, func(d *Trouble) bool { return explains(d, t) })
		switch {
		case i < 0:
			out = append(out, t)
		case out[i].Kind == RequestTrouble && out[i].Cleared == 0:
			out[i].At = max(out[i].At, t.At) // it goes on failing
		}
	}
	// What a client merely says of how things stand is no reason not to look who owes the next step.
	if !slices.ContainsFunc(out, func(t *Trouble) bool { return t.Cleared == 0 && !t.Complaint }) {
		late := overdueTroubles(c)
		out = slices.DeleteFunc(out, func(t *Trouble) bool { return t.Complaint && len(late) > 0 && explains(late[0], t) })
		out = append(out, late...)
	}
	out = append(out, orphanTroubles(c)...)
	out = append(out, viewsLate(c)...)
	slices.SortStableFunc(out, func(a, b *Trouble) int { return cmp.Compare(a.At, b.At) })
	return out
}

// explains says whether one trouble is why the other came about: it happened while the other's step ran.
func explains(deep, t *Trouble) bool {
	return deep.At >= t.From && deep.From <= t.At+int64(30*time.Second)
}

func taskTroubles(c *Case) []*Trouble {
	var out []*Trouble
	madeGood := laterSuccess(c.Lifecycle.Tasks)
	for i, a := range c.Lifecycle.Tasks {
		if t := c.claimedLate(a); t != nil {
			out = append(out, t)
		}
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
		if k := madeGood[i]; k >= 0 {
			t.Cleared = c.Lifecycle.Tasks[k].Over.At
		}
		out = append(out, t)
	}
	return out
}

// laterSuccess gives for every attempt the next one after it that succeeded at the same task, or at one of its
// type; -1 where there is none.
func laterSuccess(tasks []*Attempt) []int {
	out := make([]int, len(tasks))
	next := map[string]int{}
	for i, a := range slices.Backward(tasks) {
		out[i] = -1
		for _, key := range []string{"task " + a.Task, "type " + a.Type} {
			if k, ok := next[key]; ok && key != "type " && (out[i] < 0 || k < out[i]) {
				out[i] = k
			}
		}
		if a.Over != nil && a.Over.To() == semconv.Succeeded {
			next["task "+a.Task], next["type "+a.Type] = i, i
		}
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
		if t := c.publishedLate(o); t != nil {
			out = append(out, t)
			continue
		}
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
			from := w.Changes[0].At
			if from == change.At { // only its end was seen: it began no earlier than the state that it worked on
				if state, since := c.Lifecycle.stateAt(change.At - 1); state != "" {
					from = since
				}
			}
			t := &Trouble{Kind: WorkflowTrouble, From: from, At: change.At, Owes: semconv.LayerWorkflow,
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
		if t := cmp.Or(c.begunLate(i), c.movedLate(i)); t != nil {
			out = append(out, t)
		}
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

// Troubles lists what went wrong, in order of time.
func (c *Case) Troubles() []*Trouble {
	if c.troubles == nil {
		c.troubles = append([]*Trouble{}, findTroubles(c)...)
	}
	return c.troubles
}

// blindTroubles finds jobs of which nothing can be known: every look at them has failed for longer than two
// silences that a component may keep, and the last one too. What a view shows meanwhile is what was known before.
func blindTroubles(c *Case) []*Trouble {
	polls := map[string][]*Event{}
	for _, e := range c.lookup(indexKey{namedEvent, "", semconv.EventProviderPoll}).own {
		job := e.Own(identity.ProviderJob)
		if e.Attr(semconv.PollOK) == "true" {
			polls[job] = nil
			continue
		}
		polls[job] = append(polls[job], e)
	}
	var out []*Trouble
	for _, j := range c.Lifecycle.Jobs {
		failed := polls[j.ID]
		if jobOver(j.Last().To) || len(failed) < 2 {
			continue
		}
		first, last := failed[0], failed[len(failed)-1]
		if last.At-first.At < 2*int64(c.Profile.Budgets().Heartbeat) || j.Last().At > last.At {
			continue
		}
		out = append(out, &Trouble{
			Kind: JobTrouble, From: first.At, At: last.At, Owes: semconv.LayerProvider, Cites: distinct(append([]*Event{j.Last().Event}, failed...)...),
			What: join("nothing has been known of provider job", j.ID, "since", Time(first.At).Milli(), "("+time.Duration(last.At-first.At).Round(time.Millisecond).String()+")"),
		})
	}
	return out
}

// Unsettled are what a judgement asks others about: the troubles, views that show what is not, and an end that nothing published.
func (c *Case) Unsettled() []*Trouble {
	out := slices.Clone(c.Troubles())
	drifted, _ := drifts(c)
	for _, d := range drifted {
		out = append(out, &Trouble{Kind: DriftTrouble, From: int64(d.Since), At: int64(d.Since)})
	}
	if deadline, unpublished := c.unpublishedEnd(); unpublished {
		out = append(out, &Trouble{Kind: OutboxTrouble, From: deadline, At: deadline})
	}
	return out
}
