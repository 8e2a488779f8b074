package correlator

import (
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Case is all that is known of one allocation when it is judged.
type Case struct {
	ID      string
	Profile *profile.Profile
	Index   *identity.Index
	Now     int64    // the newest observed time, or as_of
	Events  []*Event // the allocation's own, in causal order
	Context []*Event // records that belong to nobody, in order of time; they can be cited, never attributed

	Lifecycle Lifecycle
	Troubles  []*Trouble
	Durations Durations // what such steps took elsewhere; nil where nobody knows

	families []family // spans whose parent is there too

	// Worked out once, when they are first asked for.
	failures map[*Trouble][]*Event
	calls    map[string]bool // see userCalls
	hung     map[string]bool // see hangups
	lost     map[string]bool // see misroutes
	failing  spanning        // own events that tell of a failure
	quiet    map[*Trouble][]*Event
	threads  map[string][]*Event // see thread
	seen     map[sight][]*Event  // selections of the allocation's own
	silences []silence           // layers of which nothing was heard when it would have decided; see gaps
	around   *surroundings       // what belongs to nobody, shared by all cases
	others   *signs              // what layers said of anyone; nil where nobody else is known
	borrowed []*Event            // signs of life of other allocations that were given to rules
	grace    int64               // how long before Now what was observed may still be under way
}

// Cases groups a gathering by allocation, in order of their ids.
func (g *Gathering) Cases() []*Case {
	own := map[string]*pile{}
	var context []*Event
	last := &pile{}
	for _, e := range g.Events {
		if e.Allocation == "" {
			context = append(context, e)
			continue
		}
		if e.Allocation != last.name { // mostly they are one's
			if last = own[e.Allocation]; last == nil {
				last = &pile{name: e.Allocation}
				own[e.Allocation] = last
			}
		}
		last.events = append(last.events, e)
	}
	context = inTime(context)
	around := &surroundings{events: context}
	out := make([]*Case, 0, len(own))
	for id, p := range own {
		c := &Case{ID: id, Profile: g.Profile, Index: g.Index, Now: g.Now, Context: context, around: around}
		c.Events, c.families = order(p.events)
		c.Lifecycle = readLifecycle(c)
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *Case) int { return strings.Compare(a.ID, b.ID) })
	took := g.Durations
	if took == nil && len(out) >= enough {
		here := &Learnt{}
		for _, c := range out {
			for _, f := range c.Lifecycle.finished(c.ID) {
				here.Add(f.Step, f.Took)
			}
		}
		took = here
	}
	alive := signsOf(out)
	for _, c := range out {
		c.Durations, c.others = took, alive
		c.Troubles = findTroubles(c)
	}
	return out
}

// ContextBetween gives the context records of [from, to).
func (c *Case) ContextBetween(from, to int64) []*Event {
	i, j := firstAt(c.Context, from), firstAt(c.Context, to)
	return c.Context[i:max(i, j)]
}

// Names says whether an event speaks of a machine: by its identifier, or by naming it in its words.
func Names(e *Event, node string) bool {
	if node == "" {
		return false
	}
	if e.Node != "" {
		return e.Node == node
	}
	return e.Attr(semconv.HostName) == node || mentions(e.Text, strings.ToLower(node)) ||
		mentions(strings.ToLower(e.Attr(semconv.TLSPeerSubject)), strings.ToLower(node))
}

// mentions finds a whole word; "node-1" is not mentioned by "node-12".
func mentions(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(word)
		if (i == 0 || !wordByte(text[i-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		from = i + 1
	}
}

func wordByte(b byte) bool {
	return b == '-' || b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z'
}
