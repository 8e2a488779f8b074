package kubeobject

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Document is the YAML form of what one kind of object means.
type Document struct {
	Kind   string `yaml:"kind"`
	Groups Words  `yaml:"groups"`
	// Service is whose word the events are: service.name of the controller that writes the object.
	Service string `yaml:"service"`
	// Changed are fields that say when the object was last written; else the API server's own notes.
	Changed Words `yaml:"changed"`
	// Lists are named lists that conditions and events use as $name: the elements at all these places.
	Lists map[string][]ListPath `yaml:"lists"`
	// Identifiers stand on every event: allocation_id, node_id, resource_uid …
	Identifiers map[string]Expression `yaml:"identifiers"`
	Events      []Event               `yaml:"events"`
}

// ListPath is where elements of a list stand: a list, or one object that counts as a list of one.
type ListPath struct {
	Path string            `yaml:"path"`
	With map[string]string `yaml:"with"` // what an element that stands here is known to be
}

// Event is one lifecycle event that an object may mean.
type Event struct {
	Name string `yaml:"name"`
	// Choice: of the events with the same choice only the first whose conditions hold is meant.
	Choice string `yaml:"choice"`
	// Each is a list, by name; the event is meant once for an element. Latest keeps of the elements that
	// agree in this field only the last: what came before was said when it was true.
	Each       string                `yaml:"each"`
	Latest     string                `yaml:"latest"`
	When       []Condition           `yaml:"when"`
	Attributes map[string]Expression `yaml:"attributes"`
}

// Mapping is a checked Document. It is immutable.
type Mapping struct {
	kind, service string
	groups        []string
	changed       []path
	lists         []list
	identifiers   []attribute
	events        []event
}

type list struct {
	name   string
	places []place
}

type place struct {
	path path
	with map[string]string
}

type attribute struct {
	name string
	expression
}

type event struct {
	name, choice, each, latest string
	when                       []condition
	attributes                 []attribute
}

// needed is what an event must say to be one (docs/contract.md §3).
var needed = map[string][]string{
	semconv.EventAllocationState: {semconv.AllocationID, semconv.To},
	semconv.EventProviderState:   {semconv.ProviderJob, semconv.To},
	semconv.EventProviderPoll:    {semconv.ProviderJob, semconv.PollOK},
	semconv.EventProjection:      {semconv.Projection, semconv.Field, semconv.Value},
	semconv.EventNodeAssigned:    {semconv.NodeID, semconv.AllocationID},
	semconv.EventNodeUnassigned:  {semconv.NodeID, semconv.AllocationID},
	semconv.EventNodeInstance:    {semconv.NodeID, semconv.NodeInstanceID, semconv.To},
	semconv.EventNodeOccupancy:   {semconv.NodeID, semconv.To},
	semconv.EventBinding:         {semconv.SubjectKind, semconv.SubjectID, semconv.ObjectKind, semconv.ObjectID},
}

// Compile checks a document. bad takes what is wrong with the key at a path within it.
func (d *Document) Compile(bad func(at []any, err error)) *Mapping {
	m := &Mapping{kind: d.Kind, groups: d.Groups, service: d.Service}
	fail := func(err error, at ...any) {
		if err != nil {
			bad(at, err)
		}
	}
	if d.Kind == "" || len(d.Groups) == 0 {
		fail(fmt.Errorf("an object needs its kind and the groups of its API"))
	}
	if d.Kind == "Secret" || d.Kind == "ConfigMap" {
		fail(fmt.Errorf("%s holds what must not leave the cluster", d.Kind), "kind")
	}
	for i, text := range d.Changed {
		p, err := parsePath(text)
		fail(err, "changed", i)
		m.changed = append(m.changed, p)
	}
	for name, places := range d.Lists {
		l := list{name: name}
		for i, pl := range places {
			p, err := parsePath(pl.Path)
			fail(err, "lists", name, i)
			l.places = append(l.places, place{p, pl.With})
		}
		m.lists = append(m.lists, l)
	}
	slices.SortFunc(m.lists, func(a, b list) int { return cmp.Compare(a.name, b.name) })
	m.identifiers = compileAll(d.Identifiers, bad, "identifiers")
	for name := range d.Identifiers {
		if identity.KindOfAttribute(name) == identity.NoKind {
			fail(fmt.Errorf("%q is no identifier key", name), "identifiers", name)
		}
	}
	for i := range d.Events {
		m.events = append(m.events, d.event(i, fail, bad))
	}
	return m
}

func (d *Document) event(i int, fail func(error, ...any), bad func([]any, error)) event {
	e := &d.Events[i]
	out := event{name: e.Name, choice: e.Choice, each: e.Each, latest: e.Latest}
	must, known := needed[e.Name]
	if !known {
		fail(fmt.Errorf("event %q is none that an object can mean", e.Name), "events", i, "name")
	}
	for _, name := range must {
		_, own := e.Attributes[name]
		_, common := d.Identifiers[name]
		if !own && !common {
			fail(fmt.Errorf("%s needs the attribute %s", e.Name, name), "events", i)
		}
	}
	if _, ok := d.Lists[e.Each]; e.Each != "" && !ok {
		fail(fmt.Errorf("each: there is no list %q", e.Each), "events", i, "each")
	}
	for j, w := range e.When {
		c, err := w.compile()
		fail(err, "events", i, "when", j)
		out.when = append(out.when, c)
	}
	out.attributes = compileAll(e.Attributes, bad, "events", i, "attributes")
	return out
}

func compileAll(all map[string]Expression, bad func([]any, error), at ...any) []attribute {
	var out []attribute
	for name, e := range all {
		c, err := e.compile()
		if err != nil {
			bad(append(slices.Clone(at), name), err)
		}
		out = append(out, attribute{name, c})
	}
	slices.SortFunc(out, func(a, b attribute) int { return cmp.Compare(a.name, b.name) })
	return out
}
