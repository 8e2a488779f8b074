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

	// Worked out once, when they are first asked for.
	failures map[*Trouble][]*Event
	calls    map[string]bool // see userCalls
	hung     map[string]bool // see hangups
	failing  []*Event        // own events that tell of a failure
	quiet    map[*Trouble][]*Event
	all      []*Event // see inTime
}

// Cases groups a gathering by allocation, in order of their ids.
func (g *Gathering) Cases() []*Case {
	own := map[string][]*Event{}
	var context []*Event
	for _, e := range g.Events {
		if e.Allocation != "" {
			own[e.Allocation] = append(own[e.Allocation], e)
		} else {
			context = append(context, e)
		}
	}
	slices.SortFunc(context, compareEvents)
	out := make([]*Case, 0, len(own))
	for id, events := range own {
		c := &Case{ID: id, Profile: g.Profile, Index: g.Index, Now: g.Now, Events: order(events), Context: context}
		c.Lifecycle = readLifecycle(c)
		c.Troubles = findTroubles(c)
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *Case) int { return strings.Compare(a.ID, b.ID) })
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

// AliveBetween says whether a layer's telemetry is proven alive in [from, to]: any record of it, whoever
// it belongs to. It gives the newest such record.
func (c *Case) AliveBetween(layer string, from, to int64) *Event {
	return c.lastBetween(from, to, func(e *Event) bool { return e.inLayer(c.Profile, layer) })
}

// inLayer says whether a record proves that a layer's telemetry is alive: it is the layer's own, or a
// heartbeat of one of its components.
func (e *Event) inLayer(p *profile.Profile, layer string) bool {
	if e.Layer == layer {
		return true
	}
	return e.Is(semconv.EventHeartbeat) && p.Layer(e.Attr(semconv.Component), "", func(string) string { return "" }) == layer
}

// Shows says whether a record proves that a layer's telemetry is alive.
func (c *Case) Shows(e *Event, layer string) bool { return e.inLayer(c.Profile, layer) }

// lastBetween is the newest event in [from, to] of which ok holds, own or context.
func (c *Case) lastBetween(from, to int64, ok func(*Event) bool) *Event {
	all := c.inTime()
	for i := firstAt(all, to+1) - 1; i >= 0 && all[i].At >= from; i-- {
		if ok(all[i]) {
			return all[i]
		}
	}
	return nil
}

// firstAfter is the earliest event after a time of which ok holds, own or context.
func (c *Case) firstAfter(t int64, ok func(*Event) bool) *Event {
	all := c.inTime()
	for _, e := range all[firstAt(all, t+1):] {
		if ok(e) {
			return e
		}
	}
	return nil
}

// Each calls look for every event of [from, to], own and context, in order of time.
func (c *Case) Each(from, to int64, look func(*Event)) {
	all := c.inTime()
	for _, e := range all[firstAt(all, from):] {
		if e.At > to {
			return
		}
		look(e)
	}
}

// inTime is everything, own and context, in order of time.
func (c *Case) inTime() []*Event {
	if c.all == nil {
		c.all = append(slices.Clone(c.Events), c.Context...)
		slices.SortStableFunc(c.all, compareEvents)
	}
	return c.all
}

// firstAt is the position of the first event at or after a time.
func firstAt(events []*Event, t int64) int {
	i, _ := slices.BinarySearchFunc(events, t, func(e *Event, t int64) int {
		if e.At < t {
			return -1
		}
		return 1
	})
	return i
}
