package rules

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/semconv"
)

// change reads what was rolled out on the way of a step before it failed.
func change() []correlator.Rule {
	return []correlator.Rule{{
		ID: "deploy.change", Layer: semconv.LayerDeploy, Mechanism: "change",
		Looks:      "a rollout on the step's way, and from then on complaints of something that does not fit, or a cure by its undoing",
		NextCheck:  "what that rollout changed",
		SafeAction: "roll it back, or complete it on the other side",
		Find: func(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
			if found := brokenBy(c, t); len(found) > 0 {
				return found
			}
			if found := missedByVersion(c, t); len(found) > 0 {
				return found
			}
			if found := mendedIn(c, t); len(found) > 0 {
				return found
			}
			return bracketed(c, t)
		},
	}}
}

// changed is how long before the first complaint a rollout may lie and still be why things do not fit: what it broke may be
// asked for the first time later.
const changed = 3 * time.Hour

// misfits are the words of something that does not fit: another name, form, version or place than the one that is asked for.
var misfits = needles.Of(
	"code: 404", "not found", "not be found", "failed to find", "no matches for", "no such", "does not exist", "doesn't exist", "unknown", "unsupported", "not supported", "unrecognized", "unrecognised", "undefined", "unexpected",
	"missing", "not correct", "no object named", "not installed", "mismatch", "incompatible", "deprecated", "no longer", "invalid", "cannot find", "could not find", "required", "not allowed", "schema", "malformed", "wrong", "failed to decode", "failed to parse", "deserializ", "unmarshal",
	"expected", "version", "checksum", "failed to verify", "does not match", "digest",
)

// noneConfigured finds that something has no value: "no port group configured".
var noneConfigured = regexp.MustCompile(`\bno (?:[a-z]+ ){1,3}(?:configured|defined)\b|\bis not configured\b`)

func brokenBy(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	own := plainFailures(c, t)
	failures := slices.Clone(own)
	for _, e := range c.Beside(t, telling) { // what nobody's identifiers lead to counts as its component's own word alone
		if e.Failed() && !c.Own(e, t) && e.At <= t.At && !elsewhere(c, t, e) {
			failures = append(failures, e)
		}
	}
	if len(failures) == 0 {
		return curedBy(c, t, nil)
	}
	slices.SortStableFunc(failures, correlator.CompareEvents)
	first := failures[0]
	for _, e := range failures {
		if e.At < first.At {
			first = e
		}
	}
	var found *correlator.Event
	var complaints []*correlator.Event
	var rollouts []*correlator.Event
	until := max(first.At+moment, t.From)
	c.EachEvent(semconv.EventDeploy, first.At-int64(changed), max(until, t.At), func(e *correlator.Event) { rollouts = append(rollouts, e) })
	for i, e := range rollouts {
		if e.At > until {
			break
		}
		said := slices.Concat(complaintsOf(c, t, e, failures), missedSince(c, t, e))
		said = append(said, missedNew(c, t, e, said)...)
		if back := slices.IndexFunc(rollouts[i+1:], func(later *correlator.Event) bool { return takesBack(later, e) }); back >= 0 {
			said = before(said, rollouts[i+1+back].At+moment)
			if len(before(own, rollouts[i+1+back].At+moment)) == 0 {
				continue // what it broke was mended before this began
			}
		}
		switch {
		case len(said) == 0 || holds(strings.ToLower(what(e)), louder):
		case slices.ContainsFunc(rollouts[:i], func(earlier *correlator.Event) bool { return takesBack(e, earlier) }) && !slices.ContainsFunc(said, outgrown):
			// It brought back what ran before, and nobody says that the world has moved on since.
		default:
			found, complaints = e, said
		}
	}
	if found == nil {
		return curedBy(c, t, failures)
	}
	ev := correlator.Evidence{
		Weight: correlator.Telling, Directness: correlator.Caller, Onset: found.At,
		Records: append([]*correlator.Event{found}, complaints...),
		Summary: "since the rollout of " + what(found) + " something does not fit" + quote(witness(complaints)),
	}
	if name := strings.ToLower(found.Attr(semconv.Component)); len(name) > 3 && slices.ContainsFunc(complaints, func(e *correlator.Event) bool { return strings.HasPrefix(strings.ToLower(e.Service), name) }) {
		ev.Directness = correlator.Itself // what was rolled out says so itself
	}
	if slices.ContainsFunc(complaints, func(e *correlator.Event) bool {
		return missesByName(found, e) || refusedByName(found, e) || missesGiven(c, t, found, e)
	}) {
		ev.Weight = correlator.Specific // by its very name
	}
	if names := takenFrom(c, t, found, complaints); names != nil {
		ev.Weight, ev.Directness, ev.Records = correlator.Specific, correlator.Itself, append(ev.Records, names)
	}
	if others := ofPeers(c, t, found, complaints); len(others) > 0 {
		ev.Weight, ev.Records = correlator.Specific, append(ev.Records, others...)
		ev.Summary += ", on other machines, too"
	}
	if undone := undoneForOthers(c, found, complaints); undone != nil {
		ev.Records, ev.Certain, ev.Directness = append(ev.Records, undone...), true, correlator.Itself
		ev.Summary += ", until it was undone at " + correlator.Time(undone[0].At).Milli()
	} else if undone := undoing(c, found, t); undone != nil {
		ev.Records, ev.Certain, ev.Directness = append(ev.Records, undone), true, correlator.Itself
		ev.Summary += ", until it was undone at " + correlator.Time(undone.At).Milli()
		if first.At-found.At <= int64(rolledOut) && t.Cleared-undone.At <= int64(rolledOut) {
			ev.Weight = correlator.Specific // it brackets the trouble
		}
	} else if both := eitherOf(c, ev, found, complaints, rollouts); both != nil {
		return both
	}
	return []correlator.Evidence{ev}
}

// louder are the words of a rollout that changes what a program writes into its log, and nothing that it does.
var louder = []string{"log.level", "log-level", "log_level", "loglevel", "verbosity"}

// before are those of a time before another.
func before(events []*correlator.Event, at int64) (out []*correlator.Event) {
	for _, e := range events {
		if e.At < at {
			out = append(out, e)
		}
	}
	return out
}

// ofPeers are the same complaints since a rollout of other machines: what they have in common is what was rolled out.
func ofPeers(c *correlator.Case, t *correlator.Trouble, rollout *correlator.Event, complaints []*correlator.Event) (out []*correlator.Event) {
	if t.Node == "" && len(c.Lifecycle.Nodes) == 0 {
		return nil
	}
	said := map[string]bool{}
	for _, e := range complaints {
		if c.Own(e, t) && (e.Layer == semconv.LayerNode || e.Layer == semconv.LayerNodeAgent) {
			said[correlator.Template(e.Text)] = true
		}
	}
	seen := map[string]bool{}
	c.Each(rollout.At, t.At, func(e *correlator.Event) {
		if e.Node != "" && e.Failed() && !c.Own(e, t) && !seen[e.Node] && said[correlator.Template(e.Text)] {
			seen[e.Node] = true
			out = append(out, e)
		}
	})
	return out
}

// curedBy finds a rollout before the step, by whoever owed it, that was undone before a later attempt succeeded: whatever
// it broke, its undoing mended it.
func curedBy(c *correlator.Case, t *correlator.Trouble, failures []*correlator.Event) []correlator.Evidence {
	if t.Cleared == 0 {
		return nil
	}
	var found, undone *correlator.Event
	certain, both := false, false
	c.EachEvent(semconv.EventDeploy, t.From-int64(changed), t.At, func(e *correlator.Event) {
		layer := correlator.LayerOfName(c.Profile, e.Attr(semconv.Component))
		about := layer != "" && (layer == t.Owes || slices.ContainsFunc(failures, func(f *correlator.Event) bool { return f.Party() == layer || callee(c, f) == layer }))
		u := undoing(c, e, t)
		if u == nil || u.At <= t.From {
			return
		}
		// Right before it failed, and right before it worked again: that brackets the trouble, whatever was rolled out.
		brackets := e.At >= t.From-int64(rolledOut) && t.Cleared-u.At <= int64(rolledOut)
		if about || brackets {
			found, undone, certain, both = e, u, about, about && brackets
		}
	})
	if found == nil {
		return nil
	}
	weight := correlator.Telling
	if both {
		weight = correlator.Specific
	}
	return []correlator.Evidence{{
		Weight: weight, Directness: correlator.Itself, Certain: certain, Onset: found.At, Records: append([]*correlator.Event{found, undone}, t.Cites...),
		Summary: t.What + " after the rollout of " + what(found) + ", and what came after its undoing at " + correlator.Time(undone.At).Milli() + " succeeded",
	}}
}

// mendedIn finds a rollout right after which a party complained of itself for the first time, where another one, of that party's, came right before all
// was well: what the first broke stood until it was adapted to.
func mendedIn(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	const rightAfter = int64(2 * time.Minute)
	if c.Profile.FirstFailure() || t.Cleared == 0 {
		return nil
	}
	var rollouts []*correlator.Event
	c.EachEvent(semconv.EventDeploy, t.From-int64(changed), t.Cleared, func(e *correlator.Event) { rollouts = append(rollouts, e) })
	if len(rollouts) < 2 {
		return nil
	}
	mended := rollouts[len(rollouts)-1]
	party := correlator.LayerOfName(c.Profile, mended.Attr(semconv.Component))
	if party == "" || mended.At <= t.From || t.Cleared-mended.At > int64(rolledOut) {
		return nil
	}
	met := slices.ContainsFunc(c.Failures(t), func(e *correlator.Event) bool { // the step itself tells of that party
		s := hinted(e)
		return callee(c, e) == party || s != nil && s.owner(c, e) == party
	})
	var complaint *correlator.Event
	c.Each(rollouts[0].At-int64(changed), mended.At, func(e *correlator.Event) {
		if complaint == nil && !e.IsEvent() && (e.Failed() || e.Severity >= 13) && e.Party() == party {
			complaint = e
		}
	})
	if !met || complaint == nil {
		return nil
	}
	for _, broke := range rollouts[:len(rollouts)-1] {
		if complaint.At >= broke.At && complaint.At-broke.At <= rightAfter {
			return []correlator.Evidence{{
				Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: broke.At, Records: append([]*correlator.Event{broke, complaint, mended}, t.Cites...),
				Summary: "since the rollout of " + what(broke) + " something does not fit" + quote(complaint) + ", until " + what(mended) + " was rolled out",
			}}
		}
	}
	return nil
}

// plainFailures are the failures around a trouble that are no lifecycle events.
func plainFailures(c *correlator.Case, t *correlator.Trouble) []*correlator.Event {
	var out []*correlator.Event
	for _, e := range c.Failures(t) {
		if !e.IsEvent() && e.At >= t.From-skewOfClocks {
			out = append(out, e)
		}
	}
	return out
}

// skewOfClocks is how far two clocks may lie apart.
const skewOfClocks = int64(30 * time.Second)

// complaintsOf are the failures since a rollout that tell of a misfit with what it rolled out: of its component, or by it.
func complaintsOf(c *correlator.Case, t *correlator.Trouble, rollout *correlator.Event, failures []*correlator.Event) []*correlator.Event {
	name := strings.ToLower(rollout.Attr(semconv.Component))
	layer := correlator.LayerOfName(c.Profile, name)
	var out []*correlator.Event
	for _, e := range failures {
		if e.At < rollout.At-moment || e.Layer == semconv.LayerClient || ofOldVersion(e) {
			continue
		}
		if c.Own(e, t) && (missesNew(e, rollout) || missesByName(rollout, e)) {
			out = append(out, e)
			continue
		}
		if refusedByName(rollout, e) {
			out = append(out, e)
			continue
		}
		if c.Own(e, t) && e.Severity >= 17 && namesFile(c, rollout, e) {
			out = append(out, e)
			continue
		}
		if len(name) >= longName && strings.Contains(e.Text, name) && turnsAway.Any(e.Text) && e.Party() != layer {
			out = append(out, e) // what was rolled out asks for more than it is given
			continue
		}
		if len(name) > 3 && strings.EqualFold(e.Service, name) && c.Own(e, t) && e.Failed() && turnedAway.Any(e.Text) {
			out = append(out, e) // what was rolled out refuses what it is asked
			continue
		}
		if !misfits.Any(strings.ReplaceAll(e.Text, "unknown error", "")) && !noneConfigured.MatchString(e.Text) || wrapper(e) {
			continue
		}
		if c.Own(e, t) && missesGiven(c, t, rollout, e) {
			out = append(out, e) // the machine was given what was rolled out, and does not find what that names
			continue
		}
		ofIt := strings.EqualFold(e.Attr(deployment), name) // its emitter may have another name
		if !c.Own(e, t) && e.Party() != layer && !ofIt {
			continue
		}
		if c.Own(e, t) && layer != "" && layer == wroteOf(c, e) && decodes.Any(e.Text) {
			out = append(out, e) // what was rolled out writes what the other one cannot read
			continue
		}
		image := layer == semconv.LayerNode && e.Party() == semconv.LayerNodeAgent // what a machine's image brings, too
		image = image || strings.Contains(name, "image") && c.Own(e, t) && (e.Party() == semconv.LayerNode || e.Party() == semconv.LayerNodeAgent)
		if ofIt || layer != "" && (e.Party() == layer || image || callee(c, e) == layer || t.Owes == layer) || len(name) > 3 && strings.Contains(e.Text+" "+strings.ToLower(e.Service), name) {
			out = append(out, e)
		}
	}
	return out
}

// deployment is the attribute by which Kubernetes' records name what was rolled out.
const deployment = "k8s.deployment.name"

// ofOldVersion says whether a request was refused since its caller knew an older version of what it asks for (RFC 9110, 13.1; RFC 6585, 3): no rollout
// makes a version of a thing.
func ofOldVersion(e *correlator.Event) bool {
	return e.HTTP.Status == 412 || e.HTTP.Status == 428 || strings.Contains(e.Text, "if-match") || strings.Contains(e.Text, "412 precondition")
}

// turnsAway are the words of who gives a caller less than it asks for.
var turnsAway = needles.Of("rejected", "throttl", "too many requests", "queue-full", "rate limit", "overload", "slow down")

// turnedAway are the words of who refuses a caller.
var turnedAway = needles.Of("denied", "refused", "rejected", "forbidden", "not permitted")

// takesBack says whether a rollout brought back what another had replaced.
func takesBack(e, rollout *correlator.Event) bool {
	if e.Attr(semconv.Component) != rollout.Attr(semconv.Component) || rollout.Attr(semconv.From) == "" {
		return false
	}
	from := rollout.Attr(semconv.From)
	return slices.Contains([]string{e.To(), e.Attr(semconv.Version), e.Attr(semconv.Config)}, from) || strings.HasSuffix(e.Attr(semconv.Config), "="+from)
}

// outgrown says whether a record tells of a form that what was brought back does not know.
func outgrown(e *correlator.Event) bool { return forms.Any(e.Text) }

// forms are the words of a form that has changed: of what is stored, sent or asked for.
var forms = needles.Of("schema", "version", "column", "relation", "incompatible", "unknown field", "deprecated", "no longer", "downgrade", "revision", "migration")

// undoing is the rollout of the same component that brought back what was there before, or the next one right after which it works again.
func undoing(c *correlator.Case, rollout *correlator.Event, t *correlator.Trouble) (undone *correlator.Event) {
	if t.Cleared == 0 {
		return nil
	}
	c.EachEvent(semconv.EventDeploy, rollout.At+1, t.Cleared, func(e *correlator.Event) {
		if takesBack(e, rollout) || follows(e, rollout) && t.Cleared-e.At <= int64(rolledOut) {
			undone = e
		}
	})
	return undone
}

// follows says whether a rollout replaced what another had brought.
func follows(e, rollout *correlator.Event) bool {
	from := e.Attr(semconv.From)
	return from != "" && e.Attr(semconv.Component) == rollout.Attr(semconv.Component) && slices.Contains([]string{rollout.To(), rollout.Attr(semconv.Version), rollout.Attr(semconv.Config)}, from)
}

// undoneForOthers is, where an allocation was not made good, the rollout that brought back what was there before, and an answer that the component
// which complained gave well to somebody after it and with no such complaint; nil where there is none.
func undoneForOthers(c *correlator.Case, rollout *correlator.Event, complaints []*correlator.Event) []*correlator.Event {
	var undone, well *correlator.Event
	c.EachEvent(semconv.EventDeploy, rollout.At+1, c.Now, func(e *correlator.Event) {
		if takesBack(e, rollout) {
			undone = e
		}
	})
	if undone == nil {
		return nil
	}
	by, said := map[string]bool{}, map[string]bool{}
	for _, e := range complaints {
		by[e.Service], said[correlator.Template(e.Text)] = true, true
	}
	again := false
	c.Each(undone.At+1, c.Now, func(e *correlator.Event) {
		switch {
		case e.IsEvent() || !by[e.Service]:
		case e.Failed():
			again = again || said[correlator.Template(e.Text)]
		case e.HTTP.Status >= 200 && e.HTTP.Status < 400 && well == nil:
			well = e
		}
	})
	if well == nil || again {
		return nil
	}
	return []*correlator.Event{undone, well}
}

// what names what a rollout brought.
func what(e *correlator.Event) string {
	return strings.TrimSpace(e.Attr(semconv.Component) + " " + strings.TrimSpace(e.Attr(semconv.Version)+" "+e.Attr(semconv.Config)))
}
