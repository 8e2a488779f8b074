package kubeobject

import (
	"slices"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Scope is the instrumentation scope of what was read out of objects, so that it can be told from what
// an emitter said itself.
const Scope = "faultline.kubeobject"

// MaxEvents bounds what one object can mean; those of the platforms that are known mean about ten.
const MaxEvents = 64

// Outcome says what a record's body was.
type Outcome uint8

// The outcomes.
const (
	None    Outcome = iota // no Kubernetes object
	Unknown                // an object of a kind that no mapping knows
	Broken                 // an object without uid or resourceVersion
	Read                   // an object that was read
)

// String is the outcome's label in metrics.
func (o Outcome) String() string { return [...]string{"none", "kind_unknown", "broken", "read"}[o] }

// Mappings are what a profile knows of objects. Of two for one kind and group the first counts.
type Mappings []*Mapping

// Derive reads the lifecycle events that a record's body means. They are records of their own, with
// the resource of the record and the name of the object's controller; r itself is untouched. The same
// object in the same version gives the same events with the same event_id, however often it is seen.
func (ms Mappings) Derive(r *record.Record) ([]*record.Record, Outcome) {
	if len(ms) == 0 {
		return nil, None
	}
	o, broken := parse(r)
	if o == nil {
		return nil, None
	}
	m := ms.of(o)
	switch {
	case m == nil:
		return nil, Unknown
	case broken:
		return nil, Broken
	}
	return m.derive(r, o), Read
}

// MayDerive says whether Derive could give anything, at the cost of looking for three words.
func (ms Mappings) MayDerive(r *record.Record) bool { return len(ms) > 0 && plausible(r) }

func (ms Mappings) of(o *object) *Mapping {
	for _, m := range ms {
		if m.kind == o.kind && slices.Contains(m.groups, o.group) {
			return m
		}
	}
	return nil
}

func (m *Mapping) derive(r *record.Record, o *object) []*record.Record {
	s := &scene{object: o, lists: map[string]any{}, ids: map[string]string{}, resource: func(name string) string {
		v, _ := r.Resource.Get(name)
		return v
	}}
	for _, l := range m.lists {
		s.lists[l.name] = l.elements(s)
	}
	for i := range m.identifiers {
		if v := m.identifiers[i].eval(s); identity.ValidID(v) {
			s.ids[m.identifiers[i].name] = v
		}
	}
	base := m.base(r, s)
	var out []*record.Record
	said, chosen := map[string]bool{}, map[string]bool{}
	for i := range m.events {
		e := &m.events[i]
		if e.choice != "" && chosen[e.choice] {
			continue
		}
		for _, s.item = range e.items(s) {
			if !e.holds(s) {
				continue
			}
			chosen[e.choice] = true
			if d := e.record(base, s); d != nil {
				if id, _ := d.Attrs.Get(semconv.EventIDKey); !said[id] && len(out) < MaxEvents {
					said[id] = true
					out = append(out, d)
				}
			}
		}
		s.item = nil
	}
	return out
}

// base is what all events of an object share.
func (m *Mapping) base(r *record.Record, s *scene) *record.Record {
	d := &record.Record{
		Signal: record.Log, Time: r.Time, Observed: r.Observed, Ingested: r.Ingested, Scope: Scope,
		Severity: 9, SeverityText: "INFO", Service: r.Service, Resource: r.Resource, Stamped: nil,
	}
	if at := timeOf(first(m.changed, s)); at != 0 {
		d.Time = at
	} else if at := s.written(); at != 0 {
		d.Time = at
	}
	if m.service != "" {
		attrs := r.Resource.Map()
		attrs[semconv.ServiceName] = m.service
		d.Service, d.Resource = m.service, record.FromMap(attrs)
	}
	return d
}

func (l *list) elements(s *scene) []any {
	out := []any{}
	for _, p := range l.places {
		switch v := p.path.lookup(s).(type) {
		case []any:
			for _, element := range v {
				out = p.add(out, element)
			}
		case map[string]any:
			out = p.add(out, v)
		}
	}
	return out
}

func (p *place) add(out []any, element any) []any {
	m, ok := element.(map[string]any)
	if !ok {
		return out
	}
	if len(p.with) > 0 {
		c := make(map[string]any, len(m)+len(p.with))
		for k, v := range m {
			c[k] = v
		}
		for k, v := range p.with {
			c[k] = v
		}
		m = c
	}
	return append(out, m)
}

// items are what the event is about: the elements of its list, or the object alone.
func (e *event) items(s *scene) []any {
	if e.each == "" {
		return []any{nil}
	}
	all, _ := s.lists[e.each].([]any)
	if e.latest == "" {
		return all
	}
	last := map[string]int{}
	field := func(v any) string { m, _ := v.(map[string]any); return scalar(m[e.latest]) }
	for i, v := range all {
		last[field(v)] = i
	}
	var out []any
	for i, v := range all {
		if last[field(v)] == i {
			out = append(out, v)
		}
	}
	return out
}

func (e *event) holds(s *scene) bool {
	for i := range e.when {
		if !e.when[i].holds(s) {
			return false
		}
	}
	return true
}

// record is the event, nil where it would lack what makes it one.
func (e *event) record(base *record.Record, s *scene) *record.Record {
	values := map[string]string{}
	for name, id := range s.ids {
		values[name] = id
	}
	for i := range e.attributes {
		name, v := e.attributes[i].name, e.attributes[i].eval(s)
		if identity.KindOfAttribute(name) != identity.NoKind || name == semconv.SubjectID || name == semconv.ObjectID {
			if !identity.ValidID(v) {
				v = ""
			}
		} else {
			v = redact(v)
		}
		if v != "" {
			values[name] = v
		}
	}
	for _, name := range needed[e.name] {
		if values[name] == "" {
			return nil
		}
	}
	d := *base
	version := s.revision
	if created := s.created(); e.name == semconv.EventBinding && created != 0 {
		d.Time, version = created, "" // holds for the object's whole life: one statement, however often it is written
	}
	values[semconv.EventIDKey] = eventID(e.name, version, values, s)
	values["k8s.object.kind"], values["k8s.object.name"] = s.kind, s.name
	if s.namespace != "" {
		values["k8s.namespace.name"] = s.namespace
	}
	d.Name, d.Attrs = e.name, record.FromMap(values)
	return &d
}

// eventID names one statement about one version of one object.
func eventID(name, version string, values map[string]string, s *scene) string {
	id := s.uid + "/" + version + "/" + name
	if s.watch == deleted && version != "" {
		id += "/deleted"
	}
	for _, key := range []string{semconv.Projection, semconv.Field, semconv.ProviderJob, semconv.SubjectKind, semconv.SubjectID} {
		if v := values[key]; v != "" {
			id += "/" + v
		}
	}
	return id
}
