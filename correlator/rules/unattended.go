package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// unattendedQueues finds programs that take nothing from their own queue.
func unattendedQueues() []correlator.Rule {
	return []correlator.Rule{{
		ID: "queue.unattended", Mechanism: "not_taken",
		Looks:      "a queue that bears a program's name, in which work waits and from which nobody takes, while other queues of that broker are attended",
		NextCheck:  "whether that program still has its connection to the broker",
		SafeAction: "start the program again; what waits in its queue is kept",
		Find:       unattendedQueue,
	}}
}

// Of a report on queues: each queue's part, its words, and how many messages wait.
var (
	partsOfReport = regexp.MustCompile(`[;\n]`)
	wordsOfReport = regexp.MustCompile(`[a-z][\w.-]{3,}`)
	someWait      = regexp.MustCompile(`(?:ready|messages|pending|backlog|depth|lag|visible)[ =:]+[1-9]`)
)

// queuedWithout finds a report of a queue in which work waits and that has no worker (RQ's "41 queued, oldest 3 h; 0 workers", Sidekiq, Celery), noWorkers its words.
var (
	queuedWithout = regexp.MustCompile(`\b[1-9]\d* (?:jobs? |messages? |tasks? )?(?:queued|waiting|pending|enqueued)\b[^\n]{0,60}\b(?:0|no) workers?\b`)
	noWorkers     = []string{"0 workers", "no workers", "no worker"}
)

// unattendedQueue needs the report of a broker while a step stands still, and that the program is heard of.
func unattendedQueue(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind == correlator.RequestTrouble {
		return nil
	}
	var out []correlator.Evidence
	c.EachIn(semconv.LayerOutbox, t.From, t.At, func(e *correlator.Event) {
		if len(out) == 0 && !e.IsEvent() && holds(e.Text, noWorkers) && queuedWithout.MatchString(e.Text) && (closeTo(t, e) || correlator.EveryReaderHas(e)) {
			out = append(out, correlator.Evidence{
				Rule: "deploy.no_worker", Layer: semconv.LayerDeploy, Mechanism: "no_worker", Weight: correlator.Telling, Directness: correlator.Caller, Onset: t.From,
				Records: append([]*correlator.Event{e}, t.Cites...), Summary: "work waits in a queue, and no worker is there to take it" + quote(e),
			})
		}
		if e.IsEvent() || !unasked(e) || !closeTo(t, e) && !correlator.EveryReaderHas(e) {
			return
		}
		parts := partsOfReport.Split(e.Text, -1)
		attended := slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(part, "consumers") && !takenByNobody(part) })
		for _, part := range parts {
			if !attended || !takenByNobody(part) || !someWait.MatchString(part) {
				continue
			}
			for _, word := range wordsOfReport.FindAllString(part, -1) {
				layer := namedInPart(c, word)
				if layer == "" || layer == semconv.LayerOutbox || layer == semconv.LayerClient || !c.Profile.Knows(layer) || len(out) > 0 {
					continue
				}
				out = append(out, correlator.Evidence{
					Rule: layer + ".not_taken", Layer: layer, Weight: correlator.Telling, Directness: correlator.Caller, Onset: e.At,
					Records: append([]*correlator.Event{e}, t.Cites...), Summary: "work waits in the queue of " + word + ", and nobody takes it" + quote(e),
				})
			}
		}
	})
	return out
}

// namedInPart is the layer of the program that is heard of and whose name, or the end of it, is a word: "scheduler" of nova-scheduler. "" where there is none, or
// where two layers have one.
func namedInPart(c *correlator.Case, word string) (layer string) {
	for service, l := range heard(c).parties {
		if service == word || strings.HasSuffix(service, "-"+word) {
			if layer != "" && layer != l {
				return ""
			}
			layer = l
		}
	}
	return layer
}
