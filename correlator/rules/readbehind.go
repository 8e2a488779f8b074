package rules

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// readBehind finds steps that failed because what they look for was not there yet in the copy that they read.
func readBehind() []correlator.Rule {
	return []correlator.Rule{{
		ID: "view.behind", Mechanism: "replica_lag",
		Looks:      "a step that does not find what exists, or a user who is told that what a view shows is not there, and a copy of the data that tells it is behind by more than the time since that was made",
		NextCheck:  "what holds the copy's replay: a long query, its disk, the line to the primary",
		SafeAction: "have it read from the primary, or wait until the copy has caught up; then repeat the step",
		Find:       notThereYet,
	}}
}

// absent are the words of who looked for something and did not find it.
var absent = []string{"no rows", "not found", "not_found", "notfound", "does not exist", "unknown allocation", "no such allocation", " 404"}

var (
	// behindBy finds how far a copy is behind what it copies, with a unit: "lag=660s", "replication lag: 11m".
	behindBy = regexp.MustCompile(`\blag(?:s|ging)?(?: by| of| is)?[ =:]+((?:\d+(?:\.\d+)? ?(?:h|m|s))+)\b`)
	// secondsBehind is MySQL's word for it (SHOW REPLICA STATUS).
	secondsBehind = regexp.MustCompile(`\bseconds_behind_(?:source|master)["']?[ =:]+(\d+)\b`)
)

// lagOf is how far a copy is behind by its own word, in nanoseconds, 0 where it does not say.
func lagOf(text string) int64 {
	if m := behindBy.FindStringSubmatch(text); m != nil {
		d, err := time.ParseDuration(strings.ReplaceAll(m[1], " ", ""))
		if err == nil {
			return int64(d)
		}
	}
	if m := secondsBehind.FindStringSubmatch(text); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 32)
		if err == nil {
			return n * int64(time.Second)
		}
	}
	return 0
}

// notThereYet needs a step's own record of not finding something, and a copy's word of a lag that reaches back before the allocation was there.
func notThereYet(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if len(c.Lifecycle.States) == 0 {
		return nil
	}
	var missed *correlator.Event
	for _, e := range c.Failures(t) {
		if !e.IsEvent() && c.Own(e, t) && on(e, themeAbsent) {
			missed = e
			break
		}
	}
	if missed == nil {
		return nil
	}
	if found := behindSince(c, t, c.Lifecycle.States[0].At, missed); len(found) > 0 {
		return found
	}
	shown, changed := shownBefore(c, missed)
	if shown == nil {
		return nil
	}
	found := behindSince(c, t, changed, missed)
	for i := range found {
		found[i].Certain = false
		found[i].Records = inOrder(append(found[i].Records, shown)...)
		found[i].Summary = "a view showed what was true before" + quote(found[i].Records[0])
	}
	return found
}

// behindSince is what a copy tells of being behind by more than the time since something was so, when somebody missed that.
func behindSince(c *correlator.Case, t *correlator.Trouble, since int64, missed *correlator.Event) []correlator.Evidence {
	for _, layer := range []string{semconv.LayerDB, semconv.LayerProjection} {
		ev := correlator.Evidence{Rule: layer + ".behind", Layer: layer, Weight: correlator.Telling, Directness: correlator.Itself, Certain: true}
		c.Each(since, t.At+recently, func(e *correlator.Event) {
			lag := int64(0)
			if e.Failed() && !e.IsEvent() && e.Party() == layer && closeTo(t, e) {
				lag = lagOf(e.Text)
			}
			// Behind at the read: by then it had gone on for what has passed since.
			if lag > 0 && e.At-lag < since && lag > e.At-missed.At {
				ev.Records = append(ev.Records, e)
			}
		})
		if len(ev.Records) > 0 {
			ev.Onset = min(ev.Records[0].At-lagOf(ev.Records[0].Text), missed.At)
			ev.Summary = "what was looked for is not there yet in the copy that was read, which is behind" + quote(ev.Records[0])
			ev.Records = append(ev.Records, missed)
			slices.SortStableFunc(ev.Records, correlator.CompareEvents)
			return []correlator.Evidence{ev}
		}
	}
	return nil
}

// turnedInto finds that somebody tells of a change of the allocation's state: "allocation state degraded -> active".
var turnedInto = regexp.MustCompile(`\bstate[ =:]+[a-z_]+ ?(?:->|→|=>) ?[a-z_]+\b`)

// shownBefore is the user's own word of what a view showed, before he was told that it is not there, and when the allocation had changed last before that: what the
// view did not know if it was behind by more. It is nil without such a word.
func shownBefore(c *correlator.Case, missed *correlator.Event) (shown *correlator.Event, changed int64) {
	for _, e := range c.Events {
		if e.At > missed.At+moment {
			continue
		}
		switch {
		case e.Layer == semconv.LayerClient && !e.IsEvent() && holds(e.Text, []string{"shows", "shown", "displays", "displayed", "still lists"}):
			shown = e
		case e.Moves(), !e.IsEvent() && turnedInto.MatchString(e.Text):
			changed = max(changed, e.At)
		}
	}
	return shown, changed
}
