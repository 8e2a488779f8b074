package rules

import (
	"regexp"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// waitWords are how a process says that it waits; farAway is how it names what it waits for, where that is not on its own machine.
var (
	waitWords = []string{"waiting for", "waiting on", "waits for", "blocked on", "acquiring", "queued behind", "wait for lock"}
	farAway   = regexp.MustCompile(`\w+://|:\d{2,5}\b|\b\d{1,3}(?:\.\d{1,3}){3}\b|\bresponse\b|\breply\b|\banswer\b|\bapi\b|\bserver\b|\bnetwork\b|\blink\b|\bdhcp\b`)
)

// saysWaits says whether a process tells that it waits, in English or in one of the languages of lockleft.go.
func saysWaits(text string) bool { return holds(text, waitWords) || waitsInWords.MatchString(text) }

// waitsInWords are the same in German, Dutch, Spanish, French, Italian and the Nordic languages.
var waitsInWords = regexp.MustCompile(`\b(?:warte|wartet|warten auf|wacht op|wachten op|espera|esperando|attend|attente|aspetta|attende|venter på|väntar på)\b`)

// waitingAgent needs the agent's own word of the task that it waits, nothing of the task after it, and at least two of its heartbeats in
// that time: who beats and does not go on is stuck itself. What is waited for elsewhere may be another's to give.
func waitingAgent(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Attempt == nil || t.Attempt.Taken == nil || t.Attempt.Over == nil || t.Attempt.Over.To() != semconv.Lost || t.Node == "" {
		return nil
	}
	task := t.Attempt.Taken.Own(identity.Task)
	var last *correlator.Event
	var beats []*correlator.Event
	again := false // it says more than once that it waits
	c.EachIn(semconv.LayerNodeAgent, t.Attempt.Taken.At, t.Attempt.Over.At, func(e *correlator.Event) {
		switch {
		case !correlator.Names(e, t.Node):
		case e.Is(semconv.EventHeartbeat):
			beats = append(beats, e)
		case e.Own(identity.Task) == task && e != t.Attempt.Taken && e.Layer == semconv.LayerNodeAgent:
			again = last != nil && saysWaits(last.Text) && saysWaits(e.Text) && e.At-last.At > int64(time.Minute)
			last, beats = e, nil
		}
	})
	if last == nil || last.IsEvent() || last.Severity >= 17 || !saysWaits(last.Text) || farAway.MatchString(last.Text) || last.HTTP.Status != 0 || last.Attr(semconv.ServerAddress) != "" {
		return nil
	}
	if ended := childEnded(c, t, task); ended != nil && ended.At < last.At {
		return []correlator.Evidence{{
			Weight: correlator.Telling, Directness: correlator.Itself, Certain: true, Onset: ended.At, Records: append([]*correlator.Event{ended, last}, t.Cites...),
			Summary: "the agent of " + t.Node + " waits for what had ended well before" + quote(last),
		}}
	}
	if last.Failed() || len(beats) < 2 && !again {
		return nil
	}
	if again {
		beats = []*correlator.Event{last} // who says so again is alive
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: last.At, Records: append([]*correlator.Event{last, beats[len(beats)-1]}, t.Cites...),
		Summary: "the agent of " + t.Node + " is alive, and its last word of the task is that it waits" + quote(last),
	}}
}

// childEnded is the machine's own word that what was started for a task ended well, nil where there is none.
func childEnded(c *correlator.Case, t *correlator.Trouble, task string) (ended *correlator.Event) {
	if len(task) < shortestID {
		return nil
	}
	c.EachIn(semconv.LayerNode, t.Attempt.Taken.At, t.Attempt.Over.At, func(e *correlator.Event) {
		if ended == nil && !e.IsEvent() && correlator.Names(e, t.Node) && strings.Contains(e.Text, strings.ToLower(task)) && holds(e.Text, endedWell) {
			ended = e
		}
	})
	return ended
}

// endedWell are the words of a supervisor whose child came to its proper end (systemd, supervisord, runit).
var endedWell = []string{"deactivated successfully", "succeeded.", "exit status 0", "exited with code 0", "status=0/success", "finished successfully"}
