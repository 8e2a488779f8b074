package rules

import (
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// agent finds node agents that do not do what they owe.
func agent() []correlator.Rule {
	return []correlator.Rule{
		{
			ID: "node_agent.silent", Layer: semconv.LayerNodeAgent, Mechanism: "silent",
			Looks:      "a task that nobody claimed, an agent that says nothing, and a node that is alive",
			NextCheck:  "the agent's process on the node: when and why did it stop?",
			SafeAction: "restart the agent; do not reimage",
			Find:       silentAgent,
		},
		{
			ID: "node_agent.fell_silent", Layer: semconv.LayerNodeAgent, Mechanism: "silent",
			Looks:      "a claim that was lost, an agent that said nothing more after it had begun, and a node that is alive",
			NextCheck:  "what the agent waits for: its own dump of goroutines or threads",
			SafeAction: "save the agent's state, then restart it; do not reimage",
			Find:       fellSilent,
		},
		{
			ID: "node_agent.waits", Layer: semconv.LayerNodeAgent, Mechanism: "stuck",
			Looks:      "a claim that was lost, an agent whose last word of it is that it waits for something of its own machine, and whose heart goes on beating",
			NextCheck:  "who holds what the agent waits for: its own dump of goroutines or threads",
			SafeAction: "save the agent's state, then restart it; do not reimage",
			Find:       waitingAgent,
		},
		{
			ID: "node_agent.stuck", Layer: semconv.LayerNodeAgent, Mechanism: "stuck",
			Looks:      "a task that nobody claimed, and an agent that is alive and complains of itself alone",
			NextCheck:  "what the agent waits for: its own dump of goroutines or threads",
			SafeAction: "restart the agent; do not reimage",
			Find:       stuckAgent,
		},
		{
			ID: "node_agent.takes_nothing", Layer: semconv.LayerNodeAgent, Mechanism: "stuck", Words: unaccepted,
			Looks:      "a task that nobody claimed, that was offered to the node's agent again and again, and an agent whose heart beats and that took nothing up",
			NextCheck:  "what the agent waits for: its own dump of goroutines or threads",
			SafeAction: "restart the agent; do not reimage",
			Find:       takesNothing,
		},
		{
			ID: "node.rebooted", Layer: semconv.LayerNode, Mechanism: "reboot",
			Looks:      "a claim that was lost because the node came up again with another boot id",
			NextCheck:  "console and pstore of the boot that ended",
			SafeAction: "collect pstore before any reimage",
			Find:       rebooted,
		},
	}
}

// silentAgent needs all of it: the obligation, an agent whose telemetry is known to exist, its silence,
// and a node that spoke while the agent did not. Anything less is a gap, not a fault.
func silentAgent(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if !t.NeverTaken() || t.Node == "" {
		return nil
	}
	agentBefore := c.LastOf(semconv.LayerNodeAgent, t.Node, t.From-int64(24*time.Hour), t.From)
	agentDuring := c.LastOf(semconv.LayerNodeAgent, t.Node, t.From+1, t.At)
	hostDuring := c.LastOf(semconv.LayerNode, t.Node, t.From+1, t.At+int64(time.Minute))
	var layerAlive *correlator.Event
	c.EachEvent(semconv.EventHeartbeat, t.From+1, c.Now, func(e *correlator.Event) {
		if layerAlive == nil && c.Shows(e, semconv.LayerNodeAgent) {
			layerAlive = e
		}
	})
	if agentDuring != nil || hostDuring == nil || agentBefore == nil && layerAlive == nil || brief(c, t, agentBefore) || boots(hostDuring) || lastCutOff(agentBefore) {
		return nil
	}
	ev := correlator.Evidence{
		Weight: correlator.Telling, Directness: correlator.Itself, Certain: true, Onset: t.From,
		Summary: "node " + t.Node + " is alive and its agent is silent: " + t.What,
	}
	ev.Records = append(ev.Records, t.Cites...)
	ev.Records = append(ev.Records, hostDuring)
	if agentBefore != nil {
		ev.Records = append([]*correlator.Event{agentBefore}, ev.Records...)
		ev.Summary += ", last heard of at " + correlator.Time(agentBefore.At).Milli()
	} else {
		ev.Certain = false
	}
	return []correlator.Evidence{silentSince(c, t, ev)}
}

// lastCutOff says whether the last that was heard of an agent is that the network did not carry its calls: who is cut off may well be silent.
func lastCutOff(e *correlator.Event) bool {
	return e != nil && e.Failed() && hinted(e) != nil && hinted(e).Layer == semconv.LayerNetwork
}

// boots says whether a machine's last word is its firmware's or its loader's: no agent can run there yet.
func boots(e *correlator.Event) bool { return holds(e.Text, beforeSystem) }

// beforeSystem are the words of a machine before its operating system runs (UEFI and BIOS, PXE, iPXE, GRUB, dracut).
var beforeSystem = []string{"ipxe", "pxe-e", "pxe boot", "no more network devices", "no bootable device", "boot failed", "select proper boot device", "configuring (net", "grub>", "grub rescue", "grub loading", "uefi: ", "start pxe", "http boot", "dracut", "initqueue", "initramfs"}

// silentSince hands an agent's silence over to the rollout of the agent, or of its node's image, after which it was not heard again:
// what it said last tells of the failure.
func silentSince(c *correlator.Case, t *correlator.Trouble, ev correlator.Evidence) correlator.Evidence {
	var change, told *correlator.Event
	c.EachEvent(semconv.EventDeploy, t.From-int64(changed), t.From, func(e *correlator.Event) {
		if l := layerOfName(c, e.Attr(semconv.Component)); l == semconv.LayerNodeAgent || l == semconv.LayerNode {
			change = e
		}
	})
	if change == nil {
		return ev
	}
	c.Each(change.At, t.From, func(e *correlator.Event) {
		if told == nil && e.Failed() && e.Party() == semconv.LayerNodeAgent && correlator.Names(e, t.Node) {
			told = e
		}
	})
	if told == nil || told.At > change.At+int64(rolledOut) {
		return ev
	}
	ev.Rule, ev.Layer, ev.Mechanism, ev.Onset, ev.Certain = "deploy.change", semconv.LayerDeploy, "change", change.At, false
	ev.Records = append([]*correlator.Event{change, told}, ev.Records...)
	ev.Summary = "since the rollout of " + what(change) + " the agent of " + t.Node + " does not come up" + quote(told)
	ev.NextCheck, ev.SafeAction = "what that rollout changed", "roll it back; do not reimage"
	return ev
}

// fellSilent needs an agent that spoke at the claim and not in the second half of the lease, and a node that did.
func fellSilent(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Attempt == nil || t.Attempt.Taken == nil || t.Attempt.Over == nil || t.Attempt.Over.To() != semconv.Lost || t.Node == "" {
		return nil
	}
	taken, over := t.Attempt.Taken.At, t.Attempt.Over.At
	last := c.LastOf(semconv.LayerNodeAgent, t.Node, taken, over-1)
	host := c.LastOf(semconv.LayerNode, t.Node, taken+(over-taken)/2, over+int64(2*time.Minute))
	if last == nil || last.Failed() || last.At > taken+(over-taken)/2 || over-last.At < int64(2*time.Minute) || host == nil || host.Failed() {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Caller, Certain: true, Onset: last.At, Records: append([]*correlator.Event{last, host}, t.Cites...),
		Summary: "the agent of " + t.Node + " claimed the task, was last heard of at " + correlator.Time(last.At).Milli() + ", and its node is alive",
	}}
}

// brief says whether an agent whose heart is heard to beat said nothing, from the step's beginning, for less than two
// beats: that is no silence. What it said before may be another allocation's.
func brief(c *correlator.Case, t *correlator.Trouble, before *correlator.Event) bool {
	var gaps []int64
	last, until := int64(0), c.Now
	c.EachIn(semconv.LayerNodeAgent, t.From-recently, c.Now, func(e *correlator.Event) {
		if !correlator.Names(e, t.Node) {
			return
		}
		if e.At > t.At {
			until = min(until, e.At)
		}
		if !e.Is(semconv.EventHeartbeat) {
			return
		}
		if last != 0 {
			gaps = append(gaps, e.At-last)
		}
		last = e.At
	})
	if before == nil || len(gaps) == 0 {
		return false
	}
	slices.Sort(gaps)
	return until-t.From < 2*gaps[len(gaps)/2]
}

// ownStandstill are words for a process that stands in its own way.
var ownStandstill = []string{"not advanced", "deadlock", "watchdog", "hung", "stuck", "blocked for", "queue is full"}

// stuckAgent needs an agent that speaks during the step, of trouble inside itself: not of a refusal, not of
// a peer that it cannot reach.
func stuckAgent(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if !t.NeverTaken() || t.Node == "" {
		return nil
	}
	ev := correlator.Evidence{Weight: correlator.Telling, Directness: correlator.Itself, Certain: false}
	for _, e := range c.Failures(t) {
		if e.Layer != semconv.LayerNodeAgent || !correlator.Names(e, t.Node) {
			continue
		}
		if e.HTTP.Status != 0 || named(e) != nil {
			return nil // it was refused, or knows what ails it
		}
		if holds(e.Text, ownStandstill) && e.At >= t.From {
			ev.Records = append(ev.Records, e)
		}
	}
	if len(ev.Records) == 0 {
		ev.Records = repeatsOfItself(c, t)
	}
	if len(ev.Records) == 0 {
		return nil
	}
	ev.Summary = "the agent of " + t.Node + " is alive and takes no work" + quote(witness(ev.Records))
	return []correlator.Evidence{ev}
}

// repeatsOfItself lists an agent's own warnings, word by word the same, before and after it was sent a task, of a lock that it waits for.
func repeatsOfItself(c *correlator.Case, t *correlator.Trouble) []*correlator.Event {
	said := map[string][]*correlator.Event{}
	c.EachIn(semconv.LayerNodeAgent, t.From-recently, t.At, func(e *correlator.Event) {
		if !e.IsEvent() && e.Severity >= 13 && correlator.Names(e, t.Node) && e.HTTP.Status == 0 && on(e, themeLocked) && waitsFor.MatchString(e.Text) {
			said[correlator.Template(e.Text)] = append(said[correlator.Template(e.Text)], e)
		}
	})
	for _, list := range said {
		if len(list) > 1 && len(said) == 1 && list[0].At < t.From && list[len(list)-1].At > t.From {
			return list[:min(len(list), ownWords)]
		}
	}
	return nil
}

// unaccepted are the words of who gave a task to an agent and hears nothing of it.
var unaccepted = []string{"waiting for it to accept", "waiting for the agent to accept", "waiting for agent to accept", "waiting for runner to accept", "assigned to agent", "assigned to runner", "offered to agent", "not accepted yet"}

// takesNothing needs the offers, by who makes them, a heartbeat of the agent after the first of them, and nothing else that it said since.
func takesNothing(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if !t.NeverTaken() || t.Node == "" {
		return nil
	}
	var offers []*correlator.Event
	c.Each(t.From, t.At, func(e *correlator.Event) {
		if !e.IsEvent() && e.Layer != semconv.LayerNodeAgent && c.Own(e, t) && holds(e.Text, unaccepted) {
			offers = append(offers, e)
		}
	})
	if len(offers) < 3 {
		return nil
	}
	var beat *correlator.Event
	says := false
	c.EachIn(semconv.LayerNodeAgent, offers[0].At, t.At, func(e *correlator.Event) {
		switch {
		case !correlator.Names(e, t.Node):
		case e.Is(semconv.EventHeartbeat):
			beat = e
		default:
			says = says || e.Layer == semconv.LayerNodeAgent
		}
	})
	if beat == nil || says {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Caller, Onset: offers[0].At, Records: slices.Concat(offers[:3], []*correlator.Event{beat}, t.Cites),
		Summary: "the agent of " + t.Node + " is alive and takes up nothing of what it is given" + quote(offers[0]),
	}}
}

func none(string) string { return "" }

// rebooted compares the boot ids that the node's records carry before and after a claim was lost.
func rebooted(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Attempt == nil || t.Attempt.Taken == nil || t.Node == "" {
		return nil
	}
	var before, after *correlator.Event
	c.EachBoot(t.Node, t.From-int64(time.Hour), t.At+int64(10*time.Minute), func(e *correlator.Event) {
		boot := e.Own(identity.Boot)
		if t.Instance != "" && e.NodeInstance != "" && e.NodeInstance != t.Instance {
			return
		}
		switch {
		case before == nil || e.At <= t.Attempt.Taken.At:
			before = e
		case after == nil && boot != before.Own(identity.Boot):
			after = e
		}
	})
	if before == nil || after == nil || before.Own(identity.Boot) == after.Own(identity.Boot) {
		return nil
	}
	ev := correlator.Evidence{
		Weight: correlator.Telling, Directness: correlator.Itself, Certain: true, Onset: min(after.At, t.At),
		Records: append([]*correlator.Event{before, after}, t.Cites...),
		Summary: "node " + t.Node + " came up with another boot id while the task was claimed",
	}
	// A kernel that ends says so to nobody; the next boot finds its last words (pstore).
	c.EachBoot(t.Node, after.At, after.At+int64(bootTime), func(e *correlator.Event) {
		if s := named(e); s != nil && s.Layer == semconv.LayerNode && e.Own(identity.Boot) == after.Own(identity.Boot) && holds(e.Text, savedWords) && ev.Rule == "" {
			ev.Rule, ev.Mechanism, ev.Weight = s.ID, s.Mechanism, correlator.Specific
			ev.Records = append(ev.Records, e)
			ev.Summary = s.Summary + ", as the next boot found" + quote(e)
			ev.NextCheck, ev.SafeAction = s.NextCheck, s.SafeAction
		}
	})
	return []correlator.Evidence{ev}
}

// bootTime is how long after a node came up its last words of before may be found.
const bootTime = 15 * time.Minute

// savedWords are how what was saved over a boot is called.
var savedWords = []string{"pstore", "dmesg-efi", "dmesg-ramoops", "dmesg-erst", "kdump", "vmcore", "crash dump", "previous boot", "last boot"}
