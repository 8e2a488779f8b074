package rules

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// wentAway are the words of who was left by somebody whom he does not name.
var wentAway = []string{"other side went away", "other end went away", "peer went away", "remote side went away", "other side closed", "other end closed", "other side hung up"}

// provider finds jobs that a provider itself says failed.
func provider() []correlator.Rule {
	return []correlator.Rule{{
		ID: "provider.job", Layer: semconv.LayerProvider, Mechanism: "job",
		Looks:      "a provider's job that ran and failed, by its own word or with its own explanation",
		NextCheck:  "the job's explanation and the task that failed in it",
		SafeAction: "fix what the job names, then a new attempt; do not strip finalizers",
		Find: func(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
			if t.Kind != correlator.JobTrouble {
				return nil
			}
			last := t.Cites[len(t.Cites)-1]
			if !strings.EqualFold(last.To(), "failed") || named(last) != nil {
				return nil
			}
			directness := correlator.Itself
			if last.Layer != semconv.LayerProvider && last.Attr(semconv.ProviderStatus) == "" && last.Attr(semconv.ProviderExplanation) == "" {
				directness = correlator.Caller // the operator's word for it, not the provider's
				if slices.ContainsFunc(c.Failures(t), neverLaunched) || holds(last.Text, unanswered) {
					return nil
				}
			}
			if last.Layer != semconv.LayerProvider && c.AliveBetween(semconv.LayerProvider, t.From-recently, c.Now) == nil {
				return nil // of the provider itself nothing is heard: what its job met, nobody knows
			}
			if explained := strings.ToLower(last.Attr(semconv.ProviderExplanation)); holds(explained, outOfPatience) || holds(explained, badInput) {
				return nil // it waited for somebody else, and says nothing of him; or it was asked for what there is not
			}
			if slices.ContainsFunc(c.Failures(t), func(e *correlator.Event) bool {
				return e.Party() == semconv.LayerProvider && c.Own(e, t) && holds(e.Text, wentAway)
			}) {
				return nil // somebody whom it does not name ended it
			}
			weight := correlator.Telling
			if last.Attr(semconv.ProviderExplanation) == "" {
				// Why it did not do the job it does not say. That somebody else tells so of it proves less: of six such answers at first sight four were wrong.
				if last.Layer != semconv.LayerProvider || unclaimed(c, t) || ofTheMachine(c, t) {
					return nil
				}
				weight = correlator.Generic
			}
			return []correlator.Evidence{{
				Weight: weight, Directness: directness, Certain: true,
				Records: t.Cites, Onset: last.At, Summary: t.What + quote(last),
			}}
		},
	}, {
		ID: "provider.reimage", Layer: semconv.LayerProvider, Mechanism: "reimage",
		Looks:      "a claim that was lost while a provider, unasked, power-cycled or redeployed the node",
		NextCheck:  "what made the provider act on a node that was in use",
		SafeAction: "keep the logs of the old node instance; take the node out of the provider's hands before a retry",
		Find:       reimagedUnasked,
	}, {
		ID: "provider.never_began", Layer: semconv.LayerProvider, Mechanism: "pending",
		Looks:      "a provider's job that never began until the platform's patience was over, while the provider answers questions after it",
		NextCheck:  "what the provider's scheduler says of that job: capacity, a lock, a queue",
		SafeAction: "let the provider begin it, or launch anew; the platform needs nothing",
		Find:       neverBegan,
	}, {
		ID: "workflow.double_launch", Layer: semconv.LayerWorkflow, Mechanism: "duplicate_launch",
		Looks:      "two provider jobs for one operation and configuration, the second launched while the first still ran",
		NextCheck:  "which launch was the first; adopt that one",
		SafeAction: "adopt the first job; do not delete what it made",
		Find:       launchedTwice,
	}}
}

// unclaimed says whether, while a job ran, a provider told of work that failed for another's cause, or a launch was
// answered with an error, under nobody's identifiers: it may have been this very job, and then it is not the provider's.
func unclaimed(c *correlator.Case, t *correlator.Trouble) bool {
	return slices.ContainsFunc(c.UnattributedBetween(t.From-moment, t.At+moment), func(e *correlator.Event) bool {
		if e.Layer != semconv.LayerProvider {
			return neverLaunched(e)
		}
		s := (*signature)(nil)
		if e.Failed() { // most say nothing of the kind, and reading words costs
			s = named(e)
		}
		return s != nil && s.Layer != semconv.LayerProvider
	})
}

// ofTheMachine says whether all that a provider itself tells of a step's failure is that it waited for the machine in vain, or that a part of the
// machine failed it: which of the two ends of that handoff it was nobody says.
func ofTheMachine(c *correlator.Case, t *correlator.Trouble) bool {
	of := false
	for _, e := range c.Failures(t) {
		if e.IsEvent() || e.Layer != semconv.LayerProvider || !c.Own(e, t) {
			continue
		}
		if !holds(e.Text, outOfPatience) && !ofAPart(e) {
			return false
		}
		of = true
	}
	return of
}

// outOfPatience are the words of a provider that waited for a machine, or for a part of itself, in vain.
var outOfPatience = []string{"timed out", "timeout", "time-out", "did not respond", "no response", "gave up", "giving up", "deadline"}

// badInput are the words of a provider that was given what it cannot work with, and of one that only tried too often.
var badInput = []string{"parameter was not correct", "invalidargument", "invalid argument", "no object named", "retries exhausted", "retry limit"}

// moment is what is written in one breath.
const moment = int64(5 * time.Second)

// unanswered are the words of a request that had no answer in its time (Go): what became of it nobody knows, and
// where it got to neither.
var unanswered = []string{"context deadline exceeded", "client.timeout exceeded", "i/o timeout"}

// neverLaunched says whether a record tells of a launch that was answered with an error: what is called a failed
// job then never was one.
func neverLaunched(e *correlator.Event) bool {
	return e.Layer == semconv.LayerWorkflow && (strings.Contains(e.Text, "non-success status code") || e.SpanKind == "client" && e.HTTP.Method == http.MethodPost && e.HTTP.Status >= 400)
}

// reimagedUnasked reads the provider's own record of what it did to the node during the claim.
func reimagedUnasked(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind == correlator.RequestTrouble {
		return endedInUse(c, t)
	}
	if t.Attempt == nil || t.Attempt.Taken == nil || t.Node == "" {
		return nil
	}
	ev := correlator.Evidence{Weight: correlator.Specific, Directness: correlator.Itself, Certain: true}
	c.EachIn(semconv.LayerProvider, t.Attempt.Taken.At, t.At, func(e *correlator.Event) {
		if e.Layer == semconv.LayerProvider && !e.IsEvent() && on(e, themeActed) && named(e) == nil && correlator.Names(e, t.Node) {
			ev.Records = append(ev.Records, e)
		}
	})
	if len(ev.Records) == 0 {
		return nil
	}
	ev.Summary = "the provider acted on the node while the task was claimed" + quote(ev.Records[0])
	if asked := askedToAct(c, t, ev.Records[0].At); asked != nil {
		ev.Rule, ev.Layer, ev.Certain, ev.Onset = "workflow.reimage", semconv.LayerWorkflow, false, asked.At
		ev.Records = append([]*correlator.Event{asked}, ev.Records...)
		ev.Summary = "the platform itself had the node acted on while the task was claimed" + quote(asked)
		ev.NextCheck = "by what the platform decided that the node was not at work"
	}
	return []correlator.Evidence{ev}
}

// hadActed are the words of a provider that changed a machine's power or installation.
var hadActed = []string{"power cycle", "power off", "poweroff", "powering off", "redeploy", "to deploying", "to releasing", "reimag", "reinstall", "deprovision", "terminated", "destroyed", "deleted"}

// endedInUse needs a provider's word that it acted on the allocation's machine while that was in use, an agent that was alive until then and not
// after it, and no person who asked for it.
func endedInUse(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var acted *correlator.Event
	c.EachIn(semconv.LayerProvider, t.From-recently, t.At, func(e *correlator.Event) {
		if e.Layer != semconv.LayerProvider || e.IsEvent() || e.Node == "" || !on(e, themeActed) || !c.Own(e, t) {
			return
		}
		before := c.LastOf(semconv.LayerNodeAgent, e.Node, e.At-recently, e.At+skewOfClocks)
		if before != nil && c.LastOf(semconv.LayerNodeAgent, e.Node, e.At+skewOfClocks+1, t.At) == nil && t.At-e.At > int64(time.Minute) {
			acted = e
		}
	})
	if acted == nil || !inUse(c, acted.At) {
		return nil
	}
	wished := false
	c.EachEvent(semconv.EventAudit, acted.At-recently, acted.At, func(e *correlator.Event) {
		wished = wished || c.Own(e, t) || correlator.Names(e, acted.Node)
	})
	if wished {
		return nil
	}
	ev := correlator.Evidence{
		Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: acted.At, Last: t.At, Records: append([]*correlator.Event{acted}, t.Cites...),
		Summary: "the provider acted on the machine while it was in use" + quote(acted),
	}
	if asked := askedToAct(c, t, acted.At); asked != nil {
		ev.Rule, ev.Layer, ev.Certain, ev.Onset = "workflow.reimage", semconv.LayerWorkflow, false, asked.At
		ev.Records = append([]*correlator.Event{asked}, ev.Records...)
		ev.Summary = "the platform itself had the machine acted on while it was in use" + quote(asked)
		ev.NextCheck = "by what the platform decided that the machine was not at work"
	}
	return []correlator.Evidence{ev}
}

// inUse says whether the allocation was active at a time, by its states.
func inUse(c *correlator.Case, at int64) bool {
	state := ""
	for _, s := range c.Lifecycle.States {
		if s.At <= at {
			state = s.To
		}
	}
	return state == semconv.Active
}

// askedToAct is the platform's own word, right before a provider acted on a node, that it has the node's power or installation changed.
func askedToAct(c *correlator.Case, t *correlator.Trouble, at int64) (asked *correlator.Event) {
	c.EachIn(semconv.LayerWorkflow, at-skewOfClocks, at, func(e *correlator.Event) {
		if !e.IsEvent() && c.Own(e, t) && holds(e.Text, actsOn) {
			asked = e
		}
	})
	return asked
}

// actsOn are the words of a platform that has a machine's power or installation changed.
var actsOn = []string{"power on", "power-on", "power off", "power-off", "power cycle", "power-cycle", "powering", "reboot", "reset", "reimag", "reinstall", "redeploy", "terminat", "deleted", "deleting", "destroy", "deprovision", "orphan"}

// launchedTwice compares the jobs of one operation: at most one may live for a configuration at a time
// (docs/domain.md §4.9, I6).
func launchedTwice(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind != correlator.JobTrouble {
		return nil
	}
	failed := t.Cites[0]
	for _, j := range c.Lifecycle.Jobs {
		first, last := j.Changes[0], j.Last()
		other := first.Event.Own(identity.ProviderJob)
		if other == failed.Own(identity.ProviderJob) || first.Event.Attr(semconv.Operation) != failed.Attr(semconv.Operation) ||
			first.Event.Attr(semconv.ConfigVersion) != failed.Attr(semconv.ConfigVersion) || failed.Attr(semconv.ConfigVersion) == "" && !inTheWay(c, t) {
			continue
		}
		if first.At <= failed.At && last.At > failed.At {
			return []correlator.Evidence{{
				Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: failed.At,
				Records: append([]*correlator.Event{first.Event}, t.Cites...),
				Summary: "job " + failed.Own(identity.ProviderJob) + " was launched while " + other + " ran for the same configuration",
			}}
		}
	}
	return launchedUnnoted(c, t)
}

// inTheWay says whether the provider refused a job because of what is there, or under way, already.
func inTheWay(c *correlator.Case, t *correlator.Trouble) bool {
	return slices.ContainsFunc(c.Failures(t), func(e *correlator.Event) bool {
		return e.HTTP.Status == http.StatusConflict || (e.Layer == semconv.LayerProvider || e.Is(semconv.EventProviderState)) && holds(e.Text, alreadyThere)
	})
}

// alreadyThere are the words of a job that finds done what it was to do.
var alreadyThere = []string{"already exists", "alreadyexists", "already in use", "conflict", "is held by", "held by job", "already running", "is locked by", "in progress"}

// launchedUnnoted finds a job that failed because what it was to make is there, and another job of the allocation that the
// provider took before and whose launch the platform never noted.
func launchedUnnoted(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	failed := t.Cites[0].Own(identity.ProviderJob)
	var said, other *correlator.Event
	for _, e := range c.Failures(t) {
		if said == nil && e.Layer == semconv.LayerProvider && holds(e.Text, alreadyThere) {
			said = e
		}
	}
	if said == nil {
		return nil
	}
	unnoted := func(e *correlator.Event) bool {
		job := e.Own(identity.ProviderJob)
		noted := slices.ContainsFunc(c.Lifecycle.Jobs, func(j *correlator.Run) bool { return j.ID == job && j.Changes[0].At <= t.At })
		return job != "" && job != failed && !noted && !e.IsEvent() && e.Layer == semconv.LayerProvider && e.At < t.At
	}
	if i := slices.IndexFunc(c.Events, unnoted); i >= 0 {
		other = c.Events[i]
	}
	id := strings.ToLower(c.ID)
	c.EachIn(semconv.LayerProvider, t.From-recently, said.At, func(e *correlator.Event) {
		if other == nil && unnoted(e) && e.Allocation == "" && strings.Contains(e.Text, "launch") && strings.Contains(e.Text, id) {
			other = e // nobody's by its identifiers, since the platform never noted it: the provider names for whom it was
		}
	})
	if other == nil {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Specific, Directness: correlator.Caller, Onset: other.At, Records: append([]*correlator.Event{other, said}, t.Cites...),
		Summary: "job " + failed + " found done what " + other.Own(identity.ProviderJob) + " did, a job that the platform launched before and did not note" + quote(said),
	}}
}

// begins is how long a job may wait for its beginning until that is the provider's matter.
const begins = int64(10 * time.Minute)

// neverBegan needs a job that was called off while it waited, long after it was launched, and a question after it that was answered.
func neverBegan(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind != correlator.JobTrouble || t.At-t.From < begins {
		return nil
	}
	id := t.Cites[0].Own(identity.ProviderJob)
	for _, j := range c.Lifecycle.Jobs {
		if j.ID != id {
			continue
		}
		for _, change := range j.Changes {
			if change.At < t.At && !strings.EqualFold(change.To, "pending") && !strings.EqualFold(change.To, "waiting") {
				return nil
			}
		}
	}
	var polled *correlator.Event
	for _, e := range c.Events {
		if e.At < t.At && e.Is(semconv.EventProviderPoll) && e.Own(identity.ProviderJob) == id {
			polled = e
		}
	}
	if polled == nil || polled.Attr(semconv.PollOK) != "true" || !strings.EqualFold(t.Cites[len(t.Cites)-1].To(), "canceled") {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Generic, Directness: correlator.Caller, Certain: true, Onset: t.From, Records: append([]*correlator.Event{polled}, t.Cites...),
		Summary: "the provider took the job and did not begin it for " + time.Duration(t.At-t.From).Round(time.Second).String() + ", until it was called off",
	}}
}
