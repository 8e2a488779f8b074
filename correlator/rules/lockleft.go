package rules

import (
	"regexp"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// lockLeft finds locks that somebody keeps after he has ended.
func lockLeft() []correlator.Rule {
	return []correlator.Rule{{
		ID: "account.lock_left", Mechanism: "lock",
		Looks:      "somebody who waits for a lock, and the end of the run that he names as its holder, or that run's word that it waits in turn for his",
		NextCheck:  "by which name the holder gave its lock back, and what it was told",
		SafeAction: "take the lock from the run that has ended; what waits goes on by itself",
		Find:       waitsForAnEndedHolder,
	}}
}

// locked are the words of a lock by which one waits.
var locked = []string{"lock", "mutex", "semaphore", "sperr", "verrou", "cerrojo", "gesperrt", "bloquead", "bloqueo", "blocco", "lease", "holder", "held by", "inhaber", "schlüssel", "nyckel", "nøkkel", "llave", "chiave"}

var (
	// holderNamed finds who is named as the holder of a lock.
	holderNamed = regexp.MustCompile(`\b(?:held by|locked by|gesperrt durch|gesperrt von|bloqueado por|bloqueada por|verrouillé par|bloccato da|owned by|taken by|holder|owner|halter|inhaber|gehalten von|belegt von|titular|détenteur|détenu par|retenido por|tenuto da)\b[:= ]*(?:\p{L}+ ){0,2}["']?([\p{L}\d][\w./-]{2,}\d[\w./-]*|\d{3,})`)
	// holderEnded finds that the very line says the holder has ended.
	holderEnded = regexp.MustCompile(`\b(?:ended|finished|completed|exited|cancell?ed|aborted|dead|storniert|abgebrochen|cancelad[oa]|annulée?|already (?:done|gone)|no longer (?:exists|runs|alive)|beendet|abgeschlossen|terminado|terminé|finalizado|conclus[oa]|no sign of life|without a sign of life|ohne lebenszeichen)\b`)
	waitsFor    = regexp.MustCompile(`\b(?:wait|waits|waiting|blocked|queued|queues|warte|wartet|esper\w+|atten\w+|aspett\w+)\b`)
)

// waiters lists the allocation's own words of who waits for a lock and names its holder.
func waiters(c *correlator.Case) []*correlator.Event {
	type key struct{}
	return c.Memo(key{}, func() any {
		var out []*correlator.Event
		for _, e := range ownOn(c, themeLocked) {
			if e.Allocation == c.ID && c.Profile.Knows(e.Party()) && holderNamed.MatchString(e.Text) && waitsFor.MatchString(e.Text) {
				out = append(out, e)
			}
		}
		return out
	}).([]*correlator.Event)
}

// toldEnded is another word of who waits, or of his like, by which the holder has ended; nil where there is none.
func toldEnded(c *correlator.Case, t *correlator.Trouble, waits *correlator.Event, holder string) (told *correlator.Event) {
	c.EachIn(waits.Layer, t.From-recently, t.At+recently, func(e *correlator.Event) {
		if told != nil || e.IsEvent() || e.Party() != waits.Party() || !closeTo(t, e) && !correlator.EveryReaderHas(e) {
			return
		}
		if _, after, found := strings.Cut(e.Text, holder); found && on(e, themeLocked) {
			if state, _, _ := strings.Cut(after, ";"); holderEnded.MatchString(state) {
				told = e
			}
		}
	})
	return told
}

// crossed is the word of the named holder that it waits in turn for a lock which who waits for it holds; nil where there is none.
func crossed(c *correlator.Case, waits *correlator.Event, holder string) (other *correlator.Event) {
	own := strings.ToLower(waits.Own(identity.Workflow))
	if own == "" {
		return nil
	}
	c.EachIn(waits.Layer, waits.At-recently, waits.At+recently, func(e *correlator.Event) {
		if other != nil || e.IsEvent() || !on(e, themeLocked) || !strings.EqualFold(e.Own(identity.Workflow), holder) {
			return
		}
		if m := holderNamed.FindStringSubmatch(e.Text); m != nil && m[1] == own && waitsFor.MatchString(e.Text) {
			other = e
		}
	})
	return other
}

// waitsForAnEndedHolder needs the word of who waits, on the allocation's own step, and the holder's end: by that word itself, or by its run's.
func waitsForAnEndedHolder(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if c.Profile.FirstFailure() {
		return nil
	}
	var told, end *correlator.Event
	asked := map[string]int{} // how often a holder was looked for: of one that has not ended the later words say no more
	for _, e := range waiters(c) {
		if e.At < t.From || e.At > t.At {
			continue
		}
		m := holderNamed.FindStringSubmatch(e.Text)
		if asked[m[1]]++; asked[m[1]] > ownWords && !holderEnded.MatchString(e.Text) {
			continue
		}
		if strings.EqualFold(e.Own(identity.Workflow), m[1]) {
			continue
		}
		_, after, _ := strings.Cut(e.Text, m[1])
		if holderEnded.MatchString(after) {
			told = e
			break
		}
		c.EachOther(t.From-recently, e.At, func(o *correlator.Event) {
			if o.Is(semconv.EventWorkflowState) && (o.To() == semconv.Completed || o.To() == semconv.Failed) && strings.EqualFold(o.Own(identity.Workflow), m[1]) {
				told, end = e, o
			}
		})
		if told == nil {
			if end = toldEnded(c, t, e, m[1]); end != nil {
				told = e
				break
			}
			end = crossed(c, e, m[1])
			if end != nil {
				told = e
			}
		}
		if told != nil {
			break
		}
	}
	if told == nil {
		return nil
	}
	summary := " waits for a lock that a run holds which has ended"
	if end != nil && !end.IsEvent() && waitsFor.MatchString(end.Text) {
		summary = " has two runs that wait for each other's locks"
	}
	ev := correlator.Evidence{
		Rule: told.Party() + ".lock_left", Layer: told.Party(), Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Records: []*correlator.Event{told},
		Summary: told.Party() + summary + quote(told),
	}
	if end != nil {
		c.Borrow(end)
		ev.Records = inOrder(end, told)
		ev.Onset = told.At
	}
	return []correlator.Evidence{ev}
}
