package rules

import (
	"regexp"
	"slices"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// byVersion finds programs of users that are refused in one version, and served in another.
func byVersion() []correlator.Rule {
	return []correlator.Rule{{
		ID: "client.version", Layer: semconv.LayerClient, Mechanism: "request",
		Looks:      "a user's program whose requests are refused for their form each time, while the same party serves the same program in another version, and rolled nothing out",
		NextCheck:  "what that version of the program sends that the other one does not",
		SafeAction: "use the other version, or set it to send what that one sends; the platform needs nothing",
		Find:       refusedByVersion,
	}}
}

// agentVersion finds the program and its version that a server says it was asked by: ua="ctl/2.23.0".
var agentVersion = regexp.MustCompile(`["= ]([a-z][a-z0-9_-]{2,})/(\d+\.\d+[\w.]*)`)

// askedBy gives the program and the version that a server's record says it was asked by, "" where it says none.
func askedBy(e *correlator.Event) (program, version string) {
	for _, m := range agentVersion.FindAllStringSubmatch(e.Text, 4) {
		if m[1] != "http" {
			program, version = m[1], m[2]
		}
	}
	return program, version
}

// refusedByVersion needs three refusals for a request's form (400, 406, 415, 422, 426) in the moments of the user's own failures, all of one version of one program,
// none of that version that was served, and one of another version that was.
func refusedByVersion(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind != correlator.RequestTrouble || c.Profile.FirstFailure() {
		return nil
	}
	const breath = int64(2 * time.Second)
	var failed []*correlator.Event
	for _, e := range c.Failures(t) {
		if e.Layer == semconv.LayerClient && !e.IsEvent() {
			failed = append(failed, e)
		}
	}
	var refused []*correlator.Event
	c.EachIn(semconv.LayerAPI, t.From-moment, t.At+moment, func(e *correlator.Event) {
		if slices.Contains([]int{400, 406, 415, 422, 426}, e.HTTP.Status) && slices.ContainsFunc(failed, func(f *correlator.Event) bool { return max(f.At, e.At)-min(f.At, e.At) <= breath }) {
			refused = append(refused, e)
		}
	})
	if len(refused) < insists {
		return nil
	}
	program, version := askedBy(refused[0])
	if program == "" || slices.ContainsFunc(refused, func(e *correlator.Event) bool { p, v := askedBy(e); return p != program || v != version }) {
		return nil
	}
	var well *correlator.Event
	same := false
	look := func(e *correlator.Event) {
		if e.Layer != semconv.LayerAPI || e.HTTP.Status < 200 || e.HTTP.Status >= 300 || e.HTTP.Method != refused[0].HTTP.Method {
			return
		}
		switch p, v := askedBy(e); {
		case p != program:
		case v == version:
			same = true
		case well == nil && (closeTo(t, e) || correlator.EveryReaderHas(e)):
			well = e
		}
	}
	c.Each(t.From-recently, t.At+recently, look)
	c.EachOther(t.From-recently, t.At+recently, look)
	c.EachEvent(semconv.EventDeploy, t.From-int64(changed), t.At, func(e *correlator.Event) {
		same = same || layerOfName(c, e.Attr(semconv.Component)) == semconv.LayerAPI // it may be what no longer takes that version
	})
	if well == nil || same {
		return nil
	}
	c.Borrow(well)
	records := slices.Concat(failed[:min(len(failed), ownWords)], refused[:min(len(refused), ownWords)], []*correlator.Event{well})
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: refused[0].At, Records: inOrder(records...),
		Summary: program + " " + version + " is refused each time, and another version of it is served" + quote(refused[0]),
	}}
}
