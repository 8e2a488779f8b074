package rules

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// poll reads who asked for work: an agent takes its tasks by asking the API, over and over.
func poll() []correlator.Rule {
	return []correlator.Rule{{
		ID: "node_agent.asks_no_more", Layer: semconv.LayerNodeAgent, Mechanism: "stuck",
		Looks:      "a task that nobody claimed, on a node whose agent asked for work before, asks no more, and whose peers do",
		NextCheck:  "what the agent waits for: its own dump of goroutines or threads",
		SafeAction: "restart the agent; do not reimage",
		Find:       asksNoMore,
	}, {
		ID: "api.hands_out_nothing", Layer: semconv.LayerAPI, Mechanism: "dispatch",
		Looks:      "a task that nobody claimed, on a node whose agent went on asking for work and was told that there is none",
		NextCheck:  "what the API selects tasks by: node, state, lease, the view that it reads",
		SafeAction: "the agent needs nothing; do not reimage",
		Find:       handsOutNothing,
	}, {
		ID: "node_agent.former_identity", Layer: semconv.LayerNodeAgent, Mechanism: "identity",
		Looks:      "a task that nobody claimed, on a node whose agent goes on asking for work under a node instance that is over",
		NextCheck:  "where the agent reads who it is from, and when that was written",
		SafeAction: "remove the former state and restart the agent; do not reimage",
		Find:       asksAsFormer,
	}, {
		ID: "ingress.answers_itself", Layer: semconv.LayerIngress, Mechanism: "cache",
		Looks:      "a task that nobody claimed, on a node whose questions for work a proxy answers without asking the API",
		NextCheck:  "what the proxy caches, and for how long",
		SafeAction: "do not cache such questions; the agent and the API need nothing",
		Find:       answersItself,
	}}
}

// asked are the questions for work that others saw: of the trouble's node before and after the task was queued, and of
// other nodes after.
type askedFor struct{ before, after, peers []*correlator.Event }

// asksWithin is how long before a task was queued an agent may have asked for work for the last time, in nanoseconds.
const asksWithin = int64(30 * time.Minute)

func questions(c *correlator.Case, t *correlator.Trouble) (q askedFor) {
	if !t.NeverTaken() || t.Node == "" || t.Attempt.Queued == nil {
		return q
	}
	queued := t.Attempt.Queued.At
	until := c.Now
	if t.Cleared != 0 {
		until = t.Cleared - 1
	}
	if t.Attempt.Over != nil {
		until = min(until, t.Attempt.Over.At) // from then on there is nothing to hand out
	}
	c.Each(queued-asksWithin, until, func(e *correlator.Event) {
		if !asksForWork(e) {
			return
		}
		switch of := strings.Contains(e.HTTP.Path, t.Node) || e.Node == t.Node || correlator.Names(e, t.Node); {
		case of && e.At < queued:
			q.before = append(q.before, e)
		case of && e.At > queued+moment:
			q.after = append(q.after, e)
		case !of && e.At > queued:
			q.peers = append(q.peers, e)
		}
	})
	return q
}

// asksForWork says whether a record tells of an agent's question for its next task that was answered.
func asksForWork(e *correlator.Event) bool {
	if e.IsEvent() {
		return false
	}
	path := e.HTTP.Path
	if path == "" || e.HTTP.Status == 0 {
		if path = answeredPath(e.Text); path == "" {
			return false
		}
	} else if e.HTTP.Status >= 300 {
		return false
	}
	return holds(path, []string{"task", "claim", "work", "lease", "job", "poll", "next"}) && (e.Node != "" || strings.Contains(path, "node") || strings.Contains(e.Text, "node"))
}

// answered is how services and agents put a request that went well into words, answeredShort how they put one for work without its method.
var (
	answered      = regexp.MustCompile(`\b(?:get|post) (?:https?://[^/\s]+)?(/\S+)(?: http/[0-9.]+"?)?:? 2\d\d\b`)
	answeredShort = regexp.MustCompile(`\b(tasks?/(?:wait|claim|next|poll))\b(?:[^:]{0,40}:|[^\n]{0,160};)? (?:(?:answered )?2\d\d|nothing offered|nothing handed out)\b`)
)

// answeredPath is the path of a request that a text tells went well, "" where it tells of none.
func answeredPath(text string) string {
	if m := answered.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	if strings.Contains(text, "task") {
		if m := answeredShort.FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	return ""
}

// longestQuestion is how long an agent's question for work may be held open until there is some, or an answer that there is none.
const longestQuestion = int64(30 * time.Second)

func asksNoMore(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	q := questions(c, t)
	if len(q.after) > 0 || !t.NeverTaken() || t.Node == "" || t.Attempt.Queued == nil || asksInVain(c, t) {
		return nil
	}
	if len(q.before) == 0 || len(q.peers) == 0 {
		return beatsAlone(c, t, q)
	}
	if len(q.before) == 1 && c.LastOf(semconv.LayerNodeAgent, t.Node, t.Attempt.Queued.At+moment, t.At) == nil {
		return nil // one question alone may be all that was kept of many, but for an agent that is heard of otherwise
	}
	last := q.before[len(q.before)-1]
	if t.At-last.At < longestQuestion {
		return nil // it may still wait for the answer to its last one
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Caller, Certain: true, Onset: last.At,
		Records: append([]*correlator.Event{last, q.peers[len(q.peers)-1]}, t.Cites...),
		Summary: "the agent of " + t.Node + " asked for work until " + correlator.Time(last.At).Milli() + " and no more, while others go on asking",
	}}
}

// asksInVain says whether an agent tells, after the task was queued, of a question for work that was answered with a refusal: it does ask.
func asksInVain(c *correlator.Case, t *correlator.Trouble) bool {
	return slices.ContainsFunc(c.Failures(t), func(e *correlator.Event) bool {
		return e.Layer == semconv.LayerNodeAgent && e.Node == t.Node && !e.IsEvent() && e.At > t.Attempt.Queued.At && refusedPoll.MatchString(e.Text)
	})
}

// refusedPoll finds a question for work that was refused: "tasks/wait: 400 Bad Request".
var refusedPoll = regexp.MustCompile(`\btasks?/(?:wait|claim|next|poll)\b[^:]{0,40}: [45]\d\d\b`)

// beatsAlone finds an agent whose signs of life are accepted while a task waits for it, and of which no question for work is seen, before or after, while others'
// are: it has set itself aside.
func beatsAlone(c *correlator.Case, t *correlator.Trouble, q askedFor) []correlator.Evidence {
	var accepted *correlator.Event
	asks := false
	c.Each(t.Attempt.Queued.At+moment, t.At, func(e *correlator.Event) {
		path := e.HTTP.Path
		if m := answered.FindStringSubmatch(e.Text); m != nil && path == "" {
			path = m[1]
		}
		switch of := e.Node == t.Node || strings.Contains(path, t.Node); {
		case e.IsEvent() || !of:
		case strings.Contains(path, "heartbeat") && e.HTTP.Status < 300:
			accepted = e
		case path != "" || e.Failed() && e.Layer == semconv.LayerNodeAgent:
			asks = true // in vain, perhaps
		}
	})
	own := c.LastOf(semconv.LayerNodeAgent, t.Node, t.Attempt.Queued.At+moment, t.At)
	if accepted == nil || own == nil || asks || len(q.peers) == 0 {
		return missedByAPI(c, t)
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Caller, Onset: t.From,
		Records: append([]*correlator.Event{accepted, q.peers[len(q.peers)-1], own}, t.Cites...),
		Summary: "the agent of " + t.Node + " lives and asks for no work, while others do" + quote(own),
	}}
}

// askedByNode finds that an API counts who asked it for work: "tasks/wait by node: n-60=2 n-61=0".
func askedByNode(text, node string) bool {
	counted := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n,;", r) })
	return (strings.Contains(text, "tasks/wait") || strings.Contains(text, "polls")) && slices.Contains(counted, strings.ToLower(node)+"=0") && otherCounts.MatchString(text)
}

// otherCounts finds that somebody else is counted more than once.
var otherCounts = regexp.MustCompile(`[a-z0-9][=:][1-9]\d*(?:[\s,;]|$)`)

// asksNone finds that somebody tells of a node whose heartbeats come, and which has asked for no work.
var asksNone = regexp.MustCompile(`\bheartbeats?\b.{0,60}\b(?:(?:not|never|no longer|stopped) (?:been )?(?:polled|polling|asked|asking|poll|ask)|no (?:poll|polls|tasks/wait)|last (?:tasks/wait|poll|polled|asked))\b`)

// missedByAPI finds the API's own word that an agent lives and asks for nothing, while a task waits for it.
func missedByAPI(c *correlator.Case, t *correlator.Trouble) (found []correlator.Evidence) {
	c.Each(t.Attempt.Queued.At, t.At, func(e *correlator.Event) {
		if found == nil && !e.IsEvent() && e.Party() == semconv.LayerAPI && strings.Contains(e.Text, "heartbeat") && correlator.Names(e, t.Node) && asksNone.MatchString(e.Text) || found == nil && !e.IsEvent() && e.Party() == semconv.LayerAPI && strings.Contains(e.Text, "=0") && askedByNode(e.Text, t.Node) &&
			c.LastOf(semconv.LayerNodeAgent, t.Node, t.Attempt.Queued.At, t.At) != nil && (closeTo(t, e) || correlator.EveryReaderHas(e)) {
			found = []correlator.Evidence{{
				Weight: correlator.Telling, Directness: correlator.Caller, Onset: t.From, Records: append([]*correlator.Event{e}, t.Cites...),
				Summary: "the agent of " + t.Node + " lives and asks for no work" + quote(e),
			}}
		}
	})
	return found
}

func handsOutNothing(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	if full := tellsFull(c, t); len(full) > 0 {
		return hasNoRoom(t, full)
	}
	q := questions(c, t)
	if none := wantsNothing(c, t, q); len(none) > 0 {
		return hasNoRoom(t, none)
	}
	asked := slices.ContainsFunc(q.after, func(e *correlator.Event) bool { return !ownAnswer(e) })
	if len(q.after) < 2 || !asked || len(asFormer(c, t, q)) > 0 {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Telling, Directness: correlator.Caller, Onset: t.From,
		Records: append(append([]*correlator.Event(nil), q.after...), t.Cites...),
		Summary: "the agent of " + t.Node + " went on asking for work and was told that there is none, while a task was queued for it",
	}}
}

func hasNoRoom(t *correlator.Trouble, told []*correlator.Event) []correlator.Evidence {
	return []correlator.Evidence{{
		Rule: "node_agent.takes_nothing", Layer: semconv.LayerNodeAgent, Mechanism: "stuck", Weight: correlator.Telling, Directness: correlator.Itself, Certain: true, Onset: t.From,
		Records: append(told, t.Cites...), Summary: "the agent of " + t.Node + " asks for work and has no room for any" + quote(told[0]),
		NextCheck: "what holds the agent's slots", SafeAction: "restart the agent; do not reimage",
	}}
}

// worksOnAnother says whether another task of the trouble's machine is told to be under way.
func worksOnAnother(c *correlator.Case, t *correlator.Trouble) bool {
	return slices.ContainsFunc(c.Lifecycle.Tasks, func(a *correlator.Attempt) bool {
		return a.Node == t.Node && a.Taken != nil && a.Taken.At < t.At && (a.Over == nil || a.Over.At > t.From)
	})
}

// slotsTaken finds how many of an agent's slots are taken, and how many it has.
var slotsTaken = regexp.MustCompile(`\bslots?(?: busy| used| in use)?[ :=]+(\d+)/(\d+)\b`)

// tellsFull are an agent's own words, while a task lay queued for its machine, that none of its slots is free, though no task of the machine is told to be
// under way.
func tellsFull(c *correlator.Case, t *correlator.Trouble) (out []*correlator.Event) {
	if !t.NeverTaken() || t.Node == "" || t.Attempt.Queued == nil || worksOnAnother(c, t) {
		return nil
	}
	c.EachIn(semconv.LayerNodeAgent, t.Attempt.Queued.At, t.At, func(e *correlator.Event) {
		if e.IsEvent() || !correlator.Names(e, t.Node) {
			return
		}
		if m := slotsTaken.FindStringSubmatch(e.Text); m != nil && m[1] == m[2] && m[1] != "0" || m == nil && holds(e.Text, noRoom) {
			out = append(out, e)
		} else if m != nil {
			out = nil // one became free
		}
	})
	return out
}

// wantsNothing are the questions of an agent which says with each that it has no room for work, while no task of its machine is told to be under way.
func wantsNothing(c *correlator.Case, t *correlator.Trouble, q askedFor) (out []*correlator.Event) {
	if worksOnAnother(c, t) {
		return nil
	}
	for _, e := range q.after {
		if holds(e.Text+" "+strings.ToLower(e.HTTP.Path), noRoom) {
			out = append(out, e)
		}
	}
	if len(out) < len(q.after) {
		return nil
	}
	return out
}

// noRoom are the words of a question for work by who can take none.
var noRoom = []string{"capacity=0", "slots=0", "free=0", "max=0", "limit=0"}

// asFormer are the questions for work under another node instance than the task's, which did not come to life since: there is nothing to
// be had for that one.
func asFormer(c *correlator.Case, t *correlator.Trouble, q askedFor) (out []*correlator.Event) {
	if t.Instance == "" {
		return nil
	}
	since := map[string]bool{t.Instance: true, "": true}
	c.EachEvent(semconv.EventNodeInstance, t.Attempt.Queued.At, c.Now, func(e *correlator.Event) { since[e.Own(identity.NodeInstance)] = true })
	for _, e := range q.after {
		if e.Party() == semconv.LayerNodeAgent && !since[e.Own(identity.NodeInstance)] {
			out = append(out, e)
		}
	}
	return out
}

func asksAsFormer(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	q := questions(c, t)
	if len(q.after) < 2 {
		return nil
	}
	asked := asFormer(c, t, q)
	if len(asked) == 0 {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Specific, Directness: correlator.Itself, Certain: len(asked) > 1, Onset: asked[0].At, Records: append(asked, t.Cites...),
		Summary: "the agent of " + t.Node + " asks for work as " + asked[0].Own(identity.NodeInstance) + ", which is over" + quote(asked[0]),
	}}
}

// byProxy are the questions that a proxy answered by itself, where the API saw none of that node's and is asked by others.
func byProxy(q askedFor) (out []*correlator.Event) {
	for _, e := range q.after {
		switch {
		case ownAnswer(e):
			out = append(out, e)
		case e.Party() == semconv.LayerAPI || e.Party() == semconv.LayerIngress && e.HTTP.Upstream != "":
			return nil
		}
	}
	if len(out) < 2 || !slices.ContainsFunc(q.peers, func(e *correlator.Event) bool { return e.Party() == semconv.LayerAPI || e.HTTP.Upstream != "" }) {
		return nil
	}
	return out
}

// ownAnswer says whether a proxy tells of a request that it asked nobody about.
func ownAnswer(e *correlator.Event) bool {
	return e.Party() == semconv.LayerIngress && e.HTTP.Proxied && e.HTTP.Upstream == ""
}

func answersItself(c *correlator.Case, t *correlator.Trouble) []correlator.Evidence {
	q := questions(c, t)
	own := byProxy(q)
	if len(own) == 0 {
		return nil
	}
	return []correlator.Evidence{{
		Weight: correlator.Specific, Directness: correlator.Itself, Certain: true, Onset: own[0].At, Records: append(append(own, q.peers[len(q.peers)-1]), t.Cites...),
		Summary: "the ingress answers the questions of " + t.Node + " for work by itself, and the API is not asked" + quote(own[0]),
	}}
}
