package rules

import (
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// misreads finds users' programs that fail at what they are answered well.
func misreads() []correlator.Rule {
	return []correlator.Rule{{
		ID: "client.misreads", Layer: semconv.LayerClient, Mechanism: "request",
		Looks:      "a user's program that fails each time right after it was answered well, while others are answered the same by the same party",
		NextCheck:  "what the user's program makes of that answer, in the version that he runs",
		SafeAction: "use another version of the program; the platform needs nothing",
		Find:       misreadsAnswers,
	}}
}

// misreadsAnswers needs three failures of one program of the user's that name no status, each within two seconds of a good answer of the API's to the allocation's
// own call, no call that the API answered otherwise meanwhile, and a good answer to somebody else's such call.
func misreadsAnswers(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	const soon = int64(2 * time.Second)
	if t.Kind != correlator.RequestTrouble || c.Profile.FirstFailure() {
		return nil
	}
	var failed, answers []*correlator.Event
	for _, e := range c.Failures(t) {
		switch {
		case e.IsEvent():
		case e.Layer != semconv.LayerClient || e.HTTP.Status >= 400:
			return nil // somebody else tells of a failure, or he was refused
		case e.Severity >= 17 && !on(e, themeAbsent) && !holds(e.Text, tooLate) && !answeredWords.MatchString(e.Text) && (len(failed) == 0 || failed[0].Service == e.Service):
			failed = append(failed, e)
		}
	}
	if len(failed) < insists {
		return nil
	}
	n := 0
	var other *correlator.Event
	c.EachIn(semconv.LayerAPI, failed[0].At-recently, failed[len(failed)-1].At+moment, func(e *correlator.Event) {
		switch {
		case e.HTTP.Status < 200 || e.HTTP.Status >= 300:
		case c.Own(e, t):
			answers = append(answers, e)
		case other == nil && len(answers) > 0 && operation(e) == operation(answers[0]) && (closeTo(t, e) || correlator.EveryReaderHas(e)):
			other = e
		}
	})
	for _, e := range failed {
		for _, a := range answers {
			if e.At >= a.At && e.At-a.At <= soon {
				n++
				break
			}
		}
	}
	if n < insists {
		return nil
	}
	c.EachOther(failed[0].At-recently, t.At+recently, func(e *correlator.Event) {
		if other == nil && e.Layer == semconv.LayerAPI && e.HTTP.Status >= 200 && e.HTTP.Status < 300 && operation(e) == operation(answers[0]) {
			other = e
		}
	})
	if other == nil {
		return nil
	}
	c.Borrow(other)
	records := append([]*correlator.Event{other}, failed[:min(len(failed), ownWords)]...)
	return []correlator.Evidence{{
		Weight: correlator.Generic, Directness: correlator.Itself, Onset: failed[0].At, Records: inOrder(append(records, answers[:min(len(answers), ownWords)]...)...),
		Summary: "the user's program fails at what it was answered well, as others are" + quote(failed[0]),
	}}
}
