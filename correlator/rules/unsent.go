package rules

import (
	"regexp"
	"slices"
	"time"

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
	}, {
		ID: "client.broke_off", Layer: semconv.LayerClient, Mechanism: "crash",
		Looks:      "a user's program that tells of an error of its own which nobody caught, and the API's word that what it was to send has not come since",
		NextCheck:  "that error in the user's program",
		SafeAction: "start the user's program again and order again; the platform needs nothing",
		Find:       programBrokeOff,
	}, {
		ID: "client.fails_itself", Layer: semconv.LayerClient, Mechanism: "crash",
		Looks:      "a user's program that fails, each time, at a mistake in itself, and of whose request nobody on the platform tells, though the API is heard",
		NextCheck:  "that mistake, in the version of the program that the user runs",
		SafeAction: "use another version or another way to send the request; the platform needs nothing",
		Find:       programFailsItself,
	}}
}

var (
	// noneCame finds that none of the calls came that a step waits for: "confirm requests seen: 0", "requests received 0".
	noneCame = regexp.MustCompile(`\bno (?:renewal|heartbeat|keepalive|sign of life) since\b|\bnot renewed since\b|\b(?:requests?|calls?|uploads?|confirmations?|puts?|posts?) (?:seen|received|so far)[:= ]+0\b|\bno (?:confirmation|upload|confirm|put)(?: request)? (?:was )?(?:received|seen)\b|\b0 (?:\w+ )?(?:requests|calls|uploads) (?:received|seen)\b`)
	// noneCameWords are the words without which a text is not looked at for that.
	noneCameWords = []string{"no renewal since", "no heartbeat since", "no keepalive since", "no sign of life since", "not renewed since", " seen: 0", " seen=0", " seen 0", " received: 0", " received=0", " received 0", " so far: 0", " so far 0", "no confirmation ", "no upload ", "no confirm request ", "no put request ", "no confirm ", "no put ", " requests received", " uploads received", " calls received"}
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

// uncaught are the words of a program that tells of an error of its own which ended a part of it.
var uncaught = []string{"uncaught exception", "unhandled exception", "uncaught error", "unhandled rejection", "exception in thread", "panic:", "fatal error", "segmentation fault", "thread died", "thread exited"}

// programBrokeOff needs the program's own error first, and then the API's word on this very allocation that nothing has come since.
func programBrokeOff(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	for _, told := range countsNone(c) {
		if told.At < t.From-recently || told.At > t.At+recently || !c.Own(told, t) {
			continue
		}
		for _, e := range c.Events {
			if e.Layer == semconv.LayerClient && e.At <= told.At && e.At >= told.At-int64(time.Hour) && !e.IsEvent() && e.Failed() && c.Own(e, t) && holds(e.Text, uncaught) {
				return []correlator.Evidence{{
					Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: e.At, Records: inOrder(e, told),
					Summary: "the user's program broke off, and nothing has come from it since" + quote(e),
				}}
			}
		}
	}
	return nil
}

// mistakes are how runtimes name what only a program's own code can do wrong (Python, Java, JavaScript, Go, Ruby, Rust).
var mistakes = []string{"keyerror", "attributeerror", "nameerror", "indexerror", "unboundlocalerror", "modulenotfounderror", "importerror", "nullpointerexception", "classcastexception", "nosuchmethoderror", "cannot read propert", "referenceerror", "is not a function", "index out of range", "nil pointer", "undefined method", "undefined local variable", "panicked at"}

// heardOf is how long before and after a program's error a word on its request would stand.
const heardOf = int64(10 * time.Second)

// programFailsItself needs such an error of the user's program, no word of anybody else's on the allocation in the same moment, no answer that the program repeats,
// and a sign of life of the API since.
func programFailsItself(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind != correlator.RequestTrouble {
		return nil
	}
	var own []*correlator.Event
	for _, e := range c.Failures(t) {
		switch {
		case e.Layer != semconv.LayerClient || e.IsEvent():
		case e.HTTP.Status != 0 || e.Signal == record.Log && answeredWords.MatchString(e.Text):
			return nil // it was answered
		case e.Signal == record.Log && holds(e.Text, mistakes):
			own = append(own, e)
		}
	}
	if len(own) == 0 || c.AliveBetween(semconv.LayerAPI, own[0].At, c.Now) == nil {
		return nil
	}
	for _, e := range c.Events {
		if e.Layer != semconv.LayerClient && slices.ContainsFunc(own, func(o *correlator.Event) bool { return e.At >= o.At-heardOf && e.At <= o.At+heardOf }) {
			return nil // it had got so far
		}
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: own[0].At, Records: own, Summary: "the user's program fails at a mistake in itself, and its request is not heard of" + quote(own[0]),
	}}
}

// countsNone lists the API's own words on the allocation by which none of the awaited calls came.
func countsNone(c *correlator.Case) []*correlator.Event {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []*correlator.Event
		for _, e := range ownOn(c, themeNoneCame) {
			if e.Layer == semconv.LayerAPI && noneCame.MatchString(e.Text) {
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
