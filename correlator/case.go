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

	failures map[*Trouble][]*Event
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
	at := func(t int64) int {
		i, _ := slices.BinarySearchFunc(c.Context, t, func(e *Event, t int64) int {
			if e.At < t {
				return -1
			}
			return 1
		})
		return i
	}
	i, j := at(from), at(to)
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
	var last *Event
	for _, list := range [][]*Event{c.Events, c.ContextBetween(from, to+1)} {
		for _, e := range list {
			if e.At >= from && e.At <= to && (last == nil || compareEvents(last, e) < 0) && ok(e) {
				last = e
			}
		}
	}
	return last
}

// firstAfter is the earliest event after a time of which ok holds, own or context.
func (c *Case) firstAfter(t int64, ok func(*Event) bool) *Event {
	var first *Event
	for _, list := range [][]*Event{c.Events, c.ContextBetween(t, c.Now+1)} {
		for _, e := range list {
			if e.At > t && (first == nil || compareEvents(e, first) < 0) && ok(e) {
				first = e
			}
		}
	}
	return first
}

// Each calls look for every event of [from, to], own and context, in order of time.
func (c *Case) Each(from, to int64, look func(*Event)) {
	var all []*Event
	for _, e := range c.Events {
		if e.At >= from && e.At <= to {
			all = append(all, e)
		}
	}
	all = append(all, c.ContextBetween(from, to+1)...)
	slices.SortStableFunc(all, compareEvents)
	for _, e := range all {
		look(e)
	}
}
