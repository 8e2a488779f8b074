package correlator

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// What was late and was done in the end: the deadline was missed all the same.

// muchLonger is how many times its budget a claim may take before its lateness is trouble of its own.
const muchLonger = 4

// claimedLate is a task that waited for its claim for much longer than it may, nil where it did not: the deadline was missed, even
// if it was taken in the end.
func (c *Case) claimedLate(a *Attempt) *Trouble {
	budget := int64(c.Profile.Budgets().TaskClaim)
	if a.Queued == nil || a.Taken == nil || budget == 0 || a.Taken.At-a.Queued.At <= muchLonger*budget {
		return nil
	}
	if a.Over != nil && a.Over.To() != semconv.Succeeded {
		return nil // how it ended is what wants explaining
	}
	waiting := *a
	waiting.Taken, waiting.Over, waiting.Signs = nil, nil, nil
	return &Trouble{
		Kind: OverdueTrouble, From: a.Queued.At, At: a.Taken.At - 1, Owes: semconv.LayerNodeAgent, Node: a.Node, Instance: a.Instance, Attempt: &waiting, Cleared: a.Taken.At,
		What: join("task", a.Task, parenthesis(a.Type), "was claimed only after", time.Duration(a.Taken.At-a.Queued.At).Round(time.Second).String()), Cites: distinct(a.Queued, a.Taken),
	}
}

// publishedLate is a record that nobody published for much longer than that may take, and then somebody did, nil where there is none.
func (c *Case) publishedLate(o *Run) *Trouble {
	budget := int64(c.Profile.Budgets().Outbox)
	first := o.Changes[0]
	if budget == 0 || first.To != semconv.Pending || slices.ContainsFunc(o.Changes, func(change Change) bool { return change.To != semconv.Pending && change.To != semconv.Published }) {
		return nil
	}
	i := slices.IndexFunc(o.Changes, func(change Change) bool { return change.To == semconv.Published })
	if i < 0 || o.Changes[i].At-first.At <= muchLonger*budget {
		return nil
	}
	published := o.Changes[i]
	return &Trouble{
		Kind: OverdueTrouble, From: first.At, At: published.At - 1, Cleared: published.At, Owes: semconv.LayerOutbox, Cites: distinct(first.Event, published.Event),
		What: join("outbox record", o.ID, parenthesis(o.Operation), "was published only after", time.Duration(published.At-first.At).Round(time.Second).String()),
	}
}

// spentOf finds how long somebody tells that something has taken, and how long it may: "provisioning for 30m0s, budget 20m0s".
var spentOf = regexp.MustCompile(`\b(requested|reserved|provisioning|releasing|deploying|canceling) for ((?:\d+[hms])+),? (?:its )?budget (?:of |is )?((?:\d+[hms])+)\b`)

// budgetOf is how long a state may last, in nanoseconds: the profile's word, or a shorter one of the platform itself that tells it is over.
func (c *Case) budgetOf(s Change, until int64) int64 {
	budget := int64(c.Profile.Budgets().States[s.To])
	c.lookup(indexKey{what: failing}).each(s.At, until, func(e *Event) {
		if e.Layer != semconv.LayerAPI || e.IsEvent() || e.Severity < severityWarn || e.Own(identity.Allocation) != c.ID || !strings.Contains(e.Text, "budget") {
			return
		}
		if m := spentOf.FindStringSubmatch(e.Text); m != nil && m[1] == s.To {
			spent, err := time.ParseDuration(m[2])
			may, wrong := time.ParseDuration(m[3])
			if err == nil && wrong == nil && spent > may && may > 0 && int64(may) < budget {
				budget = int64(may)
			}
		}
	})
	return budget
}

// movedLate is a state that lasted much longer than it may and was left in the end, nil where it was not.
func (c *Case) movedLate(i int) *Trouble {
	if i+1 >= len(c.Lifecycle.States) {
		return nil
	}
	s, next := c.Lifecycle.States[i], c.Lifecycle.States[i+1]
	budget := c.budgetOf(s, next.At)
	if t := c.gaveUpWaiting(s, next, budget); t != nil {
		return t
	}
	took, told := next.At-s.At, []*Event(nil)
	over := c.othersDone(s.At, next.At)
	switch {
	case budget == 0 || took <= budget || c.canceledBefore(next.At) || c.waitsForPeople(s.At, next.At) || next.To == semconv.Failed || next.To == semconv.ReleaseFailed:
		return nil
	case (s.To == semconv.Requested || s.To == semconv.Reserved) && took > muchLonger*budget:
	case over != nil && next.At-over.At > budget: // what was left was the workflow's own
		return &Trouble{
			Kind: OverdueTrouble, From: over.At, At: next.At - 1, Cleared: next.At, Owes: semconv.LayerWorkflow, Cites: distinct(s.Event, over, next.Event),
			What: "the allocation stayed " + s.To + " for " + time.Duration(next.At-over.At).Round(time.Second).String() + " after its work was done",
		}
	case s.To != semconv.Active:
		if told = c.keptFrom(s.At, next.At, budget); len(told) == 0 {
			return nil // others' work takes its time
		}
	default:
		return nil
	}
	t := &Trouble{
		Kind: OverdueTrouble, From: s.At, At: next.At - 1, Cleared: next.At, Cites: distinct(append([]*Event{s.Event, next.Event}, told...)...),
		What: "the allocation stayed " + s.To + " for " + time.Duration(next.At-s.At).Round(time.Second).String(),
	}
	if next.To == semconv.Canceled || next.To == semconv.Canceling {
		t.Cleared = 0 // the platform gave it up by itself
	}
	return t
}

// begunLate is an end that a user asked for more than once, which failed at whoever he asked, and that was begun in the end, long after; nil where there is none.
func (c *Case) begunLate(i int) *Trouble {
	budget, next, from := int64(c.Profile.Budgets().States[semconv.Requested]), c.Lifecycle.States[i], int64(0)
	if next.To != semconv.Releasing || budget == 0 {
		return nil
	}
	if i > 0 {
		from = c.Lifecycle.States[i-1].At
	}
	var asked []*Event
	failed := false
	for _, e := range c.Events {
		switch {
		case e.At <= from || e.At >= next.At:
		case askedByUser(e):
			asked = append(asked, e)
		case len(asked) > 0 && !e.IsEvent() && e.Layer == semconv.LayerAPI && e.fails:
			failed = true
		}
	}
	if len(asked) < 2 || !failed || next.At-asked[0].At <= muchLonger*budget {
		return nil
	}
	return &Trouble{
		Kind: OverdueTrouble, From: asked[0].At, At: next.At - 1, Cleared: next.At, Owes: semconv.LayerAPI, Cites: distinct(asked[0], next.Event),
		What: asked[0].Attr(semconv.Action) + " was asked for and begun only after " + time.Duration(next.At-asked[0].At).Round(time.Second).String(),
	}
}

// gaveUpWaiting is a state that lasted for much longer than it may until the user, after somebody had said that it stands still, gave up waiting: that he
// asked for its end is no answer to why it did not move. nil where it is none.
func (c *Case) gaveUpWaiting(s, next Change, budget int64) *Trouble {
	end := c.Lifecycle.Cancel
	if end == nil || budget == 0 || s.To == semconv.Active || end.At > next.At || end.At-s.At <= muchLonger*budget || c.waitsForPeople(s.At, end.At) {
		return nil
	}
	for _, e := range c.Events {
		if e.At > s.At+budget && e.At < end.At && !e.IsEvent() && e.Severity >= severityWarn && (e.Layer == semconv.LayerClient || e.Layer == semconv.LayerAPI) {
			return &Trouble{
				Kind: OverdueTrouble, From: s.At, At: end.At - 1, Cites: distinct(s.Event, e, end),
				What: "the allocation stayed " + s.To + " for " + time.Duration(end.At-s.At).Round(time.Second).String() + ", until its user gave up waiting",
			}
		}
	}
	return nil
}

// waitsForPeople says whether a workflow told, in a stretch of time, that it waits for what is not done by machines: slow as it may be, it is so as
// planned.
func (c *Case) waitsForPeople(from, to int64) bool {
	waits := false
	c.EachEvent(semconv.EventWorkflowState, from, to, func(e *Event) {
		waits = waits || e.Allocation == c.ID && onPeople(e)
		waits = waits || e.Allocation == c.ID && e.To() == semconv.Waiting && strings.Contains(strings.ToLower(e.Attr(semconv.WaitingOn)), "timer") && c.orderedFor(from)
	})
	return waits
}

// onPeople says whether a workflow tells that it waits for what people do, or for a time of theirs.
func onPeople(e *Event) bool {
	return e.To() == semconv.Waiting && holdsAny(strings.ToLower(e.Attr(semconv.WaitingOn)), "approv", "human", "manual", "person", "operator_decision", "schedule", "window", "calendar")
}

// orderedFor says whether an allocation was ordered for a later time than that at which it was, by the reason that goes with the order or with its state.
func (c *Case) orderedFor(until int64) bool {
	return slices.ContainsFunc(c.Events, func(e *Event) bool {
		return e.IsEvent() && e.Allocation == c.ID && e.At <= until && startsAt.MatchString(strings.ToLower(e.Attr(semconv.Reason)))
	})
}

// startsAt finds the time at which something is to begin, in the reason of an order.
var startsAt = regexp.MustCompile(`\b(?:start_at|starts_at|start at|starts at|not_before|not before|begin_at|scheduled for)[ =:"]+\d`)

// canceledLate are jobs that ran on for much longer than they may after their end had been asked for, and ended then.
func canceledLate(c *Case) (out []*Trouble) {
	end, budget := c.Lifecycle.Cancel, int64(c.Profile.Budgets().Cancel)
	if end == nil || budget == 0 {
		return nil
	}
	for _, j := range c.jobsOf("provision", "") {
		before, last := j.at(end.At), j.Last()
		if j.Silent() || before == nil || jobOver(before.To) || !jobOver(last.To) || last.At-end.At <= muchLonger*budget {
			continue
		}
		out = append(out, &Trouble{
			Kind: OverdueTrouble, From: end.At, At: last.At - 1, Cleared: last.At, Owes: semconv.LayerProvider, Cites: distinct(end, last.Event),
			What: "job " + j.ID + " ran on for " + time.Duration(last.At-end.At).Round(time.Second).String() + " after its end had been asked for",
		})
	}
	return out
}

// begunLate are jobs that a provider took, did not begin for much longer than it may take to do all of one, and began then.
func begunLate(c *Case) (out []*Trouble) {
	budget := int64(c.Profile.Budgets().Provider)
	if budget == 0 || c.Profile.FirstFailure() {
		return nil
	}
	for _, j := range c.Lifecycle.Jobs {
		first := j.Changes[0]
		i := slices.IndexFunc(j.Changes, func(change Change) bool { return !waitsToBegin(change.To) })
		if i <= 0 || j.Silent() || !strings.EqualFold(j.Changes[i].To, "running") || j.Changes[i].At-first.At <= budget || c.canceledBefore(j.Changes[i].At) {
			continue
		}
		began := j.Changes[i]
		cites := []*Event{first.Event}
		for _, change := range j.Changes[1:i] {
			cites = append(cites, change.Event)
		}
		out = append(out, &Trouble{
			Kind: OverdueTrouble, From: first.At, At: began.At - 1, Cleared: began.At, Owes: semconv.LayerProvider, Cites: distinct(append(cites, began.Event)...),
			What: "job " + j.ID + " began only after " + time.Duration(began.At-first.At).Round(time.Second).String(),
		})
	}
	return out
}

// waitsToBegin says whether a job's state is one before its beginning.
func waitsToBegin(state string) bool {
	return strings.EqualFold(state, "pending") || strings.EqualFold(state, "waiting")
}

// viewsLate are views that showed for much longer than their grace what was over, and then what is.
func viewsLate(c *Case) (out []*Trouble) {
	wrong := map[projectionKey][]look{}
	for _, l := range c.looks() {
		grace := int64(c.Profile.Grace(l.key.projection))
		if _, since, is := c.shownWrongly(l.key, l.shown, l.event, l.event.At); is {
			if l.event.At-since > grace {
				wrong[l.key] = append(wrong[l.key], l)
			}
			continue
		}
		if looks := wrong[l.key]; len(looks) > 1 {
			truth, since, _ := c.shownWrongly(l.key, looks[0].shown, looks[0].event, looks[0].event.At)
			if looks[len(looks)-1].event.At-since <= muchLonger*grace {
				delete(wrong, l.key)
				continue
			}
			var cites []*Event
			for _, past := range looks {
				cites = append(cites, past.event)
			}
			out = append(out, &Trouble{
				Kind: DriftTrouble, From: since, At: l.event.At - 1, Cleared: l.event.At, Owes: semconv.LayerProjection, Cites: append(cites, l.event),
				What: "the " + l.key.projection + " view showed " + looks[0].shown + " for " + time.Duration(l.event.At-since).Round(time.Second).String() + " after the " + l.key.field + " had become " + truth,
			})
		}
		delete(wrong, l.key)
	}
	return out
}

// othersDone is the end of the last job or task that a state waited for, by the last who told of it, nil where none ended in it well, or where
// another began after it.
func (c *Case) othersDone(from, to int64) (over *Event) {
	later := func(e *Event) {
		if e.At >= from && e.At < to && (over == nil || e.At > over.At) {
			over = e
		}
	}
	for _, j := range c.Lifecycle.Jobs {
		last := j.at(to - 1)
		switch {
		case last == nil:
		case !strings.EqualFold(last.To, "succeeded"):
			return nil
		default:
			later(last.Event)
		}
	}
	for _, a := range c.Lifecycle.Tasks {
		switch {
		case a.From() >= to:
		case a.Over == nil || a.Over.At >= to || a.Over.To() != semconv.Succeeded:
			return nil
		default:
			later(a.Over)
		}
	}
	return over
}

// keptFrom is how whoever moves an allocation, or works on it for him, told that he could not, again and again, while it stood still: then it was
// late for a reason, and not only slow. Empty where he did not; once is enough where it took very long, and so is it where
// he told for as long as the whole may take.
func (c *Case) keptFrom(from, to, budget int64) []*Event {
	if act := c.helped(from, to); act != nil {
		return []*Event{act} // it took somebody's help
	}
	var told []*Event
	late := false // somebody says so himself
	for _, e := range c.Events {
		switch {
		case e.At < from || e.At > to || e.IsEvent() || e.Allocation != c.ID:
		case e.Severity >= severityError && (e.Party() == semconv.LayerWorkflow || e.Layer == semconv.LayerAPI) && saysLate.MatchString(e.Text), e.Severity >= severityWarn && e.Layer == semconv.LayerAPI && (saysIdle.MatchString(e.Text) || spentOf.MatchString(e.Text)):
			late = true
			told = append(told, e)
		case e.Party() == semconv.LayerWorkflow && !e.fails && waitsForLock.MatchString(e.Text):
			told = append(told, e)
		}
	}
	for _, e := range c.ownFailures().around(from, to) {
		switch {
		case e.IsEvent() || e.Layer != semconv.LayerWorkflow && e.Layer != semconv.LayerProvider:
		case e.Severity >= severityError, attemptsWords.MatchString(e.Text):
			told = append(told, e)
		}
	}
	slices.SortStableFunc(told, CompareEvents)
	told = slices.Compact(told)
	if several := slices.ContainsFunc(told, func(e *Event) bool { return e.Party() != told[0].Party() }); len(told) > 1 && (late || several && to-from > keptByTwo*budget) {
		return someOf(told, persistsAtWork)
	}
	if len(told) > 0 && (to-from > keptAnyway*budget || late && to-from > muchLonger*budget) {
		return someOf(told, persistsAtWork)
	}
	if len(told) < persistsTimes {
		return nil
	}
	span := told[len(told)-1].At - told[0].At
	if span < budget && (span < (to-from)/4 || len(told) < persistsAtWork-1 && span < (to-from)/3) {
		return nil
	}
	return someOf(told, persistsAtWork)
}

// waitsForLock find that a workflow tells that it waits for what only one may hold at a time.
var waitsForLock = regexp.MustCompile(`\b(?:could not acquire|failed to acquire|waiting (?:for|to acquire)|blocked on|still waiting for)\b.*\b(?:lock|mutex|semaphore|lease)\b`)

// saysIdle finds that who answers for an allocation tells how long nobody has begun to work on it.
var saysIdle = regexp.MustCompile(`\b(?:since|for) \d+(?:h|m)\S*,? (?:and )?no (?:workflow|task|worker)\b`)

// saysLate find that whoever moves an allocation, or answers for it, calls a step late.
var saysLate = regexp.MustCompile(`\boverdue\b|\bmakes no progress\b|\bno progress for\b|\bbudget of \S+ (?:is )?(?:spent|used up|exceeded|over)\b|\bdeadline (?:of )?\d\S* (?:is )?(?:exceeded|missed|over)\b`)

// keptByTwo is how many times as long as it may a step must have taken until one complaint of each of two parties is a reason.
const keptByTwo = 3

// attemptsWords find that somebody tries for the third time, or oftener.
var attemptsWords = regexp.MustCompile(`\battempt[ =#:]*(?:[3-9]|\d{2,})\b`)

// keptAnyway is how many times as long as it may a step must have taken until one complaint is a reason.
const keptAnyway = 6
