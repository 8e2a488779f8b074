package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// versionDigits finds the number of a version: the 118 of r118.
var versionDigits = regexp.MustCompile(`[0-9]{2,}`)

// missedByVersion finds a rollout before or during a step of which somebody tells under the step's identifiers, at whatever level, that something does not fit, and
// names both what was rolled out and its version: "zone fra-2 unknown to site map rev 118".
func missedByVersion(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var found, undone *correlator.Event
	var said []*correlator.Event
	c.EachEvent(semconv.EventDeploy, t.From-int64(changed), t.At+int64(changed), func(e *correlator.Event) {
		if found != nil {
			if undone == nil && takesBack(e, found) {
				undone = e
			}
			return
		}
		if e.At > t.At {
			return
		}
		if said = namingVersion(c, t, e); len(said) > 0 {
			found = e
		}
	})
	if found == nil {
		return nil
	}
	ev := correlator.Evidence{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: found.At, Records: append([]*correlator.Event{found}, said[:min(len(said), ownWords)]...),
		Summary: "since the rollout of " + what(found) + " something does not fit, by its very version" + quote(said[0]),
	}
	if undone != nil {
		ev.Records, ev.Certain = append(ev.Records, undone), true
	}
	return []correlator.Evidence{ev}
}

// namingVersion are the step's own plain lines since a rollout that name it by name and version, and tell that something does not fit.
func namingVersion(c *correlator.Case, t *correlator.Trouble, rollout *correlator.Event) (out []*correlator.Event) {
	version := versionDigits.FindString(rollout.To())
	if version == "" {
		version = versionDigits.FindString(rollout.Attr(semconv.Version))
	}
	var names []string
	for _, key := range []string{semconv.Config, semconv.Component} {
		if name := strings.ToLower(rollout.Attr(key)); len(name) >= shortestName {
			names = append(names, name, strings.NewReplacer("-", " ", "_", " ").Replace(name))
		}
	}
	if version == "" || len(names) == 0 {
		return nil
	}
	for _, e := range c.Events {
		if e.At < rollout.At || e.At < t.From || e.At > t.At || e.IsEvent() || !holds(e.Text, names) || !misfits.Any(e.Text) {
			continue
		}
		if slices.Contains(strings.FieldsFunc(e.Text, func(r rune) bool { return r < '0' || r > '9' }), version) {
			out = append(out, e)
		}
	}
	return out
}
