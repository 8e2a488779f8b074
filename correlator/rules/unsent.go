package rules

import (
	"regexp"
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// unsent finds steps that wait for what the user's program was to send, and did not.
func unsent() []correlator.Rule {
	return []correlator.Rule{{
		ID: "client.sent_nothing", Layer: semconv.LayerClient, Mechanism: "not_sent",
		Looks:      "a step that waits for something of the user's, the API's word that no request for it came, and the user's program, which is heard of and tells of no call that failed",
		NextCheck:  "what the user's program did instead, and when it means to send it",
		SafeAction: "order again, and send it in time; the platform needs nothing",
		Find:       neverSent,
	}}
}

var (
	// noneCame finds that none of the calls came that a step waits for: "confirm requests seen: 0", "requests received 0".
	noneCame = regexp.MustCompile(`\b(?:requests?|calls?|uploads?|confirmations?|puts?|posts?) (?:seen|received|so far)[:= ]+0\b|\bno (?:confirmation|upload|confirm request|put request) (?:was )?(?:received|seen)\b|\b0 (?:\w+ )?(?:requests|calls|uploads) (?:received|seen)\b`)
	// noneCameWords are the words without which a text is not looked at for that.
	noneCameWords = []string{" seen: 0", " seen=0", " seen 0", " received: 0", " received=0", " received 0", " so far: 0", " so far 0", "no confirmation ", "no upload ", "no confirm request ", "no put request ", " requests received", " uploads received", " calls received"}
)

// neverSent needs both: the API's own word on this very allocation, and the word of the user's program meanwhile, which does not complain of any call.
func neverSent(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	var told, client *correlator.Event
	for _, e := range countsNone(c) {
		if e.At >= t.From-recently && e.At <= t.At+recently && c.Own(e, t) {
			told = e
		}
	}
	if told == nil || t.Kind == correlator.RequestTrouble {
		return nil
	}
	for _, e := range c.Events {
		switch {
		case e.Layer != semconv.LayerClient || e.At < t.From-recently || e.At > t.At || e.IsEvent() || !c.Own(e, t):
		case callFailed(e):
			return nil
		default:
			client = e
		}
	}
	if client == nil {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Caller, Onset: min(client.At, told.At), Records: inOrder(client, told),
		Summary: "what the step waits for was never sent, by the API's word" + quote(told),
	}}
}

// countsNone lists the API's own words on the allocation by which none of the awaited calls came.
func countsNone(c *correlator.Case) []*correlator.Event {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []*correlator.Event
		for _, e := range c.Events {
			if e.Layer == semconv.LayerAPI && !e.IsEvent() && on(e, themeNoneCame) && noneCame.MatchString(e.Text) {
				out = append(out, e)
			}
		}
		return out
	}).([]*correlator.Event)
}

// callFailed says whether a client tells of a call of its own that failed: it tried.
func callFailed(e *correlator.Event) bool {
	return e.HTTP.Status >= 400 || e.Signal == record.Span && e.Failed() || e.Failed() && (hinted(e) != nil && hinted(e).Layer == semconv.LayerNetwork || answeredWords.MatchString(e.Text))
}

func inOrder(events ...*correlator.Event) []*correlator.Event {
	slices.SortStableFunc(events, correlator.CompareEvents)
	return events
}
