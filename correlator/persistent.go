package correlator

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/needles"
	"github.com/faultline-io/faultline/internal/semconv"
)

// How often, and for how long, the same must fail before it is trouble whatever the allocation's state is. Whoever waits
// for the machine is patient by design: a platform that is still at work retries.
const (
	persistsTimes, persistsFor       = 3, int64(time.Minute)
	persistsAtWork, persistsAtWorkMs = 5, int64(2 * time.Minute)
	persistsRefused                  = int64(10 * time.Minute) // though it succeeded in the end
)

// persistentTroubles finds what keeps failing for an allocation, with nothing that succeeded since: a user's request
// that is refused again and again costs him what he asked for, though no state moves.
func persistentTroubles(c *Case) []*Trouble {
	type same struct{ failed []*Event }
	groups := map[string]*same{}
	var keys []string
	for _, e := range c.lookup(indexKey{what: failing}).own {
		if e.IsEvent() && isLifecycle(e.Name) || e.Own(identity.Task) != "" || !c.complains(e) || c.expected(e) || hungUp(e) {
			continue
		}
		if e.Own(identity.Allocation) == "" && !tellsOfRequest(e) && e.Layer != semconv.LayerClient {
			continue // what a program of its machine keeps on saying is asked for by nobody
		}
		said := e.Text
		if e.HTTP.Status >= 400 {
			said, _, _ = strings.Cut(said, ",") // what it adds of the cause may come later
		}
		key := e.Service + " " + c.keyOf(e) + " " + pattern(said)
		if groups[key] == nil {
			groups[key] = &same{}
			keys = append(keys, key)
		}
		groups[key].failed = append(groups[key].failed, e)
	}
	var out []*Trouble
	for _, key := range keys {
		failed := groups[key].failed
		first, last := failed[0], failed[len(failed)-1]
		if begun := c.Lifecycle.States; len(begun) > 0 && begun[0].To == semconv.Requested && first.At < begun[0].At-persistsFor {
			continue // it failed like that before the allocation was asked for
		}
		state, _ := c.Lifecycle.stateAt(last.At)
		times, lasts := persistsTimes, persistsFor
		if !terminal(state) {
			times, lasts = persistsAtWork, persistsAtWorkMs
		}
		served := c.servedAfter(last)
		refused := len(failed) >= persistsTimes && last.At-first.At >= persistsRefused && refusedForWho(last)
		if !refused && (len(failed) < times || last.At-first.At < lasts || served != nil && (state != semconv.Active || first.Layer == semconv.LayerWorkflow)) {
			continue
		}
		if first.Layer != semconv.LayerClient && !terminal(state) && c.Lifecycle.activeAfter(last.At) != 0 {
			continue // the work went on, and came to what was asked for
		}
		if state == semconv.Released || state == semconv.Canceled {
			continue // nobody is owed anything any more
		}
		t := &Trouble{
			Kind: RequestTrouble, From: first.At, At: last.EndAt(), Call: strings.TrimSpace(c.keyOf(last)), Cites: someOf(failed, times+1), Node: first.Node, Instance: first.NodeInstance,
			What: fmt.Sprintf("%s failed %d times in %s", c.callNamed(last), len(failed), time.Duration(last.At-first.At).Round(time.Second)),
		}
		if served != nil {
			t.Cleared = served.EndAt()
			t.At = max(t.At, t.Cleared-1)
		}
		if !slices.ContainsFunc(out, func(o *Trouble) bool { return o.From <= t.At && t.From <= o.At }) {
			out = append(out, t)
		}
	}
	if t := givenUp(c); t != nil && len(out) == 0 {
		out = append(out, t)
	}
	if t := shownOtherwise(c); t != nil && len(out) == 0 {
		out = append(out, t)
	}
	return out
}

// refusedForWho says whether a caller was refused for who it is: a retry is for what passes by itself, and that does not.
func refusedForWho(e *Event) bool {
	return e.HTTP.Status == 401 || e.HTTP.Status == 403 || notAllowed.Any(e.Text)
}

// notAllowed are the words of a refusal for who asks (gRPC, HTTP, Kubernetes).
var notAllowed = needles.Of("unauthenticated", "permission_denied", "permissiondenied", "permission denied", "401 unauthorized", "403 forbidden", "failed to check permissions", "invalid_token")

// watching are the words of somebody who only tells that an allocation does not move.
var watching = needles.Of("alarm", "stuck", "no progress", "not making progress", "still in ", "no workflow started")

// givenUp is the trouble of an allocation that has not moved since one service told errors of it, in whatever words, and for long: nil
// where something moved, or where it has what was asked for.
func givenUp(c *Case) *Trouble {
	state, _, ok := c.Lifecycle.State()
	if !ok || terminal(state) {
		return nil
	}
	moved := int64(0)
	for _, e := range c.Events {
		if e.Moves() {
			moved = max(moved, e.At)
		}
	}
	by := map[string][]*Event{}
	for _, e := range c.lookup(indexKey{what: failing}).own {
		if e.At < moved || e.IsEvent() || e.Severity < severityError || e.Own(identity.Allocation) == "" || !worksForOrders(e) || c.expected(e) || hungUp(e) || watching.Any(e.Text) {
			continue
		}
		by[e.Service] = append(by[e.Service], e)
		list := by[e.Service]
		if last := list[len(list)-1]; len(list) > 1 && last.At-list[0].At >= int64(5*time.Minute) {
			return &Trouble{Kind: RequestTrouble, From: list[0].At, At: last.EndAt(), Cites: distinct(list[0], last),
				What: fmt.Sprintf("%s told %d errors in %s, and nothing moved since", e.Service, len(list), time.Duration(last.At-list[0].At).Round(time.Second))}
		}
	}
	return nil
}

// complains says whether a record tells that something which was asked for was not given: an error, or a refusal.
func (c *Case) complains(e *Event) bool {
	if conflicted.Any(e.Text) {
		return false
	}
	return e.Severity >= severityError || e.Status == "error" || e.HTTP.Refused() || e.GRPCFailed() ||
		e.Severity >= severityWarn && !c.Profile.FirstFailure() && (worksForOrders(e) && (notGiven.Any(e.Text) || e.Layer == semconv.LayerClient && cutOff.Any(e.Text)) || e.Party() == semconv.LayerProjection && notGiven.Any(e.Text))
}

// conflicted are the words of who wrote on an older version of an object than there is, reads it again and goes on (Kubernetes' optimistic concurrency).
var conflicted = needles.Of("the object has been modified; please apply")

// cutOff are the words of a user's program whose connection was ended for it (RFC 6455, 7.4.1: 1006 and 1011 to 1014).
var cutOff = needles.Of("code 1006", "code 1011", "code 1012", "code 1013", "code 1014", "code=1006", "code=1011", "code=1012", "code=1013", "code=1014")

// worksForOrders says whether a record speaks of a party on the way of orders, and not of a machine: its many programs have affairs of their own.
func worksForOrders(e *Event) bool {
	return slices.Contains(way, e.Party()) && !Onward(semconv.LayerProvider, e.Party())
}

// notGiven are the words by which a warning (a Kubernetes event has no other severity) tells that something was asked for in vain.
var notGiven = needles.Of("invalid_token", "401 unauthorized", "403 forbidden", "failed to ", "failed: ", "denied", "forbidden", "unable to ", "could not ", "cannot ", "can't ", "error: ", "refused", "rejected", "timed out", "no confirm", " fault: ", "not found", "429 too many", " failed for ")

// pattern is a text without what differs from one time to the next: its numbers and identifiers.
func pattern(text string) string {
	const enough = 96
	b := make([]byte, 0, enough)
	for i := 0; i < len(text) && len(b) < enough; i++ {
		ch := text[i]
		if ch >= '0' && ch <= '9' {
			ch = '#'
		}
		if ch == '#' && len(b) > 0 && b[len(b)-1] == '#' {
			continue
		}
		b = append(b, ch)
	}
	return string(b)
}
