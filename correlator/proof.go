package correlator

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// proven gives the explanations without leading ones that prove nothing, and those by themselves; and no other where only what says less is left.
func proven(c *Case, t *Trouble, d *Deliberation, found []Evidence) (rest, doubted []Evidence) {
	rest = found
	why := ""
	for len(rest) > 0 {
		next := unproven(c, t, rest)
		if next == "" {
			break
		}
		why = next
		d.drop(&rest[0], why)
		doubted, rest = append(doubted, rest[0]), rest[1:]
	}
	if len(rest) > 0 && why == noAnswer && rest[0].Weight < found[0].Weight {
		for i := range rest {
			d.drop(&rest[i], "it says less than what proves nothing")
		}
		return nil, doubted
	}
	return rest, doubted
}

// unproven says why the best explanation is no proof, "" where it may be one. Counted on 1,014 answers to blind rounds 73 to 117 by rules that had not
// seen them: of the first kind 2 of 15 were right, of the second none of 19 (docs/adr/0019-from-words-to-handoffs.md).
func unproven(c *Case, t *Trouble, found []Evidence) string {
	best := &found[0]
	if c.Profile.FirstFailure() {
		return "" // there the first to stumble says why the rest did
	}
	if best.Layer == cmp.Or(t.Owes, semconv.LayerWorkflow) || best.Mended {
		return "" // it owed the step, and that it did not do it is shown
	}
	var lines []*Event
	speakers, silent, handoff := map[string]bool{}, true, false
	for i := range found {
		ev := &found[i]
		if ev.Layer != best.Layer {
			continue
		}
		silent = silent && slices.Contains(unanswered, ev.Mechanism)
		for _, e := range ev.stands {
			if e.IsEvent() && isLifecycle(e.Name) {
				handoff = handoff || !slices.Contains(t.Cites, e)
				continue
			}
			if e.At > t.At+skew {
				continue // a sign of life, when all was over
			}
			speakers[cmp.Or(e.Party(), e.Service)] = true
			if !slices.Contains(t.Cites, e) && !slices.Contains(lines, e) {
				lines = append(lines, e)
			}
		}
	}
	switch {
	case silent && len(speakers) == 1 && (slices.Contains(voiceless, best.Layer) || !c.calleeHeard(best.Layer, lines, t.From-lookback, t.At)):
		return noAnswer
	case len(lines) == 1 && !handoff && !slices.Contains(voiceless, best.Layer) && remark(best, lines[0]) && !insisted(c, t, best, lines[0]):
		return "a remark that names no cause, made once by a party that did not owe the step"
	}
	return ""
}

// calleeHeard says whether who did not answer was heard of in a time: the program that the caller names, or, where he names none that is known, its layer.
func (c *Case) calleeHeard(layer string, lines []*Event, from, to int64) bool {
	named, heard := false, false
	c.EachIn(layer, math.MinInt64, math.MaxInt64, func(e *Event) {
		if !heard && len(e.Service) > 3 && slices.ContainsFunc(lines, func(line *Event) bool { return line.Service != e.Service && strings.Contains(line.Text, e.Service) }) {
			named, heard = true, e.At >= from && e.At <= to
		}
	})
	return heard || !named && c.AliveBetween(layer, from, to) != nil
}

const noAnswer = "one caller had no answer: whether the callee, or the way to it, nobody else tells"

// unanswered are the mechanisms that say no more than that somebody had no answer.
var unanswered = []string{"no_answer", "reset", "connect_timeout"}

// remark says whether a line is no more than a remark: a warning of a party about itself that names no cause, and no state that lasts, or what a caller
// says of whom he called. A machine warns of its wear all the time.
func remark(ev *Evidence, line *Event) bool {
	if line.Severity < severityError && ev.Layer == semconv.LayerNode && slices.Contains(wear, ev.Mechanism) {
		return true
	}
	if !line.fails || line.Severity >= severityFatal || lasting.Any(line.Text) {
		return false // it shows how it goes elsewhere, or somebody's end, or it need not be said again
	}
	if ev.Weight <= Generic && ev.Directness > Itself {
		return true
	}
	warns := line.Severity >= severityWarn && line.Severity < severityError
	if ev.Layer == semconv.LayerNode && ev.Weight <= Generic {
		return true // kernels and drivers complain of what costs nothing
	}
	return warns && ev.Weight <= Generic
}

// insisted says whether a line is more than a remark all the same: the party says that it failed the allocation, or the line is said again.
func insisted(c *Case, t *Trouble, ev *Evidence, line *Event) bool {
	if line.Party() == ev.Layer && line.Own(identity.Allocation) == c.ID && line.Severity >= severityError {
		return true
	}
	const around = int64(10 * time.Minute)
	same := Template(line.Text)
	again := func(e *Event) bool {
		return e != line && e.Service == line.Service && !e.IsEvent() && e.At >= t.From-around && e.At <= t.At+around &&
			(Template(e.Text) == same || line.HTTP.Status != 0 && e.HTTP.Status == line.HTTP.Status)
	}
	return slices.ContainsFunc(c.Events, again) || slices.ContainsFunc(c.Unattributed, again)
}

// wear are the mechanisms of a machine that goes on: it is warm, a sector is not read, a clock was set.
var wear = []string{"hardware", "storage", "clock_step"}
