package rules

import (
	"regexp"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// endedHolder finds who keeps a task back for one that has ended.
func endedHolder() []correlator.Rule {
	return []correlator.Rule{{
		ID: "task.ended_holder", Mechanism: "stale",
		Looks:      "a task that nobody claimed, and the word of the API or of the machine's agent, meanwhile, on another task that is in its way and has ended",
		NextCheck:  "why who holds it was not told, or did not note, that it had ended",
		SafeAction: "take the ended task out of its way; the machine and the network need nothing",
		Find:       keptBackByEnded,
	}}
}

var (
	// keptBehind finds that something is in the way of other work, in the words of queues and of those who keep places.
	keptBehind = regexp.MustCompile(`\b(?:head=|taken by|held by|occupied by|busy with|belegt durch|belegt von|optaget af|opptatt av|upptagen av|varattu|occupé par|ocupado por|blocked (?:queue )?(?:for|by|behind)|behind|previous|in front)`)
	// hasEnded are the words of something that is over.
	hasEnded = regexp.MustCompile(`\b(?:succeeded|completed?|finished|ended|failed|lost|expired|no such process|gone|garbage collected|no longer|nicht mehr da|fertig|beendet|terminated|terminé|terminad[oa])\b`)
	// namedThing finds what may be the name of a task or a run: a word with digits.
	namedThing = regexp.MustCompile(`[a-z0-9][a-z0-9-]*\d[a-z0-9-]*`)
)

// keptBackByEnded needs the word, while the task waits, of who hands out or takes tasks, under the machine's identifiers, and that what it names is not the step's and has
// ended: by that very word, by its end on record, or by anybody else's word.
func keptBackByEnded(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if !t.NeverTaken() || t.Node == "" || t.Attempt.Queued == nil {
		return nil
	}
	var found []correlator.Evidence
	c.Each(t.Attempt.Queued.At, t.At, func(e *correlator.Event) {
		party := e.Party()
		if found != nil || e.IsEvent() || party != semconv.LayerAPI && party != semconv.LayerNodeAgent || !correlator.Names(e, t.Node) || !keptBehind.MatchString(e.Text) {
			return
		}
		at := keptBehind.FindStringIndex(e.Text)
		for _, name := range namedThing.FindAllString(e.Text[at[1]:min(len(e.Text), at[1]+120)], 3) {
			if len(name) < shortestName || strings.EqualFold(name, t.Attempt.Task) || name == t.Node || !strings.ContainsAny(name, "-") && len(name) < 8 {
				continue
			}
			end := endOfHolder(c, t, e, name)
			if end == nil {
				continue
			}
			found = []correlator.Evidence{{
				Rule: party + ".ended_holder", Layer: party, Weight: correlator.Telling, Directness: correlator.Itself, Certain: true, Onset: t.From,
				Records: inOrder(append([]*correlator.Event{e, end}, t.Cites...)...),
				Summary: "the task waits behind " + name + ", which has ended" + quote(e),
			}}
			return
		}
	})
	return found
}

// endOfHolder is the word, or the record, by which what is named has ended: who names it says so himself, or another one does; nil where there is none.
func endOfHolder(c *correlator.Case, t *correlator.Trouble, e *correlator.Event, name string) (end *correlator.Event) {
	if _, after, _ := strings.Cut(e.Text, name); hasEnded.MatchString(after[:min(len(after), 80)]) {
		return e
	}
	short, _, _ := strings.Cut(name, "-")
	if len(short) < 8 {
		short = name
	}
	c.Each(t.From-int64(changed), t.At, func(o *correlator.Event) {
		switch {
		case end != nil || o == e:
		case o.Is(semconv.EventTaskState):
			if strings.EqualFold(o.Own(identity.Task), name) && holds(o.To(), []string{semconv.Succeeded, semconv.Failed, semconv.Lost, semconv.Expired}) {
				end = o
			}
		case o.IsEvent() || !closeTo(t, o) && !correlator.EveryReaderHas(o):
		default:
			if _, after, is := strings.Cut(o.Text, short); is && hasEnded.MatchString(after[:min(len(after), 60)]) {
				end = o
			}
		}
	})
	return end
}
