package rules

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// rolledOut is how long before the first failure a rollout may lie and still be why; half a minute after it
// may be two clocks.
const rolledOut = 15 * time.Minute

// byRollout hands a cause over to the rollout that brought it: a change whose words name the matter, and
// before which nobody complained (docs/domain.md §4.2: a wrong certificate that a rollout installed is the
// rollout's).
func byRollout(c *correlator.Case, ev correlator.Evidence, mechanism string, words ...string) correlator.Evidence {
	before := rolledOut
	if mechanism == "image" || mechanism == "user_data" || mechanism == "quota" {
		before = changed // a machine boots its new image, and reads its new data, when its turn comes; a quota is met when something is asked for
	}
	var change *correlator.Event
	c.EachEvent(semconv.EventDeploy, ev.Onset-int64(before), ev.Onset+int64(30*time.Second), func(e *correlator.Event) {
		what := strings.ToLower(e.Attr(semconv.Component) + " " + e.Attr(semconv.Config) + " " + e.Attr(semconv.Version) + " " + e.Text)
		for _, w := range words {
			if strings.Contains(what, w) {
				change = e
			}
		}
	})
	if change == nil {
		return ev
	}
	ev.Summary += ", since the rollout of " + strings.TrimSpace(change.Attr(semconv.Component)+" "+change.Attr(semconv.Config))
	ev = handedOver(ev, change, "deploy."+mechanism, mechanism)
	ev.NextCheck, ev.SafeAction = "what that rollout changed", "roll it back, or roll out the right content"
	return ev
}

// handedOver is a cause that a rollout brought, the rollout first among what proves it.
func handedOver(ev correlator.Evidence, rollout *correlator.Event, rule, mechanism string) correlator.Evidence {
	ev.Rule, ev.Layer, ev.Mechanism = rule, semconv.LayerDeploy, mechanism
	ev.Records = append([]*correlator.Event{rollout}, ev.Records...)
	return ev
}

// bornBroken makes the end of a process a rollout's, where one of its component came before and nothing was heard of it between that
// would not come from who is broken: what never ran did not break.
func bornBroken(c *correlator.Case, ev correlator.Evidence) correlator.Evidence {
	var change *correlator.Event
	c.EachEvent(semconv.EventDeploy, ev.Onset-int64(changed), ev.Onset+int64(30*time.Second), func(e *correlator.Event) {
		if layerOfName(c, e.Attr(semconv.Component)) == ev.Layer || slices.ContainsFunc(ev.Records, func(told *correlator.Event) bool {
			return e.Attr(semconv.Component) != "" && strings.EqualFold(told.Attr(deployment), e.Attr(semconv.Component))
		}) {
			change = e
		}
	})
	if change == nil {
		return ev
	}
	ran, until := false, c.Now
	speaks := slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return e.Service == change.Attr(semconv.Component) })
	last := lastAt(ev.Records)
	c.EachEvent(semconv.EventDeploy, change.At+1, c.Now, func(e *correlator.Event) {
		if e.Attr(semconv.Component) == change.Attr(semconv.Component) || e.At > last { // what it lacked may have come since
			until = min(until, e.At)
		}
	})
	node := ev.Records[0].Node // of a part that each machine has one of its own, that one
	c.EachIn(ev.Layer, change.At+int64(30*time.Second), until, func(e *correlator.Event) {
		if node != "" && e.Node != node {
			return
		}
		ran = ran || e.IsEvent() && (!speaks || e.Service == change.Attr(semconv.Component)) // others of its layer may run
	})
	if ran {
		return ev
	}
	ev.Summary += ", since the rollout of " + what(change) + ", and did not run with it"
	ev = handedOver(ev, change, "deploy.broken", "broken")
	ev.NextCheck, ev.SafeAction = "what that rollout changed", "roll it back"
	return ev
}

// lastAt is when the last of records came.
func lastAt(records []*correlator.Event) int64 {
	last := int64(math.MinInt64)
	for _, e := range records {
		last = max(last, e.At)
	}
	return last
}

// ofLessMemory makes the end of a process at its own limit of memory a rollout's that set that limit: what it is given is not its own doing.
func ofLessMemory(c *correlator.Case, ev correlator.Evidence) correlator.Evidence {
	if ev.Layer == semconv.LayerDeploy || !slices.ContainsFunc(ev.Records, func(e *correlator.Event) bool { return holds(e.Text, memoryWords) }) {
		return ev
	}
	var change *correlator.Event
	c.EachEvent(semconv.EventDeploy, ev.Onset-int64(changed), ev.Onset, func(e *correlator.Event) {
		if layerOfName(c, e.Attr(semconv.Component)) == ev.Layer {
			change = nil // what runs is what came last
			if holds(strings.ToLower(e.Attr(semconv.Config)+" "+e.Text), setsMemory) {
				change = e
			}
		}
	})
	if change == nil {
		return ev
	}
	ev.Summary += ", since the rollout of " + what(change)
	ev = handedOver(ev, change, "deploy.limit", "config")
	ev.Weight, ev.Onset = correlator.Specific, change.At
	ev.NextCheck, ev.SafeAction = "the limit before that rollout, beside what the process needs", "roll it back, or give it what it had"
	return ev
}

// memoryWords are those of a process that was ended for its memory, setsMemory those of a rollout that sets how much it gets.
var (
	memoryWords = []string{"oomkilled", "oom-kill", "out of memory", "heap out of memory", "outofmemory"}
	setsMemory  = []string{"limits.memory", "memory=", "memory:", "memory_limit", "memorylimit", "mem_limit", "memorymax", "memory limit", "-xmx", "gomemlimit", "max-old-space-size"}
)

// kernelSymbols find the function at which a kernel failed, and the modules of its trace (Linux's oops).
var kernelSymbols = regexp.MustCompile(`\brip: (?:[0-9a-f]+:)?([a-z_][a-z0-9_.]*)\+|\[([a-z][a-z0-9_]{3,})\]`)

// ofLoaded makes the failure of a kernel a rollout's, where it failed in a module or function that bears the name of what was rolled out right before.
func ofLoaded(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	var symbols []string
	for _, e := range slices.Concat(ev.Records, c.Failures(t)) {
		if e.Node == ev.Records[0].Node && !e.IsEvent() {
			for _, m := range kernelSymbols.FindAllStringSubmatch(e.Text, 8) {
				symbols = append(symbols, m[1]+m[2])
			}
		}
	}
	if len(symbols) == 0 {
		return ev
	}
	var change *correlator.Event
	c.EachEvent(semconv.EventDeploy, ev.Onset-int64(rolledOut), ev.Onset, func(e *correlator.Event) {
		for part := range strings.FieldsFuncSeq(strings.ToLower(e.Attr(semconv.Component)), func(r rune) bool { return !isWord(byte(min(r, 0x7f))) }) {
			if len(part) > 4 && slices.ContainsFunc(symbols, func(s string) bool { return strings.Contains(s, part) }) {
				change = e
			}
		}
	})
	if change == nil {
		return ev
	}
	ev.Summary += ", in what the rollout of " + what(change) + " brought"
	ev = handedOver(ev, change, "deploy.module", "broken")
	ev.NextCheck, ev.SafeAction = "what that rollout changed, and on which machines it is", "stop it and roll it back; the machines are sound"
	return ev
}

// choosesNone makes a network that tells that what it chooses its parts by matches none a rollout's, where one came right before it said so first.
func choosesNone(c *correlator.Case, ev correlator.Evidence) correlator.Evidence {
	const rightBefore = int64(2 * time.Minute)
	if !holds(ev.Records[0].Text, []string{"0 nodes matched", "no peers configured", "no bgp peers configured", "matches no", "selector"}) {
		return ev
	}
	var change *correlator.Event
	c.EachEvent(semconv.EventDeploy, ev.Onset-rightBefore, ev.Onset, func(e *correlator.Event) { change = e })
	if change == nil {
		return ev
	}
	ev.Summary += ", since the rollout of " + what(change)
	ev = handedOver(ev, change, "deploy.selector", "config")
	ev.NextCheck, ev.SafeAction = "what that rollout took away or renamed", "give it back, or choose by what there is now"
	return ev
}
