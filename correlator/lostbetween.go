package correlator

import (
	"regexp"
	"slices"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// lostBetween gives the parties between which the order of a trouble was lost from sight, whoever was nearer to its asker first: two, or one where nobody tells whom it
// asked. Parties that this way does not lead over are not among them (docs/contract.md §6).
func (c *Case) lostBetween(t *Trouble) []string {
	var pair []string
	switch {
	case t.Kind == RequestTrouble:
		pair = c.lostRequest(t)
	case t.Attempt != nil || t.Kind == TaskTrouble:
		pair = c.lostTask(t)
	case t.Kind == JobTrouble:
		pair = []string{semconv.LayerWorkflow, semconv.LayerProvider}
	case t.Kind == OutboxTrouble:
		pair = []string{semconv.LayerOutbox, semconv.LayerDB}
	case t.Kind == DriftTrouble:
		pair = []string{semconv.LayerProjection, semconv.LayerWorkflow}
	default:
		pair = c.lostStep(t)
	}
	if t.Owes != "" && !slices.Contains(pair, t.Owes) {
		pair = append(slices.Clip(pair[:min(len(pair), 1)]), t.Owes)
	}
	return slices.DeleteFunc(pair, func(layer string) bool { return !c.Profile.Knows(layer) })
}

// lostRequest looks who told of the call itself: the client's chain leads over a proxy to an API, and from there to whom it asks.
func (c *Case) lostRequest(t *Trouble) []string {
	spoke := map[string]bool{}
	refused, answered := false, false
	var asker *Event
	for _, e := range append(slices.Clone(c.Failures(t)), c.Quiet(t)...) {
		if e.IsEvent() || !c.Own(e, t) && e.TraceID == "" {
			continue
		}
		spoke[e.Party()] = true
		refused = refused || e.HTTP.Status == 401 || e.HTTP.Status == 403
		answered = answered || e.HTTP.Status != 0
		if asker == nil && e.Failed() {
			asker = e
		}
	}
	if asker != nil && asker.Party() != semconv.LayerClient && !spoke[semconv.LayerClient] && !spoke[semconv.LayerIngress] && !spoke[semconv.LayerAPI] {
		return c.lostBehind(asker)
	}
	if spoke[semconv.LayerAPI] {
		for _, behind := range []string{semconv.LayerDB, semconv.LayerOutbox, semconv.LayerWorkflow, semconv.LayerProvider, semconv.LayerAPIAuth} {
			if spoke[behind] || refused && behind == semconv.LayerAPIAuth {
				return []string{semconv.LayerAPI, behind}
			}
		}
		return []string{semconv.LayerAPI}
	}
	switch {
	case refused:
		return []string{semconv.LayerAPI, semconv.LayerAPIAuth}
	case answered || spoke[semconv.LayerIngress]:
		return []string{semconv.LayerIngress, semconv.LayerAPI}
	}
	return []string{semconv.LayerNetwork, semconv.LayerIngress}
}

// lostBehind are who failed to call and whom he names.
func (c *Case) lostBehind(asker *Event) []string {
	party := asker.Party()
	if party == "" {
		return nil
	}
	switch called := LayerOfName(c.Profile, asker.Attr(semconv.ServerAddress)); {
	case called != "" && called != party:
		return []string{party, called}
	case asker.Own(identity.Outbox) != "":
		return []string{semconv.LayerOutbox, party}
	case party == semconv.LayerNodeAgent:
		return []string{party, semconv.LayerIngress}
	case party == semconv.LayerWorkflow:
		return c.lostBehindWorkflow(asker.At, asker.At)
	}
	return []string{party}
}

// lostTask are the API and the agent while the agent is heard of and has not taken the task, else the agent and its machine.
func (c *Case) lostTask(t *Trouble) []string {
	taken := t.Attempt != nil && t.Attempt.Taken != nil
	if !taken && c.aliveOn(semconv.LayerNodeAgent, t.Node, t.From, max(t.At, t.From)) != nil {
		return []string{semconv.LayerAPI, semconv.LayerNodeAgent}
	}
	return []string{semconv.LayerNodeAgent, semconv.LayerNode}
}

// lostStep follows the orders of a step inwards, to the last one that is open.
func (c *Case) lostStep(t *Trouble) []string {
	h := c.Frontier(t.At - 1)
	if h != nil && h.At < t.From-skew {
		h = nil // of a step before
	}
	switch {
	case h != nil && h.To == semconv.LayerWorkflow:
		return c.lostBehindWorkflow(t.From, t.At)
	case h != nil:
		return []string{h.From, h.To}
	}
	ran := slices.ContainsFunc(c.Lifecycle.Workflows, func(w *Run) bool { return w.Changes[len(w.Changes)-1].At >= t.From })
	rows := len(c.Lifecycle.Outbox) > 0 && c.Lifecycle.Outbox[len(c.Lifecycle.Outbox)-1].Last().At >= t.From-skew
	switch {
	case ran:
		return c.lostBehindWorkflow(t.From, t.At)
	case rows && c.Lifecycle.Outbox[len(c.Lifecycle.Outbox)-1].Last().To == semconv.Published:
		return []string{semconv.LayerOutbox, semconv.LayerWorkflow}
	case rows || c.AliveBetween(semconv.LayerOutbox, t.From-lookback, t.At) != nil:
		return []string{semconv.LayerAPI, semconv.LayerOutbox}
	}
	return []string{semconv.LayerAPI, semconv.LayerWorkflow}
}

// askedAt finds whom a workflow says that it asks.
var askedAt = regexp.MustCompile(`\b(?:at|on|to|via|from|asking|calling|for) ([a-z][a-z0-9.-]{2,})\b`)

// lostBehindWorkflow are a workflow and whom it asked last: whom its own words name, else who worked for it or is heard of.
func (c *Case) lostBehindWorkflow(from, to int64) []string {
	asked := ""
	for _, e := range c.Events {
		if e.IsEvent() || e.Layer != semconv.LayerWorkflow || e.At < from || e.At > to {
			continue
		}
		if called := LayerOfName(c.Profile, e.Attr(semconv.ServerAddress)); called != "" && called != e.Layer {
			asked = called
			continue
		}
		for _, m := range askedAt.FindAllStringSubmatch(e.Text, 4) {
			if called := LayerOfName(c.Profile, m[1]); called == semconv.LayerProvider || called == semconv.LayerNodeAgent {
				asked = called
			}
		}
	}
	switch {
	case asked != "":
	case len(c.Lifecycle.Tasks) > 0:
		asked = semconv.LayerNodeAgent
	case len(c.Lifecycle.Jobs) == 0 && c.AliveBetween(semconv.LayerProvider, from-lookback, to) == nil && c.AliveBetween(semconv.LayerNodeAgent, from-lookback, to) != nil:
		asked = semconv.LayerNodeAgent
	default:
		asked = semconv.LayerProvider
	}
	return []string{semconv.LayerWorkflow, asked}
}
