package rules

import (
	"slices"
	"strings"
	"unicode"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// peersSince finds what several machines complain of, in the same words, since a rollout of what they run.
func peersSince() []correlator.Rule {
	return []correlator.Rule{{
		ID: "deploy.since_on_many", Layer: semconv.LayerDeploy, Mechanism: "change",
		Looks:      "the same complaint of the step's machine and of another one, since a rollout of what such machines boot or run, and of none before it",
		NextCheck:  "what that rollout left out or changed of what the complaint names",
		SafeAction: "roll it back; the machines need nothing",
		Find:       complainAlikeSince,
	}, {
		ID: "deploy.by_version", Layer: semconv.LayerDeploy, Mechanism: "change",
		Looks:      "something by whose name the step and another one fail where the version is that a rollout brought, and that goes well where the one before it still is, by the words of who meets both",
		NextCheck:  "what that rollout left out or changed of what the complaint names",
		SafeAction: "roll it back where it is; the version before goes on",
		Find:       failsByVersion,
	}}
}

// bootable are the words of a rollout of what machines boot.
var bootable = []string{"ramdisk", "initramfs", "initrd", "image", "kernel", "firmware", "bootloader"}

// mostAlike is how many complaints of a step's are looked for at others.
const mostAlike = 8

func complainAlikeSince(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	rolledOut := false
	c.EachEvent(semconv.EventDeploy, t.From-int64(changed), t.At, func(*correlator.Event) { rolledOut = true })
	if !rolledOut {
		return nil
	}
	asked := map[string]bool{}
	for _, e := range ofOneMachines(c, t) {
		if len(asked) >= mostAlike {
			break
		}
		said := correlator.Template(e.Text)
		if asked[said] {
			continue
		}
		asked[said] = true
		var rollout *correlator.Event
		c.EachEvent(semconv.EventDeploy, e.At-int64(changed), e.At, func(o *correlator.Event) {
			if concerns(o, e) {
				rollout = o
			}
		})
		if rollout == nil {
			continue
		}
		if other := saidByOther(c, e, rollout.At); other != nil {
			return []correlator.Evidence{{
				Weight: correlator.Telling, Directness: correlator.Itself, Onset: rollout.At, Records: []*correlator.Event{rollout, e, other},
				Summary: "since the rollout of " + what(rollout) + " machines complain of the same" + quote(e),
			}}
		}
	}
	return nil
}

// ofOneMachines lists what the step's machine complains of, and what others who watch it complain of by its name.
func ofOneMachines(c *correlator.Case, t *correlator.Trouble) (out []*correlator.Event) {
	for _, e := range plainFailures(c, t) {
		machine := e.Party() == semconv.LayerNode || e.Party() == semconv.LayerNodeAgent
		if machine && e.Node != "" && c.Own(e, t) && e.HTTP.Status == 0 && !wrapper(e) {
			out = append(out, e)
		}
	}
	if t.Node == "" {
		return out
	}
	for _, e := range c.UnattributedBetween(t.From, t.At) {
		if !e.IsEvent() && e.Node == "" && e.Severity >= 17 && e.HTTP.Status == 0 && correlator.Names(e, t.Node) {
			out = append(out, e)
		}
	}
	return out
}

// concerns says whether a rollout is of what a machine boots, or of what its complaint names.
func concerns(rollout, complaint *correlator.Event) bool {
	name := strings.ToLower(rollout.Attr(semconv.Component) + " " + rollout.Attr(semconv.Config))
	if holds(name, bootable) && complaint.Party() == semconv.LayerNode {
		return true
	}
	return slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) }), func(word string) bool {
		return len(word) > 4 && !slices.Contains(ofAnyRollout, word) && (strings.Contains(complaint.Text, word) || strings.Contains(strings.ToLower(complaint.Service), word))
	})
}

// ofAnyRollout are the words of a rollout that name nothing of it.
var ofAnyRollout = []string{"config", "agent", "service", "server", "controller", "values", "chart", "release", "version", "default"}

// saidByOther is the same complaint of another machine since a time; nil where there is none, or where somebody complained of that before it.
func saidByOther(c *correlator.Case, complaint *correlator.Event, since int64) (other *correlator.Event) {
	same, before := correlator.Template(complaint.Text), false
	if strings.Count(same, " ") < 3 {
		return nil
	}
	c.EachIn(complaint.Layer, since-int64(changed), c.Now, func(e *correlator.Event) {
		if e.IsEvent() || (e.Node == "") != (complaint.Node == "") || !e.Failed() || correlator.Template(e.Text) != same {
			return
		}
		before = before || e.At < since
		if (e.Node != complaint.Node || e.Node == "" && e.Text != complaint.Text) && e.At >= since && other == nil {
			other = e
		}
	})
	if before {
		return nil
	}
	return other
}

// failsByVersion needs a rollout that tells from what to what, a complaint of the step's own, the same of another's that names the new version, and what went well
// with the old one since, by the words of the same program.
func failsByVersion(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	var rollout *correlator.Event
	version := func(s string) string {
		if s = strings.ToLower(s); len(s) < shortestName || !strings.ContainsAny(s, digits) {
			return ""
		}
		return s
	}
	c.EachEvent(semconv.EventDeploy, t.From-int64(changed), t.At, func(e *correlator.Event) {
		if version(e.To()) != "" && version(e.Attr(semconv.From)) != "" {
			rollout = e
		}
	})
	if rollout == nil {
		return nil
	}
	var own, other, well *correlator.Event
	now, before := version(rollout.To()), version(rollout.Attr(semconv.From))
	complaints := plainFailures(c, t)
	look := func(e *correlator.Event) {
		switch {
		case e.IsEvent() || !closeTo(t, e) && !correlator.EveryReaderHas(e):
		case well == nil && !e.Failed() && namedIn(e.Text, before):
			well = e
		case other == nil && e.Failed() && namedIn(e.Text, now):
			for _, said := range complaints {
				if said.At >= rollout.At && c.Own(said, t) && said.Service == e.Service && sharesName(said.Text, e.Text) && !namedIn(said.Text, before) {
					own, other = said, e
					break
				}
			}
		}
	}
	for _, e := range c.UnattributedBetween(max(rollout.At, t.From-recently), t.At+recently) {
		look(e)
	}
	if own == nil || well == nil || well.Service != own.Service {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: rollout.At, Records: inOrder(rollout, own, other, well),
		Summary: "it fails where " + what(rollout) + " is, and goes well where " + rollout.Attr(semconv.From) + " is" + quote(own),
	}}
}
