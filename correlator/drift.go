package correlator

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// projectionKey is what one view shows of one field of one thing: of two jobs of an allocation, a view may show the
// one rightly and the other not.
type projectionKey struct{ projection, field, about string }

func projectionKeyOf(e *Event) projectionKey {
	l := projectionKey{projection: e.Attr(semconv.Projection), field: e.Attr(semconv.Field)}
	switch l.field {
	case fieldJobState, fieldMessage:
		l.about = firstOf(e.Own(identity.ProviderJob), e.Attr(semconv.Operation))
	case FieldOccupancy:
		l.about = e.Node
	}
	return l
}

// look is what a view showed once.
type look struct {
	key   projectionKey
	event *Event
	shown string
}

// looks lists, in order, what views showed of the allocation: by events of projections, and by the lines of views that say which state
// they answered with.
func (c *Case) looks() []look {
	type key struct{}
	return c.Memo(key{}, func() any { return c.readLooks() }).([]look)
}

func (c *Case) readLooks() (out []look) {
	for _, e := range c.lookup(indexKey{namedEvent, "", semconv.EventProjection}).own {
		out = append(out, look{projectionKeyOf(e), e, e.Attr(semconv.Value)})
	}
	for _, e := range c.Events {
		if e.Layer != semconv.LayerProjection && e.Layer != semconv.LayerClient || e.IsEvent() || e.Allocation != c.ID || !strings.Contains(e.Text, "state") ||
			!strings.Contains(e.Text, "view") && (e.Layer == semconv.LayerClient || e.HTTP.Method != http.MethodGet) {
			continue // what it works on is not what it answered with; a client shows what it was told
		}
		if m := toldState.FindStringSubmatch(e.Text); m != nil {
			out = append(out, look{projectionKey{projection: e.Service, field: fieldState}, e, m[1]})
		}
	}
	return out
}

// toldState finds the state that a view says it answered with.
var toldState = regexp.MustCompile(`\bstate["']?\s?[=:]\s?["']?([a-z_]+)`)

// The fields of a view that can be compared with a truth.
const (
	fieldState    = "state"
	fieldJobState = "job_state"
	fieldMessage  = "message"
	// FieldOccupancy is what a node is used for.
	FieldOccupancy = "occupancy"
)

// drifts lists the views whose newest look showed something else than the truth had been for longer
// than the view's grace. A value that the profile does not map is shown, never compared.
func drifts(c *Case) (out []Drift, looks []projectionKey) {
	newest := map[projectionKey]look{}
	var keys []projectionKey
	for _, l := range c.looks() {
		if _, known := newest[l.key]; !known {
			keys = append(keys, l.key)
		}
		newest[l.key] = l
	}
	slices.SortFunc(keys, func(a, b projectionKey) int {
		return strings.Compare(a.projection+"\x00"+a.field+"\x00"+a.about, b.projection+"\x00"+b.field+"\x00"+b.about)
	})
	out = []Drift{}
	for _, k := range keys {
		e, shown := newest[k].event, newest[k].shown
		truth, since, wrong := c.shownWrongly(k, shown, e, e.At)
		if !wrong || e.At-since <= int64(c.Profile.Grace(k.projection)) {
			continue
		}
		if _, _, still := c.shownWrongly(k, shown, e, e.At+2*skew); !still {
			continue // a view cannot run ahead of the truth; two clocks can
		}
		out, looks = append(out, Drift{Projection: k.projection, Field: k.field, Shown: shown, Truth: truth, Since: Time(since)}), append(looks, k)
	}
	return out, looks
}

// shownWrongly says whether a shown value cannot stand for what was true at a time, what that was, and since when.
func (c *Case) shownWrongly(k projectionKey, shown string, e *Event, at int64) (truth string, since int64, wrong bool) {
	truths := c.truths(k, e, at)
	for i, t := range truths {
		may, mapped := c.Profile.Stands(k.projection, mapOf(k.field), shown, t.value)
		if !mapped || may {
			return "", 0, false
		}
		if i == 0 || t.since > since {
			truth, since = t.value, t.since
		}
	}
	return truth, since, len(truths) > 0
}

// mapOf is the field by whose map a value is read: a job's message that is one of the words for a job's state
// says that state.
func mapOf(field string) string {
	if field == fieldMessage {
		return fieldJobState
	}
	return field
}

// truth is one value that a view may show, and since when it has been so.
type truth struct {
	value string
	since int64
}

// truths are what a field, as a view showed it, may rightly have been at a time. Empty where nobody knows.
func (c *Case) truths(k projectionKey, e *Event, at int64) []truth {
	switch k.field {
	case fieldState:
		if value, since := c.Lifecycle.stateAt(at); value != "" {
			return []truth{{value, since}}
		}
	case fieldJobState, fieldMessage:
		var out []truth
		job, operation := e.Own(identity.ProviderJob), e.Attr(semconv.Operation)
		for _, j := range c.Lifecycle.Jobs {
			if job != "" && j.ID != job || operation != "" && j.Operation != "" && j.Operation != operation {
				continue
			}
			t := truth{}
			for _, change := range j.Changes {
				if change.At <= at && !strings.EqualFold(change.To, t.value) {
					t = truth{strings.ToLower(change.To), change.At}
				}
			}
			if t.value == "unknown" {
				return nil // the provider tells nobody
			}
			if t.value != "" {
				out = append(out, t)
			}
		}
		return out
	case FieldOccupancy:
		t := truth{}
		for _, o := range c.lookup(indexKey{namedEvent, "", semconv.EventNodeOccupancy}).own {
			if (e.Node == "" || o.Node == e.Node) && o.At <= at && o.To() != t.value {
				t = truth{o.To(), o.At}
			}
		}
		if t.value != "" && t.value != "unknown" {
			return []truth{t}
		}
	}
	return nil
}

// driftFault makes the projection the owner where a view lags and nothing else explains why it, or the
// truth, could not move.
func (j *judgement) driftFault(drifted []projectionKey) {
	if len(j.v.Drift) == 0 || len(j.causes) > 0 || slices.ContainsFunc(j.open, func(t *Trouble) bool { return t.Kind != RequestTrouble || t.Cites[0].At < int64(j.v.Drift[0].Since) }) {
		return
	}
	j.open = nil // what a user was refused by a view that lags
	for i, d := range j.v.Drift {
		var looks []*Event
		for _, l := range j.c.looks() {
			if l.key == drifted[i] && l.event.At >= int64(d.Since) {
				looks = append(looks, l.event)
			}
		}
		if len(looks) == 0 {
			continue
		}
		last := looks[len(looks)-1]
		if grace := int64(j.c.Profile.Grace(d.Projection)); last.At-int64(d.Since) <= grace+2*skew && unrefreshed(last) <= grace {
			continue // shown, but two clocks may make that much
		}
		k := cause{
			ev: Evidence{
				Rule: "projection.stale", Layer: semconv.LayerProjection, Mechanism: "stale", Weight: Telling, Directness: Itself, Certain: true,
				Records: looks, Onset: int64(d.Since), Last: last.At,
				Summary:    "the " + d.Projection + " view shows " + d.Shown + " while the " + d.Field + " has been " + d.Truth,
				NextCheck:  "the updater of the " + d.Projection + " view: is it running, and what did it last apply?",
				SafeAction: "act on the control plane's state; replay the projection",
			},
			troubles: []*Trouble{{Kind: DriftTrouble, From: int64(d.Since), At: last.At, What: "the " + d.Projection + " view is stale", Cites: looks}},
			party:    d.Projection + "/" + d.Field + "/" + drifted[i].about,
		}
		j.causes = append(j.causes, k)
		said := j.why.begin(k.troubles[0])
		said.weigh([]Evidence{k.ev}, 1)
		said.rule(Attributed, "nothing else explains why the view, or the truth, could not move")
	}
}

// lagFault makes the projection the owner of a view that was behind for long and is no more, as it would have been while it was, where nothing else
// was wrong meanwhile.
func (j *judgement) lagFault() {
	alone := len(j.causes) == 0 && len(j.open) == 0 && !slices.ContainsFunc(j.c.Troubles(), func(t *Trouble) bool { return t.Kind != DriftTrouble && t.Kind != RequestTrouble })
	for _, t := range j.lagged {
		d := j.why.of(t)
		if !alone || j.c.toldInPart(t.From) {
			d.rule(RulingRecovered, "it shows what is since "+Time(t.Cleared).Milli()+", and others were in trouble, too")
			continue
		}
		ev := Evidence{
			Rule: "projection.stale", Layer: semconv.LayerProjection, Mechanism: "stale", Weight: Telling, Directness: Itself, Records: t.Cites, Onset: t.From, Last: t.Cleared,
			Summary:    t.What,
			NextCheck:  "what the view's updater last applied before, and what it began with afterwards",
			SafeAction: "replay what it missed; the control plane's state was right",
		}
		j.add(ev, t, support{})
		d.weigh([]Evidence{ev}, 1)
		d.rule(Attributed, "nothing else was wrong meanwhile")
	}
}

// toldInPart says whether whoever tells of an allocation's states went quiet, or was for a while, since a time: then a view may have shown what was, and
// what is known of it be old.
func (c *Case) toldInPart(since int64) bool {
	return slices.ContainsFunc(c.Lifecycle.States, func(s Change) bool {
		return s.Event.Layer != "" && (c.WentQuiet(s.Event.Layer) || c.PausedSince(s.Event.Layer, since))
	})
}

// unrefreshed is how long a view had not been refreshed when it was looked at, by its own account and its own clock;
// 0 where it does not say.
func unrefreshed(look *Event) int64 {
	asOf, err := record.ParseTime(look.Attr(semconv.AsOf))
	if err != nil || asOf > look.At {
		return 0
	}
	return look.At - asOf
}
