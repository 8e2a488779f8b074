package rules

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// oldView finds decisions that were taken on what was true long before, by the decider's own word.
func oldView() []correlator.Rule {
	return []correlator.Rule{{
		ID: "view.old", Mechanism: "stale",
		Looks:      "a step that failed by a decision, and the decider's word on how old what it decided on was",
		NextCheck:  "why what it decides on is not read anew",
		SafeAction: "have it read anew, then ask again; who refused what was decided on needs nothing",
		Find:       decidedOnOld,
	}}
}

// oldEnough is how old what a decision is taken on must be to count: a control plane's record lags by a poll of half a minute by design, and this is forty of them.
const oldEnough = int64(20 * time.Minute)

var (
	// ageOf finds how old what somebody looks at is: "snapshot age 9h0m", "cache age=5400s".
	ageOf = regexp.MustCompile(`\b(snapshot|inventory|cache|view|index|list|copy|replica)[a-z_]*(?: is)?(?: loaded_at=\S+| as_of=\S+)? age[ =:]+((?:\d+(?:\.\d+)?(?:h|m|s))+)`)
	// subjectOf finds what somebody decides on: "project=p-77".
	subjectOf = regexp.MustCompile(`\b(?:project|tenant|account|org|pool|node|machine)=[\w.-]+`)
	// sourceOf finds from where somebody has what he decides on, and of when that is.
	sourceOf = regexp.MustCompile(`\b(?:source|read)=([a-z0-9][a-z0-9._-]*)[ ,;].*?\b(?:as_of|asof|as of|refreshed|updated_at)[=: ]+(\d{4}-\d{2}-\d{2}t[0-9:.]+z)`)
)

// aged are the words without which a text is not looked at for the age of what somebody decides on.
var aged = []string{" age ", " age=", " age:", "source=", "read="}

func decidedOnOld(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	ev := correlator.Evidence{Weight: correlator.Specific, Directness: correlator.Itself}
	c.Each(t.From-moment, t.At, func(e *correlator.Event) {
		if e.IsEvent() || !on(e, themeAged) || !c.Own(e, t) && !ofRefusal(c, t, e) {
			return
		}
		layer := ""
		if m := ageOf.FindStringSubmatch(e.Text); m != nil {
			if age, err := time.ParseDuration(m[2]); err == nil && int64(age) >= oldEnough {
				layer = e.Party() // its own
			}
		} else if m := sourceOf.FindStringSubmatch(e.Text); m != nil {
			if at, err := record.ParseTime(strings.ToUpper(m[2])); err == nil && e.At-at >= oldEnough {
				layer = sourceLayer(c, m[1])
			}
		}
		if layer == "" || layer == semconv.LayerClient || !c.Profile.Knows(layer) || ev.Layer != "" && ev.Layer != layer {
			return
		}
		ev.Layer, ev.Records = layer, append(ev.Records, e)
	})
	if len(ev.Records) == 0 {
		if found := shownLongAgo(c, t); found != nil {
			return found
		}
		return waitsForOldCondition(c, t)
	}
	ev.Rule = ev.Layer + ".old_view"
	ev.Summary = "it was decided on what was true long before" + quote(ev.Records[0])
	return []correlator.Evidence{ev}
}

// shownLongAgo needs a view's own record of what it showed of the allocation, as of a time long before, and a complaint of the step's own, after it, that names
// that view or what it shows.
func shownLongAgo(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var shown []*correlator.Event
	c.EachEvent(semconv.EventProjection, t.From-moment, t.At, func(e *correlator.Event) {
		if at, err := record.ParseTime(e.Attr(semconv.AsOf)); e.Allocation == c.ID && err == nil && e.At-at >= oldEnough {
			shown = append(shown, e)
		}
	})
	for _, e := range c.Failures(t) {
		if len(shown) == 0 || e.IsEvent() || !c.Own(e, t) || e.Layer == semconv.LayerProjection || e.At < shown[0].At {
			continue
		}
		view := shown[0].Attr(semconv.Projection)
		if !namedIn(e.Text, shown[0].Service) && !namedIn(e.Text, view) || unusable.Any(e.Text) {
			continue // it is not that view's word that it decides by
		}
		return []correlator.Evidence{{
			Rule: semconv.LayerProjection + ".old_view", Layer: semconv.LayerProjection, Weight: correlator.Specific, Directness: correlator.Itself, Onset: shown[0].At,
			Records: inOrder(shown[0], e), Summary: "it was decided on what a view shows as of " + shown[0].Attr(semconv.AsOf) + quote(e),
		}}
	}
	return nil
}

// namedIn says whether a text names a program or a thing, as a word.
func namedIn(text, name string) bool {
	if len(name) < shortestName {
		return false
	}
	for rest, found := text, true; found; {
		var before string
		if before, rest, found = strings.Cut(rest, strings.ToLower(name)); found && (before == "" || !isWord(before[len(before)-1])) && (rest == "" || !isWord(rest[0])) {
			return true
		}
	}
	return false
}

// ofRefusal says whether a record tells, moments beside a refusal of the step by the same program, of the very subject that was refused.
func ofRefusal(c *correlator.Case, t *correlator.Trouble, e *correlator.Event) bool {
	if e.Allocation != "" || !closeTo(t, e) || !strings.Contains(e.Text, " age") {
		return false
	}
	subject := subjectOf.FindString(e.Text)
	return subject != "" && slices.ContainsFunc(c.Failures(t), func(f *correlator.Event) bool {
		return f.Service == e.Service && c.Own(f, t) && max(f.At, e.At)-min(f.At, e.At) <= moment && strings.Contains(f.Text, subject)
	})
}

// sourceLayer is the layer of what somebody reads from, by its name; a view of which the catalog knows no more is a projection's.
func sourceLayer(c *correlator.Case, name string) string {
	if layer := correlator.LayerOfName(c.Profile, name); layer != "" {
		return layer
	}
	for _, word := range []string{"view", "read-model", "readmodel", "projection"} {
		if strings.Contains(name, word) {
			return semconv.LayerProjection
		}
	}
	return ""
}

var (
	// awaitedCondition finds the condition that somebody waits for: "waiting for cluster condition Connected=True".
	awaitedCondition = regexp.MustCompile(`\bwaiting for (?:[a-z-]+ ){0,3}condition ["']?([a-z]+)`)
	// conditionAsOf finds of when a view's word on a condition is.
	conditionAsOf = regexp.MustCompile(`\blast_?(?:update|transition|probe|heartbeat)_?time[=: "]+(\d{4}-\d{2}-\d{2}t[0-9:.]+z)`)
)

// waitsForOldCondition finds that a step waits for a condition of which a view, twice or more, tells what was long before.
func waitsForOldCondition(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var waits *correlator.Event
	condition := ""
	for _, e := range c.Failures(t) {
		if e.IsEvent() || !strings.Contains(e.Text, "condition") {
			continue
		}
		if m := awaitedCondition.FindStringSubmatch(e.Text); m != nil {
			waits, condition = e, m[1]
		}
	}
	if waits == nil {
		return nil
	}
	var told []*correlator.Event
	c.EachIn(semconv.LayerProjection, t.From-moment, t.At, func(e *correlator.Event) {
		if e.IsEvent() || !strings.Contains(e.Text, condition) || !closeTo(t, e) && !correlator.EveryReaderHas(e) {
			return
		}
		if m := conditionAsOf.FindStringSubmatch(e.Text); m != nil {
			if at, err := record.ParseTime(strings.ToUpper(m[1])); err == nil && e.At-at >= oldEnough {
				told = append(told, e)
			}
		}
	})
	if len(told) < 2 {
		return nil
	}
	return []correlator.Evidence{{
		Rule: semconv.LayerProjection + ".old_view", Layer: semconv.LayerProjection, Weight: correlator.Telling, Directness: correlator.Itself, Onset: told[0].At,
		Records: inOrder(told[0], told[len(told)-1], waits), Summary: "what is waited for is told as it was long before" + quote(told[0]),
	}}
}
