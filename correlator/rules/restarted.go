package rules

import (
	"cmp"
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
		Looks:      "a step that stood still, or a request that failed, until somebody started one component again, or mended it by hand, and went on at once",
		NextCheck:  "what that component did before it was started again: its stacks, its locks, what it waited for",
		SafeAction: "nothing to do now; next time save its state before it is started again",
		Find:       startedAgain,
	}}
}

// startsAgain are the words of an act by which a component is ended and begins anew.
var startsAgain = []string{"restart", "reset", "delete pod", "bounce", "recycle"}

// startedAgain needs an administrator's act on one component while a step stood still, whose layer is known; the first thing that is heard of the
// allocation afterwards comes soon, beside how long nothing had come, and nothing of it fails any more.
func startedAgain(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	until := endOf(c, t)
	acts := slices.DeleteFunc(slices.Clone(c.Acts(t.From, until)), givesUp)
	if again := slices.DeleteFunc(slices.Clone(acts), func(e *correlator.Event) bool { return !startsUp(e) }); len(again) > 0 {
		acts = again
	}
	if len(acts) == 0 {
		return nil
	}
	act, layer := acts[len(acts)-1], ""
	for _, e := range acts {
		whose := cmp.Or(actedOn(c, e), ofOwnWait(c, t, e))
		if whose == "" || layer != "" && layer != whose {
			return nil
		}
		layer = whose
	}
	moved := c.WentOnAfter(act, t.From, until)
	if moved == nil || !c.Profile.Knows(layer) || layer == semconv.LayerClient {
		return nil
	}
	ev := correlator.Evidence{
		Rule: layer + ".restarted", Layer: layer, Mechanism: "stuck", Weight: correlator.Telling, Directness: correlator.Caller, Onset: t.From,
		Records: append([]*correlator.Event{act, moved}, t.Cites...),
		Summary: "what stood still went on as soon as " + act.Attr(semconv.Actor) + " had started it again (" + actTold(act) + ")",
	}
	if !startsUp(act) {
		ev.Rule, ev.Mechanism, ev.Weight, ev.Certain, ev.Mended = layer+".mended", "error", correlator.Generic, true, true // what it itself says of it tells more
		ev.Summary = "what stood still went on as soon as " + act.Attr(semconv.Actor) + " had mended it (" + actTold(act) + ")"
	}
	return []correlator.Evidence{ev}
}

// givesUp says whether an act gives up what a step left, or orders it anew: it mends no component.
func givesUp(act *correlator.Event) bool {
	did := strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(act.Attr(semconv.Action)))
	return slices.Contains([]string{"force_release", "force_cleanup", "force_delete", "retry_release", "cancel", "fence", "unfence"}, did)
}

// ofOwnWait is the workflow where an act, by its name, is on what the workflow told that it waits for, under a name that is nobody else's: "ampel_frei" beside
// waiting_on=ampel-regal-7.
func ofOwnWait(c *correlator.Case, t *correlator.Trouble, act *correlator.Event) (layer string) {
	did := wordsOfAct.FindAllString(strings.ToLower(act.Attr(semconv.Action)), -1)
	for _, e := range c.Events { // in its own words
		if _, what, ok := strings.Cut(e.Text, "waits for "); ok && e.Layer == semconv.LayerWorkflow && !e.IsEvent() && e.At >= t.From && e.At < act.At {
			for _, name := range wordsOfAct.FindAllString(what[:min(len(what), 60)], -1) {
				if slices.Contains(did, name) && layerOfName(c, name) == "" {
					layer = semconv.LayerWorkflow
				}
			}
		}
	}
	c.EachEvent(semconv.EventWorkflowState, t.From, act.At, func(e *correlator.Event) {
		if e.Allocation != c.ID || e.To() != semconv.Waiting {
			return
		}
		for _, name := range wordsOfAct.FindAllString(strings.ToLower(e.Attr(semconv.WaitingOn)), -1) {
			if slices.Contains(did, name) && layerOfName(c, name) == "" {
				layer = semconv.LayerWorkflow
			}
		}
	})
	return layer
}

// wordsOfAct finds the longer words of a name.
var wordsOfAct = regexp.MustCompile(`[\p{L}]{4,}`)

// powers are the words of an act by which a machine is started again.
var powers = []string{"power cycle", "power_cycle", "power-cycle", "powercycle", "reboot"}

// endOf is when a trouble was over: when it was made good or, of a request, when the allocation next moved, or now; 0 where it is not.
func endOf(c *correlator.Case, t *correlator.Trouble) (until int64) {
	if until = t.Cleared; until != 0 || t.Kind != correlator.RequestTrouble {
		return until
	}
	for _, s := range c.Lifecycle.States {
		if s.At > t.At {
			return s.At
		}
	}
	return c.Now
}

// startsUp says whether by an act a component was started again.
func startsUp(act *correlator.Event) bool {
	did := strings.ToLower(act.Attr(semconv.Action))
	return holds(did, startsAgain) || holds(did, powers)
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
	if layer := layerOfName(c, act.Attr(semconv.Component)); layer != "" {
		return layer
	}
	names := func(text string) []string {
		return slices.DeleteFunc(inAct.FindAllString(strings.ReplaceAll(strings.ToLower(text), "_", " "), -1), func(name string) bool { return slices.Contains(ofActs, name) })
	}
	named := func(names ...string) string {
		for _, name := range names {
			if layer := layerOfName(c, name); layer != "" {
				return layer
			}
		}
		return ""
	}
	if holds(strings.ToLower(act.Attr(semconv.Action)), powers) {
		return semconv.LayerNode // through whomever
	}
	if ordersAgain(act) && act.Layer == semconv.LayerOutbox {
		return "" // an order that is given again goes the whole way again
	}
	if !startsUp(act) {
		return filedBy(c, act) // what was done to it is filed where it was done; words name what it was done with, too
	}
	did := names(act.Attr(semconv.Action))
	if layer := named(append([]string{strings.Join(did, "-")}, did...)...); layer != "" {
		return layer
	}
	if layer := filedBy(c, act); layer != "" {
		return layer
	}
	return named(names(act.Attr(semconv.Reason))...)
}

// ordersAgain says whether by an act an order was given again, and nothing else is said of who had lost it.
func ordersAgain(act *correlator.Event) bool {
	return holds(strings.ToLower(act.Attr(semconv.Action)), []string{"resend", "re-send", "send again", "republish", "redeliver", "requeue", "replay"}) && len(thingsOf(strings.ToLower(act.Attr(semconv.Reason)))) == 0
}

// filedBy is the layer of the component that files an act, "" where it is one that keeps the acts of others.
func filedBy(c *correlator.Case, act *correlator.Event) string {
	if first, _, _ := strings.Cut(act.Service, "-"); slices.Contains(keepsActs, first) {
		return ""
	}
	if layer := cmp.Or(act.Layer, layerOfName(c, act.Service)); layer != semconv.LayerAPI {
		return layer
	}
	return "" // an API files what is done through it
}
