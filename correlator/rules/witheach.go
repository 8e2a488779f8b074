package rules

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// withEach finds who speaks each time that a step's calls fail.
func withEach() []correlator.Rule {
	return []correlator.Rule{{
		ID: "party.with_each_failure", Mechanism: "error",
		Looks:      "the one party behind a caller that says the same at several times at which the step's calls failed, and at hardly any other, whatever its words are",
		NextCheck:  "what that party's words mean, and since when it says them",
		SafeAction: "ask who runs that party, with these records; the caller repeats what it was answered",
		Find:       saidWithEach,
	}}
}

const (
	withinBreath   = int64(1200 * time.Millisecond) // between a call's failure and the word of who answered it
	separateTimes  = int64(5 * time.Second)         // between two failures that count as two
	leastPaired    = 2                              // at how many of them it is to be said
	mostInBreath   = 8                              // records of any kind that are looked at beside one failure
	mostWithFailed = 8                              // failures that are looked at
)

// paired is what one service says in one form of words at several of a step's failures.
type paired struct {
	said []*correlator.Event
	at   int // the last of the failures at which it was said
	n    int // at how many
}

// saidWithEach needs two failures of the step's own, seconds apart, and another party's same words within a breath of them. What passes answers on (a
// proxy's line of a request), what tells of success, and who blames somebody else is no such party.
func saidWithEach(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	if len(wordsOf(c, t).failures) > 0 {
		return nil // the step's own records name a cause
	}
	var own []*correlator.Event
	speakers := map[string]bool{}
	times, last := 0, int64(0) // of all of them
	for _, e := range c.Failures(t) {
		if e.IsEvent() || !c.Own(e, t) {
			continue
		}
		speakers[e.Party()] = true
		if last == 0 || e.At-last >= separateTimes {
			times, last = times+1, e.At
			if len(own) < mostWithFailed {
				own = append(own, e)
			}
		}
	}
	if len(own) < leastPaired {
		return nil
	}
	ofUser := !slices.ContainsFunc(own, func(e *correlator.Event) bool { return e.Layer != semconv.LayerClient }) // his calls are answered by no machine
	behind := func(e *correlator.Event) bool {
		party := e.Party()
		return !e.IsEvent() && party != "" && !speakers[party] && !slices.Contains(neverBehind, party) && (party != semconv.LayerNodeAgent || !ofUser) && e.Text != "" && e.HTTP.Upstream == "" &&
			(e.HTTP.Status == 0 || e.HTTP.Refused()) && c.Profile.Knows(party) && (e.Allocation == c.ID || closeTo(t, e) || correlator.EveryReaderHas(e)) && !elsewhere(c, t, e)
	}
	groups := map[string]*paired{}
	var order []string
	for i, f := range own {
		heard := 0
		c.Each(f.At-withinBreath, f.At+withinBreath, func(e *correlator.Event) {
			if heard++; heard > mostInBreath || !behind(e) {
				return // where many speak at once, that one speaks says nothing
			}
			key := e.Service + " " + correlator.Template(e.Text)
			g := groups[key]
			if g == nil {
				g = &paired{at: -1}
				groups[key] = g
				order = append(order, key)
			}
			if g.at < i {
				g.at, g.n = i, g.n+1
			}
			g.said = append(g.said, e)
		})
	}
	var found *paired
	for _, key := range order {
		g := groups[key]
		first := g.said[0]
		if g.n < leastPaired || len(strings.Fields(first.Text)) < 3 || passesOn(c, first) || saysYes(first) || holds(first.Text, waitedItself) || ownCall.MatchString(first.Text) {
			continue // a yes is no reason, nor is to have waited as the step did
		}
		if s := stated(c, first); s.about != "" && !s.cause || hinted(first) != nil && !first.Failed() && !c.Own(first, t) && !on(first, themeAloud) {
			return nil // who blames somebody else is none, and of a quiet line with known words a reader may have one of two, but for a panic's
		}
		if saidOften(c, t, key, first, times-len(own)+g.n+1, behind) {
			continue
		}
		if found != nil && found.said[0].Party() != first.Party() {
			return nil // which of the two it is, is not told by this
		}
		if found == nil || g.n > found.n {
			found = g
		}
	}
	if found == nil {
		return nil
	}
	first := found.said[0]
	party := first.Party()
	if holds(first.Text, ofLogins) && c.Profile.Knows(semconv.LayerAPIAuth) {
		party = semconv.LayerAPIAuth // it turns one account away
	}
	if s := hinted(first); s != nil && s.owner(c, first) != "" {
		party = s.owner(c, first)
	}
	weight := correlator.Slight
	if first.Party() == semconv.LayerAPIAuth && refusedByWord.Any(first.Text) && refusedByWord.Any(own[0].Text) {
		weight = correlator.Telling // who decides and who was refused tell the same
	}
	return []correlator.Evidence{{
		Rule: party + ".with_each_failure", Layer: party, Weight: weight, Directness: correlator.Itself, Onset: first.At,
		Records: inOrder(append(slices.Clone(found.said[:min(len(found.said), ownWords)]), own[0])...),
		Summary: "each time the call failed, the " + first.Party() + " said" + quote(first),
	}}
}

// waitedItself are the words of who called somebody else and had no answer (Go, Python, Java).
var waitedItself = []string{"context deadline exceeded", "client.timeout exceeded", "awaiting headers", "read timed out", "i/o timeout", "handshake timeout"}

// ownCall finds that somebody tells of a call of his own that failed (Go's url.Error): whoever asked him is not answered by that.
var ownCall = regexp.MustCompile(`\b(?:get|head|post|put|patch|delete) "https?://`)

// saysYes says whether somebody tells that what he did or decided went well.
func saysYes(e *correlator.Event) bool {
	return e.Severity < 13 && tellsOfSuccess.MatchString(e.Text) && !holds(e.Text, []string{"not ", "n't ", "never ", "no longer "})
}

// tellsOfSuccess finds the words of it.
var tellsOfSuccess = regexp.MustCompile(`\b(?:allowed|granted|accepted|approved|permitted|succeeded|successful(?:ly)?)\b`)

// saidOften says whether a service says the same around a trouble more often than some times, the step's own calls that nobody else tells of left out.
func saidOften(c *correlator.Case, t *correlator.Trouble, key string, like *correlator.Event, most int, behind func(*correlator.Event) bool) bool {
	times := 0
	c.EachIn(like.Layer, t.From-recently, t.At+moment, func(e *correlator.Event) {
		if times <= most && e.Service == like.Service && e.Allocation != c.ID && behind(e) && e.Service+" "+correlator.Template(e.Text) == key {
			times++
		}
	})
	return times > most
}

// passesOn says whether a line only tells of a request, and how it was answered or that its caller was not let in: a proxy's, or an authority's doing.
func passesOn(c *correlator.Case, e *correlator.Event) bool {
	if e.HTTP.Proxied && e.HTTP.Upstream == "" && e.HTTP.Flags != "" {
		return false // it answered by itself, and says why
	}
	if refusesForm.MatchString(e.Text) || e.Party() == semconv.LayerAPI && sentBadForm(c, e) {
		return true // what is wrong with what it was sent is its sender's matter
	}
	return requestLine.MatchString(e.Text) && (e.Party() == semconv.LayerIngress || holds(e.Text, []string{" 401", " 403", "429 "}))
}

// refusesForm finds that somebody answered that what he was sent is amiss: "resp=422", "status: 400" (RFC 9110, 15.5).
var refusesForm = regexp.MustCompile(`\b(?:resp|status|code)"?(?:=|: ?)"?4(?:00|12|15|22|28)\b`)

// requestLine finds the request in a line of a server's.
var requestLine = regexp.MustCompile(`\b(?:get|head|post|put|patch|delete|connect|options) /`)

// ofLogins are the words of who turns an account away for its name, its password or its state.
var ofLogins = []string{"failed to authenticate user", "failed to authenticate principal", "authentication failed for user", "login failed for", "login denied for", "invalid credentials for", "account is locked", "password has expired", "password expired"}

// neverBehind are the parties that answer no call of a step's.
var neverBehind = []string{semconv.LayerClient, semconv.LayerDeploy, semconv.LayerNode}
