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

// cutCall finds proxies that wait less for an answer than such answers take when all is well.
func cutCall() []correlator.Rule {
	return []correlator.Rule{{
		ID: "ingress.cuts_call", Layer: semconv.LayerIngress, Mechanism: "patience",
		Looks:      "a proxy that gives calls up for their time, again and again, each of which who is called finishes well afterwards, and such calls that take longer than the proxy waits when all is well",
		NextCheck:  "the proxy's time-out for this route, beside what such calls take",
		SafeAction: "raise the proxy's time-out for this route; who is called needs nothing",
		Find:       cutsCall,
	}}
}

// cutsCall needs two calls of a step's that a proxy gave up, the called's success with two of them that took longer than the proxy waited, and that this is
// usual: another's such call, or one before, that took longer, or the called's own word.
func cutsCall(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	cut, asked, waited := gaveCallsUp(c, t)
	if len(cut) < 2 {
		return nil
	}
	longer := func(e *correlator.Event) bool {
		return e.HTTP.Status >= 200 && e.HTTP.Status < 300 && e.Layer == semconv.LayerAPI && operation(e) == asked && tookOf(e) > waited
	}
	begun := cut[0].At - int64(waited)
	var done []*correlator.Event
	var usual *correlator.Event
	others := func(e *correlator.Event) {
		if usual == nil && longer(e) && (e.Allocation != c.ID || e.At < begun) && correlator.EveryReaderHas(e) {
			usual = e
		}
	}
	c.EachIn(semconv.LayerAPI, t.From-int64(time.Hour), t.At+recently, func(e *correlator.Event) {
		if e.Allocation == c.ID && e.At >= begun && longer(e) {
			done = append(done, e)
		}
		if others(e); usual == nil && c.Own(e, t) && usuallyLonger(e, asked, waited) {
			usual = e
		}
	})
	if len(done) < 2 {
		return nil
	}
	if usual == nil {
		c.EachOther(t.From-int64(time.Hour), t.At+int64(time.Hour), others)
	}
	if usual == nil {
		return nil
	}
	c.Borrow(usual)
	records := slices.Concat(cut[:min(len(cut), ownWords)], done[:min(len(done), ownWords)], []*correlator.Event{usual})
	slices.SortStableFunc(records, correlator.CompareEvents)
	return []correlator.Evidence{{
		Weight: correlator.Specific, Directness: correlator.Itself, Certain: usual.Allocation != c.ID, Onset: cut[0].At, Records: slices.Compact(records),
		Summary: "the proxy waits " + waited.Round(time.Millisecond).String() + " for what takes longer when all is well" + quote(cut[0]),
	}}
}

// gaveCallsUp lists the calls of one kind that a proxy gave up for their time, what they asked for, and how long the proxy waited at most.
func gaveCallsUp(c *correlator.Case, t *correlator.Trouble) (cut []*correlator.Event, asked string, waited time.Duration) {
	for _, e := range c.Failures(t) {
		if e.Layer != semconv.LayerIngress || e.IsEvent() || e.HTTP.Status != 504 && !flagged(e.HTTP, "UT") {
			continue
		}
		took, of := tookOf(e), operation(e)
		if took <= 0 || of == "" || asked != "" && of != asked {
			continue
		}
		cut, asked, waited = append(cut, e), of, max(waited, took)
	}
	return cut, asked, waited
}

// usualWords find how long something takes when all is well, at most, by the word of who does it: "usually 60-90 s".
var usualWords = regexp.MustCompile(`\b(?:usually|typically|normally)\b\D{0,16}(?:\d+(?:\.\d+)? ?(?:-|–|to) ?)?(\d+(?:\.\d+)?) ?(ms|s|sec|seconds|m|min|minutes)\b`)

// usuallyLonger says whether who is called tells that what is asked of him takes longer than a time.
func usuallyLonger(e *correlator.Event, asked string, than time.Duration) bool {
	if e.IsEvent() || !holds(e.Text, []string{"usually", "typically", "normally"}) {
		return false
	}
	_, part, _ := strings.Cut(strings.ToLower(asked), " ")
	m := usualWords.FindStringSubmatch(e.Text)
	if m == nil || part != "{id}" && !strings.Contains(e.Text, part) {
		return false
	}
	unit := time.Second
	switch m[2] {
	case "ms":
		unit = time.Millisecond
	case "m", "min", "minutes":
		unit = time.Minute
	}
	n, _ := strconv.ParseFloat(m[1], 64)
	return time.Duration(n*float64(unit)) > than
}
