package rules

import (
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// otherQueue finds orders that wait in a queue which the workers left with a rollout.
func otherQueue() []correlator.Rule {
	return []correlator.Rule{{
		ID: "deploy.other_queue", Layer: semconv.LayerDeploy, Mechanism: "config",
		Looks:      "an order that was put into one queue, and workers that began with a rollout to take from another one",
		NextCheck:  "the queue's name in what was rolled out, beside the one that is written to",
		SafeAction: "roll it back, or correct the name; what waits is kept",
		Find:       waitsInOther,
	}}
}

var (
	// takesFrom finds the queue from which a worker tells that it takes as it begins (Temporal's SDKs, Celery, Camunda, Zeebe, River, Asynq).
	takesFrom = regexp.MustCompile(`started worker .*\btaskqueue (\S+)|\[queues\] \.> ([\w.-]+)|\bfilter_subject"?[:=]"?([\w.*>-]+)|\b(?:subscribed to|listening on|consuming from|polling) (?:the )?(?:task ?queue|queue|task ?list|subject|topic|job type)s?[ :="']+([\w.-]+)|\b(?:start(?:ing|ed)|register(?:ing|ed)|subscrib(?:ing|ed)|activatejobs)\b.*\b(?:type|queue|topic|subject|stream|channel)[=:"]+([\w.-]+)`)
	// putInto finds the queue into which somebody tells that an order was put.
	putInto = regexp.MustCompile(`\b(?:task[_-]?queue|tasklist|routing_key|queue|job_?type)[=: "]+([\w.-]+)|\b(?:created|enqueued|scheduled|pushed)\b.*\btype[=:"]+([\w.-]+)`)
)

// waitsInOther needs the queue of the order by the word of who put it there, another one by the worker's own word as it began after its rollout, and
// nothing that was done for the order since.
func waitsInOther(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if t.Kind != correlator.WorkflowTrouble && t.Kind != correlator.OverdueTrouble && t.Kind != correlator.StateTrouble {
		return nil
	}
	var put *correlator.Event
	queue := ""
	for _, e := range c.Events {
		if e.IsEvent() || e.At > t.At || e.Failed() {
			continue
		}
		if m := putInto.FindStringSubmatch(e.Text); m != nil && m[1]+m[2] != queue && e.Layer != semconv.LayerNode && e.Layer != semconv.LayerNodeAgent {
			put, queue = e, m[1]+m[2]
		}
	}
	if n := len(c.Lifecycle.Outbox); put == nil && n > 0 && c.Lifecycle.Outbox[n-1].Last().To == semconv.Published {
		put = c.Lifecycle.Outbox[n-1].Last().Event
		queue = put.Attr(semconv.Subject)
	}
	if put == nil || queue == "" {
		return nil
	}
	taken := slices.ContainsFunc(c.Events, func(e *correlator.Event) bool {
		return e.At > put.At && e.IsEvent() && (e.Is(semconv.EventTaskState) || e.Is(semconv.EventProviderState) || e.Is(semconv.EventWorkflowState) && e.To() == "running")
	})
	rollout := rolledOutBefore(c, semconv.LayerWorkflow, put.At)
	if taken || rollout == nil {
		return nil
	}
	var began *correlator.Event
	asked := false
	c.Each(rollout.At, t.At+recently, func(e *correlator.Event) {
		if e.IsEvent() || e.Party() != semconv.LayerWorkflow || !closeTo(t, e) && !correlator.EveryReaderHas(e) {
			return
		}
		if m := takesFrom.FindStringSubmatch(e.Text); m != nil {
			asked = asked || slices.ContainsFunc(m[1:], func(name string) bool { return name == queue || strings.ContainsAny(name, "*>") })
			began = e
		}
	})
	if began == nil || asked {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Itself, Onset: rollout.At, Records: append([]*correlator.Event{rollout, began, put}, t.Cites...),
		Summary: "the order was put into " + queue + ", and since the rollout of " + what(rollout) + " the workers take from another queue" + quote(began),
	}}
}
