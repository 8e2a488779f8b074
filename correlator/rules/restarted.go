package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// restarted reads what cured a step: that it went on as soon as one component was started again says whose it was.
func restarted() []correlator.Rule {
	return []correlator.Rule{{
		ID: "party.restarted", Mechanism: "stuck",
		Looks:      "a step that stood still, or a request that failed, until somebody started one component again, and went on at once",
		NextCheck:  "what that component did before it was started again: its stacks, its locks, what it waited for",
		SafeAction: "nothing to do now; next time save its state before it is started again",
		Find:       startedAgain,
	}}
}

// startsAgain are the words of an act by which a component is ended and begins anew; planned are those of an act that was no answer to a trouble.
var (
	startsAgain = []string{"restart", "reset", "delete pod", "bounce", "recycle"}
	planned     = []string{"chg-", "change-", "maintenance", "planned", "restart_workflow", "restart workflow", "workflow.restart"}
)

// startedAgain needs an administrator's act on one component while a step stood still, whose name says its layer; the first thing that is heard of the
// allocation afterwards comes soon, beside how long nothing had come, and nothing of it fails any more.
func startedAgain(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Cleared == 0 {
		return nil
	}
	var act *correlator.Event
	layer := ""
	several := false
	c.EachEvent(semconv.EventAudit, t.From, t.Cleared, func(e *correlator.Event) {
		did := strings.ToLower(e.Attr(semconv.Action))
		if e.Attr(semconv.ActorType) != "admin" || !holds(did, startsAgain) || holds(did+" "+strings.ToLower(e.Attr(semconv.Reason)), planned) || e.Allocation != "" && e.Allocation != c.ID || e.Node != "" && !slices.Contains(c.Lifecycle.Nodes, e.Node) {
			return
		}
		whose := actedOn(c, e)
		several = several || whose == "" || act != nil && layer != whose
		act, layer = e, whose
	})
	if act == nil || several || !c.Profile.Knows(layer) {
		return nil
	}
	var moved *correlator.Event
	for _, e := range c.Events {
		if e.At <= act.At || e.At > t.Cleared || e == act {
			continue
		}
		if e.TellsOfFailure() && e.At > act.At+moment {
			return nil // it went on failing
		}
		if moved == nil && !e.TellsOfFailure() && !e.Is(semconv.EventHeartbeat) {
			moved = e
		}
	}
	if moved == nil || moved.At-act.At > min(recently, (act.At-t.From)/2) {
		return nil
	}
	return []correlator.Evidence{{
		Rule: layer + ".restarted", Layer: layer, Mechanism: "stuck", Weight: correlator.Telling, Directness: correlator.Caller, Onset: t.From,
		Records: append([]*correlator.Event{act, moved}, t.Cites...),
		Summary: "what stood still went on as soon as " + act.Attr(semconv.Actor) + " had started it again (" + actTold(act) + ")",
	}}
}

// actTold is an act in words: what was done and, where that is filed, why.
func actTold(act *correlator.Event) string {
	did, why := act.Attr(semconv.Action), act.Attr(semconv.Reason)
	if did == "" || why == "" {
		return did + why
	}
	return did + ": " + why
}

// inAct splits what an act says into names; ofActs are its words that name nobody.
var (
	inAct  = regexp.MustCompile(`[a-z][a-z0-9]*(?:-[a-z0-9]+)*`)
	ofActs = []string{"kubectl", "rollout", "rolling", "systemctl", "nomad", "alloc", "deploy", "deployment", "pod", "pods", "service", "unit", "container", "restart", "restarted", "reset", "delete", "task", "rollout-restart"}
)

// keepsActs are the programs that file the acts of others, by the first part of their names.
var keepsActs = []string{"audit", "ops", "api", "host", "platform", "deployer", "control", "ui", "portal", "kube"}

// actedOn is the layer of the component that an act names, "" where it names none that is known.
func actedOn(c *correlator.Case, act *correlator.Event) string {
	if layer := correlator.LayerOfName(c.Profile, act.Attr(semconv.Component)); layer != "" {
		return layer
	}
	names := func(text string) []string {
		return slices.DeleteFunc(inAct.FindAllString(strings.ReplaceAll(strings.ToLower(text), "_", " "), -1), func(name string) bool { return slices.Contains(ofActs, name) })
	}
	named := func(names ...string) string {
		for _, name := range names {
			if layer := correlator.LayerOfName(c.Profile, name); layer != "" {
				return layer
			}
		}
		return ""
	}
	did := names(act.Attr(semconv.Action))
	if layer := named(append([]string{strings.Join(did, "-")}, did...)...); layer != "" {
		return layer
	}
	if first, _, _ := strings.Cut(act.Service, "-"); !slices.Contains(keepsActs, first) {
		return correlator.LayerOfName(c.Profile, act.Service)
	}
	return named(names(act.Attr(semconv.Reason))...)
}
