package rules

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// handoff blames by how far an order came, where nobody says what went wrong.
func handoff() []correlator.Rule {
	return []correlator.Rule{{
		ID: "handoff.owed", Mechanism: "overdue",
		Looks:      "an order that was accepted and not answered when the platform gave up, by the last hop that is proven to have it",
		NextCheck:  "what that party did with the order since it took it",
		SafeAction: "look before anything is restarted: the step may have been done and its record be late",
		Find:       owedAnswer,
	}, {
		ID: "workflow.patience", Layer: semconv.LayerWorkflow, Mechanism: "patience",
		Looks:      "work that was given up while it was done, and that came to its end afterwards",
		NextCheck:  "how long such steps take, and the time-out of who gave up",
		SafeAction: "raise the time-out; adopt what was made",
		Find:       impatient,
	}, {
		ID: "handoff.no_answer", Mechanism: "no_answer",
		Looks:      "a call that was connected and never answered, by the words of who called, and a called that is alive",
		NextCheck:  "what the called did with the request since it took it",
		SafeAction: "the caller needs nothing",
		Find:       noAnswer,
	}, {
		ID: "workflow.not_taken", Layer: semconv.LayerWorkflow, Mechanism: "not_taken",
		Words:      slices.Concat(standingBy, idling, unattended),
		Looks:      "a request that was published, or a run that was planned, and that no worker took up, while workers are alive and stand by",
		NextCheck:  "what the workers wait for: a leader, a lock, a queue of another name",
		SafeAction: "the outbox needs nothing; do not publish again before that is known",
		Find:       notTaken,
	}, {
		ID: "workflow.asks_no_more", Layer: semconv.LayerWorkflow, Mechanism: "stuck",
		Looks:      "a provider's job that the platform asked after regularly, and no more, though it lives, or of whose end it takes no notice",
		NextCheck:  "what the workflow waits for since its last question",
		SafeAction: "the provider needs nothing; let the workflow ask again",
		Find:       stoppedAsking,
	}}
}

// standingBy are the words of a worker that takes nothing since it waits for something else, unattended those of a queue that nobody takes
// from; idling those of one for which there
// is nothing to take.
var (
	standingBy = []string{"standby", "waiting for leader", "lease held by", "not the leader", "held by session", "waiting for lock", "waiting to acquire", "attempting to acquire leader", "paused", "draining"}
	unattended = []string{"consumers=0", "0 consumers", "no consumers", "consumer count: 0", "no active consumers", "no active members", "no pollers", "0 pollers", "pollers=0", "\"pollers\":0"}
	idling     = []string{"no messages", "consumer idle", "worker idle", "lag=0", "0 messages", "queue empty", "no deliveries"}
)

// notTaken blames who should have taken what was published: it is alive, and nothing of it came about.
func notTaken(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if gaveUp(t) {
		return stoodBy(c, t)
	}
	if t.Kind != correlator.OverdueTrouble || t.Owes != "" || len(c.Lifecycle.Workflows) > 0 || len(c.Lifecycle.Outbox) == 0 {
		return nil
	}
	last := c.Lifecycle.Outbox[len(c.Lifecycle.Outbox)-1].Last()
	if last.To != semconv.Published || last.At > t.At {
		return nil
	}
	var says *correlator.Event
	idle := false
	c.EachIn(semconv.LayerWorkflow, last.At, c.Now, func(e *correlator.Event) {
		if !e.IsEvent() && holds(e.Text, standingBy) {
			says = e
		}
		idle = idle || !e.IsEvent() && holds(e.Text, idling)
	})
	if says == nil {
		says = cmp.Or(leftAlone(c, last.At), pilesUp(c, t, last.At))
	}
	if says == nil || idle {
		return nil // nobody was there to take it, or it waits for nothing: it was lost between
	}
	if rollout := rolledOutBefore(c, semconv.LayerWorkflow, last.At); rollout != nil && unasked(says) {
		return []correlator.Evidence{{
			Rule: "deploy.no_worker", Layer: semconv.LayerDeploy, Mechanism: "no_worker", Weight: correlator.Telling, Directness: correlator.Itself, Onset: rollout.At,
			Records:    append([]*correlator.Event{rollout, last.Event, says}, t.Cites...),
			Summary:    "since the rollout of " + what(rollout) + " nobody takes from the queue, and workers are alive" + quote(says),
			NextCheck:  "which queue the workers of that rollout ask, beside the one that is written to",
			SafeAction: "roll it back, or correct the queue's name; what waits is kept",
		}}
	}
	return []correlator.Evidence{{
		Rule: "workflow.not_taken", Layer: semconv.LayerWorkflow, Weight: correlator.Generic, Directness: correlator.Caller, Onset: last.At,
		Records: append([]*correlator.Event{last.Event, says}, t.Cites...), Summary: "what was published at " + correlator.Time(last.At).Milli() + " was taken by no workflow, and workers are alive" + quote(says),
	}}
}

// leftAlone is the word of who watches a queue that nobody takes from it, while those who should have run: they are heard of at a later
// time, and not as they begin or end.
func leftAlone(c *correlator.Case, since int64) (says *correlator.Event) {
	c.Each(since, c.Now, func(e *correlator.Event) { // it has not been taken up to now
		if !e.IsEvent() && unasked(e) && (e.Allocation == "" || e.Allocation == c.ID) {
			says = e
		}
	})
	if says == nil {
		return nil
	}
	runs := false
	c.EachIn(semconv.LayerWorkflow, since, c.Now, func(e *correlator.Event) { runs = runs || e.IsEvent() || !e.Failed() })
	if !runs {
		return nil
	}
	return says
}

// pilesUp is the last word of who counts what waits in a queue of a step's way, where the count grew since the order was put there and workers tell
// of other work; nil where there is none.
func pilesUp(c *correlator.Case, t *correlator.Trouble, since int64) (says *correlator.Event) {
	first, works := map[string]int{}, false
	c.Each(since, t.At+moment, func(e *correlator.Event) {
		if e.IsEvent() || e.Layer != semconv.LayerOutbox && e.Layer != semconv.LayerWorkflow || !closeTo(t, e) && !correlator.EveryReaderHas(e) {
			return
		}
		m := waitsInQueue.FindStringSubmatch(e.Text)
		if m == nil {
			works = works || e.Layer == semconv.LayerWorkflow && !e.Failed() && !c.Own(e, t) && holds(e.Text, goesWell)
			return
		}
		n, err := strconv.Atoi(m[2])
		if err != nil {
			return
		}
		queue := e.Service + " " + m[1]
		if before, known := first[queue]; !known {
			first[queue] = n
		} else if n > before+1 {
			says = e
		}
	})
	if !works {
		return nil
	}
	return says
}

var (
	// waitsInQueue finds how many messages wait (Redis' LLEN, RabbitMQ's ready, SQS' visible, NATS' pending, Kafka's lag).
	waitsInQueue = regexp.MustCompile(`\b(llen [\w.:-]+|[\w.]*(?:backlog|ready|pending|lag|visible|depth))[ =:]+(\d+)\b`)
	goesWell     = []string{"succeeded", "completed", "processed", "done", "acked"}
)

// takenByNobody says whether a text has one of unattended: "messages_ready=0 consumers=4" does not.
func takenByNobody(text string) bool {
	return holds(text, unattended) && holds(countOfOther.ReplaceAllString(text, "=# $1$2"), unattended) || strings.Contains(text, "pollers") && noPollers.MatchString(text)
}

// noPollers finds that nobody asks for work, by a count after the word.
var noPollers = regexp.MustCompile(`\bpollers[ :=]+0(?:$|[,;)\]}]|\s+(?:$|[^i\s]))`)

// countOfOther finds a count that stands before another's name.
var countOfOther = regexp.MustCompile(`=\d+,? (consumers|pollers)([=:])`)

// unasked says whether a record tells that nobody takes from a queue.
func unasked(e *correlator.Event) bool {
	return takenByNobody(e.Text) || strings.Contains(e.Text, "_consumers{") && noConsumers.MatchString(e.Text)
}

// noConsumers finds a gauge of a queue's consumers that stands at nought (RabbitMQ's and Prometheus' exporters).
var noConsumers = regexp.MustCompile(`_consumers\{[^}]*\} 0\b`)

// rolledOutBefore is the last rollout of a layer's component before a time, nil where none was lately.
func rolledOutBefore(c *correlator.Case, layer string, at int64) (rollout *correlator.Event) {
	c.EachEvent(semconv.EventDeploy, at-int64(changed), at, func(e *correlator.Event) {
		if correlator.LayerOfName(c.Profile, e.Attr(semconv.Component)) == layer {
			rollout = e
		}
	})
	return rollout
}

// awaited are the words of a caller that was connected, had sent its request, and waited for the answer (Python, Java,
// nginx). Go's "awaiting headers" is not among them: it says so of a dial, too.
var awaited = []string{"read timed out", "readtimeout", "reading response header", "sockettimeoutexception: read", "waiting for response", "awaiting reply", "no reply"}

// noAnswer blames who was connected to: the order arrived, and was not answered.
func noAnswer(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	ev := correlator.Evidence{Mechanism: "no_answer", Weight: correlator.Generic, Directness: correlator.Caller}
	for _, e := range slices.Concat(c.Failures(t), c.Quiet(t)) {
		if e.IsEvent() || e.Layer == semconv.LayerClient || e.Layer == semconv.LayerNodeAgent || !on(e, themeAwaited) && (!waited(e) || outlived(c, e)) || named(e) != nil {
			continue
		}
		if mayTakeLong(c, t, e) || givenUpFor(c, e) || e.Layer == semconv.LayerIngress && deniesRequest(c, t, e) != nil {
			continue
		}
		if l := callee(c, e); l != "" && (ev.Layer == "" || ev.Layer == l) && !spoke(c, l, e) && !pending(c, l, e) && (l != semconv.LayerAPI || !waits(c, t) && !goneQuiet(c, t)) {
			ev.Layer = l
			ev.Records = append(ev.Records, e)
		}
	}
	if len(ev.Records) == 0 {
		return nil
	}
	ev.Rule = ev.Layer + ".no_answer"
	ev.Summary = ev.Layer + " was reached and did not answer" + quote(witness(ev.Records))
	alive := c.AliveBetween(ev.Layer, t.From-recently, t.At+skewOfClocks)
	if alive == nil {
		return nil
	}
	ev.Certain, ev.Records = true, append(ev.Records, alive)
	return []correlator.Evidence{ev}
}

// givenUpFor says whether a proxy had given up a request moments before its emitter told of a failure: calls of its own end with the one that they were
// made for, whoever kept it waiting.
func givenUpFor(c *correlator.Case, e *correlator.Event) bool {
	return e.TraceID != "" && e.Layer != semconv.LayerIngress && slices.ContainsFunc(c.Events, func(o *correlator.Event) bool {
		return o.TraceID == e.TraceID && o.Layer == semconv.LayerIngress && (o.HTTP.Status == 504 || o.HTTP.Status == 499) && o.EndAt() < e.EndAt() && e.EndAt()-o.EndAt() < moment
	})
}

// spoke says whether a layer has a part of its own in a record's trace: then it did something with the request.
func spoke(c *correlator.Case, layer string, e *correlator.Event) bool {
	return e.TraceID != "" && slices.ContainsFunc(c.Events, func(o *correlator.Event) bool {
		return o.TraceID == e.TraceID && o.Layer == layer && o.Signal == record.Span
	})
}

// spanDelay is how long after its caller gave up a party's own span of a request may come: it is told when its part is over, and
// time-outs of one platform lie some seconds apart.
const spanDelay = int64(20 * time.Second)

// pending says whether what a party itself has to say of a request may still come: then nobody knows yet whether it waited for another one.
func pending(c *correlator.Case, layer string, e *correlator.Event) bool {
	return e.TraceID != "" && c.Now-e.EndAt() < spanDelay && !spoke(c, layer, e)
}

// owedAnswer is the default answer where the platform gave up: whoever holds the last open order.
func owedAnswer(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if !gaveUp(t) && !calledOff(t) {
		return nil
	}
	h := c.Frontier(t.At - 1)
	if h == nil || h.To == semconv.LayerWorkflow || h.At < t.From-moment || !c.Profile.Knows(h.To) {
		return nil
	}
	if h.To == semconv.LayerProvider && slices.ContainsFunc(c.Lifecycle.Jobs, func(j *correlator.Run) bool { return toldEnd(c, j, t.At) != nil }) {
		return nil // it had answered
	}
	if h.To == semconv.LayerNodeAgent && reported(c, h.At, t.At) {
		return nil // it had answered, and who waited for it did not see it
	}
	seen := c.AliveBetween(h.To, h.At, c.Now)
	if h.State != correlator.HandoffAtWork && seen == nil {
		return nil // of that party nothing was heard: it may never have got the order's end
	}
	if nobodyHeard(c, h.At, t.At) {
		return nil // what is not on record may have been told
	}
	if h.To == semconv.LayerProvider && callsBack(c, t) && (seen == nil || !seenItself(c, h.To, h.At)) {
		return nil // its call may have been lost on the way back
	}
	if h.To == semconv.LayerProvider && unobservable(c, t) {
		return nil // whether it has the order at all nobody knows
	}
	ev := correlator.Evidence{
		Rule: h.To + ".owed", Layer: h.To, Weight: correlator.Generic, Directness: correlator.Caller, Certain: h.State == correlator.HandoffAtWork,
		Onset: h.At, Records: append([]*correlator.Event(nil), h.Proof...), Summary: h.What + " was accepted and not answered when " + t.What,
	}
	if seen != nil {
		ev.Records = append(ev.Records, seen)
	}
	ev.Records = append(ev.Records, t.Cites...)
	return []correlator.Evidence{ev}
}

// calledOff says whether the platform itself called an allocation off, for which nobody had begun to work.
func calledOff(t *correlator.Trouble) bool {
	if t.Kind != correlator.OverdueTrouble || t.Owes != "" || t.Cleared != 0 || len(t.Cites) == 0 {
		return false
	}
	end := t.Cites[len(t.Cites)-1]
	return end.Is(semconv.EventAllocationState) && (end.To() == semconv.Canceled || end.To() == semconv.Canceling) && end.Attr(semconv.Actor) == "system"
}

// reported says whether an API tells that it took an agent's result between two times.
func reported(c *correlator.Case, from, to int64) (took bool) {
	for _, e := range c.Events {
		took = took || e.Layer == semconv.LayerAPI && e.At >= from && e.At < to && e.HTTP.Status >= 200 && e.HTTP.Status < 300 && strings.HasSuffix(e.HTTP.Path, "/result")
	}
	return took
}

// partOfJob finds that a provider tells of a part of a job alone.
var partOfJob = regexp.MustCompile(`\b(?:task|step|play|stage|host|item)s? (?:\d|\[|")`)

// toldEnd is the provider's own word, before a time, that a job went well; nil where there is none.
func toldEnd(c *correlator.Case, j *correlator.Run, at int64) (told *correlator.Event) {
	c.EachIn(semconv.LayerProvider, j.Changes[0].At, at-1, func(e *correlator.Event) {
		if told == nil && !e.IsEvent() && e.Own(identity.ProviderJob) == j.ID && !partOfJob.MatchString(e.Text) && holds(e.Text, []string{"successful", "succeeded", "finished ok", " done in ", "completed in "}) {
			told = e
		}
	})
	return told
}

// saidTooLate says whether the workflow itself tells, as it gives up, that its time was over.
func saidTooLate(c *correlator.Case, t *correlator.Trouble) bool {
	return slices.ContainsFunc(c.Failures(t), func(e *correlator.Event) bool {
		return e.Party() == semconv.LayerWorkflow && !e.IsEvent() && e.At <= t.At+moment && e.At >= t.At-2*moment && (holds(e.Text, tooLate) || strings.Contains(e.Text, "starttoclose"))
	})
}

// onceTooLate says whether a workflow gave up one of a step's attempts for its time: what it asked for again may have been refused for the first being at work.
func onceTooLate(c *correlator.Case, t *correlator.Trouble) bool {
	return slices.ContainsFunc(c.Events, func(e *correlator.Event) bool {
		return e.Party() == semconv.LayerWorkflow && !e.IsEvent() && e.At >= t.From && e.At <= t.At && e.Severity >= 13 && strings.Contains(e.Text, "starttoclose")
	})
}

// impatient needs the end of the work after the giving up, and the work under way before it.
func impatient(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	end := t.Cites[len(t.Cites)-1]
	switch {
	case !gaveUp(t):
		return nil
	case end.To() != semconv.TimedOut && !holds(end.Text, tooLate) && !saidTooLate(c, t) && !onceTooLate(c, t):
		return doneAfterwards(c, t)
	}
	for _, a := range c.Lifecycle.Tasks {
		if a.Taken != nil && a.Taken.At < t.At && a.Over != nil && a.Over.At > t.At && a.Over.To() == semconv.Succeeded {
			return []correlator.Evidence{{
				Weight: correlator.Telling, Directness: correlator.Itself, Onset: t.At,
				Records: append([]*correlator.Event{a.Taken, a.Over}, t.Cites...),
				Summary: "task " + a.Task + " was at work when " + t.What + ", and succeeded afterwards",
			}}
		}
	}
	for _, j := range c.Lifecycle.Jobs {
		if !atWork(j, t.At) || toldEnd(c, j, t.At) != nil {
			continue
		}
		for _, change := range append(append([]correlator.Change(nil), j.Changes...), j.Late...) {
			if change.At > t.At && strings.EqualFold(change.To, "succeeded") {
				return []correlator.Evidence{{
					Weight: correlator.Telling, Directness: correlator.Itself, Onset: t.At,
					Records: append([]*correlator.Event{change.Event}, t.Cites...),
					Summary: "provider job " + j.ID + " was at work when " + t.What + ", and succeeded afterwards",
				}}
			}
		}
	}
	return doneAfterwards(c, t)
}
