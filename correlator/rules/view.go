package rules

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// view reads, of lines that are no lifecycle events, that a view shows as under way what its owner had told to be over. Decisions taken on such
// a view are the view's (domain.md, 4.9).
func view() []correlator.Rule {
	return []correlator.Rule{{
		ID: "projection.behind", Layer: semconv.LayerProjection, Mechanism: "stale",
		Looks:      "a view that shows a job or a workflow as under way, by its own word, though whoever ran it had told its end minutes before",
		NextCheck:  "the updater of that view: which of the subject's events did it apply last?",
		SafeAction: "whoever asks should ask the owner, not the view; the work is done and needs no repeating",
		Find:       behindItsOwner,
	}}
}

var (
	underWay = needles.Of("running", "in progress", "in_progress", "pending", "provisioning", "executing", "active=true", "not finished", "unfinished", "state=active", "enddate=null")
	isOver   = needles.Of("completed", "succeeded", "successful", "finished", "closed", "close-status", "terminated", "ended")
)

// outdated is for how long a view may show what was before its owner's word has come to it.
const outdated = int64(5 * time.Minute)

func behindItsOwner(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() || !c.Profile.Knows(semconv.LayerProjection) || t.Kind == correlator.OrphanTrouble {
		return nil
	}
	if !showsUnderWay(c) {
		return behindItsAPI(c, t)
	}
	over := map[string]*correlator.Event{} // by subject, the end as its owner told it
	var shown []*correlator.Event
	for _, e := range c.Events {
		if e.At > t.At || e.IsEvent() || e.Text == "" {
			continue
		}
		switch {
		case e.Party() == semconv.LayerProjection && underWay.Any(e.Text):
			for _, subject := range subjects(e.Text) {
				if end := over[subject]; end != nil && e.At-end.At > outdated && e.At >= t.From-outdated {
					shown = append(shown, end, e)
					break
				}
			}
		case (e.Party() == semconv.LayerProvider || e.Party() == semconv.LayerWorkflow) && isOver.Any(e.Text) && !e.Failed():
			for _, subject := range subjects(e.Text) {
				if over[subject] == nil {
					over[subject] = e
				}
			}
		case e.Party() == semconv.LayerProvider || e.Party() == semconv.LayerWorkflow:
			if underWay.Any(e.Text) {
				for _, subject := range subjects(e.Text) {
					delete(over, subject) // it was begun anew
				}
			}
		}
	}
	if len(shown) == 0 {
		return behindItsAPI(c, t)
	}
	last := shown[len(shown)-1]
	return []correlator.Evidence{{
		Weight: correlator.Specific, Directness: correlator.Itself, Onset: shown[0].At, Records: shown,
		Summary: "the view shows as under way what was over at " + correlator.Time(shown[len(shown)-2].At).Milli() + quote(last),
	}}
}

// showsUnderWay says whether any line of a view's own shows something as under way: most cases have none, and need not be read.
func showsUnderWay(c *correlator.Case) bool {
	type key struct{}
	return c.Memo(key{}, func() any {
		return slices.ContainsFunc(c.Events, func(e *correlator.Event) bool {
			return e.Party() == semconv.LayerProjection && !e.IsEvent() && underWay.Any(e.Text)
		})
	}).(bool)
}

// subjects are the words of a text that can be the name of one thing: with a digit, and neither a time nor a mere small number.
func subjects(text string) (out []string) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(" \t\n\",;=()[]{}'", r) }) {
		word = strings.TrimRight(word, ".:!?")
		if strings.HasPrefix(word, "/") {
			word = word[strings.LastIndexByte(word, '/')+1:] // the last part of a path names what is asked for
		}
		if len(word) >= 4 && strings.ContainsAny(word, "0123456789") && !strings.Contains(word, ":") {
			out = append(out, word)
		}
	}
	return out
}

// notReached are the words of a view that shows an allocation as one that has not come to what was asked for.
var notReached = needles.Of("provisioning", "starting", "creating", "pending", "not ready", "waiting", "state=unknown", "status=unknown")

// standsStill finds that a view tells that it has not moved since a time.
var standsStill = regexp.MustCompile(`\b(?:unchanged|not (?:moved|updated|refreshed|changed)) since \d`)

// asOf finds of when what a view shows is.
var asOf = regexp.MustCompile(`\bas_?of[=: "]+(\d{4}-\d{2}-\d{2}t[0-9:.]+z)`)

// asOfLongAgo says whether a view's line tells that what it shows is of minutes before.
func asOfLongAgo(e *correlator.Event) bool {
	m := asOf.FindStringSubmatch(e.Text)
	if m == nil {
		return false
	}
	at, err := record.ParseTime(strings.ToUpper(m[1]))
	return err == nil && e.At-at >= outdated
}

// behindItsAPI needs two lines of a view on the allocation, minutes after it was active, that show it as not yet there, and the API's own line between them that it is.
func behindItsAPI(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	state, since, ok := c.Lifecycle.State()
	if t.Kind != correlator.RequestTrouble || !ok || state != semconv.Active {
		return nil
	}
	var shown, still []*correlator.Event
	var there *correlator.Event
	for _, e := range c.Events {
		switch {
		case e.IsEvent() || e.At < since+outdated || e.At > t.At+outdated:
		case showsAView(e) && (standsStill.MatchString(e.Text) || asOfLongAgo(e)):
			still = append(still, e)
		case showsAView(e) && notReached.Any(e.Text):
			shown = append(shown, e)
		case (e.Party() == semconv.LayerAPI || e.Party() == semconv.LayerNodeAgent || e.Party() == semconv.LayerNode) && !showsAView(e) && !e.Failed() && there == nil && (holdsWord(e.Text, "active") || holdsWord(e.Text, "running") || strings.Contains(e.Text, "ready=true")):
			there = e
		}
	}
	if len(still) > 1 {
		last := still[len(still)-1]
		return []correlator.Evidence{{
			Weight: correlator.Specific, Directness: correlator.Itself, Onset: still[0].At, Records: inOrder(still[0], last),
			Summary: "the view has not moved for long, by its own word" + quote(last),
		}}
	}
	if len(shown) < 2 || there == nil {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: shown[0].At, Records: inOrder(shown[0], shown[len(shown)-1], there),
		Summary: "the view shows the allocation as it was before, and the API as it is" + quote(shown[len(shown)-1]),
	}}
}

// showsAView says whether a line tells what a view shows: by who writes it, or by where it has it from.
func showsAView(e *correlator.Event) bool {
	return e.Party() == semconv.LayerProjection || strings.Contains(e.Text, "source=view") || strings.Contains(e.Text, "view_lag=")
}
