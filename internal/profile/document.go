package profile

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/kubeobject"
	"github.com/faultline-io/faultline/internal/semconv"
)

// document is the YAML form of a profile.
type document struct {
	Name        string           `yaml:"name"`
	Extends     kubeobject.Words `yaml:"extends"`
	Layers      []string         `yaml:"layers"`
	NodeSharing string           `yaml:"node_sharing"`
	Owners      map[string]Owner `yaml:"owners"`
	Catalog     []struct {
		Layer      string            `yaml:"layer"`
		Services   []string          `yaml:"services"`
		Scope      string            `yaml:"scope"`
		Attributes map[string]string `yaml:"attributes"`
	} `yaml:"catalog"`
	Extract struct {
		Attributes map[string]string `yaml:"attributes"`
		Fields     []string          `yaml:"fields"` // attributes that are read in the text of a line too
		Patterns   []patternDocument `yaml:"patterns"`
		Ignore     []patternDocument `yaml:"ignore"`
		Except     []patternDocument `yaml:"except"`
		NeverBind  []string          `yaml:"never_bind"`
	} `yaml:"extract"`
	// Severities raise lines whose words say more than their level.
	Severities []struct {
		Severity string   `yaml:"severity"` // warn or error
		Service  string   `yaml:"service"`
		Contains []string `yaml:"contains"`
		Regexp   string   `yaml:"regexp"`
	} `yaml:"severities"`
	// Fallback is what may be said where nothing names a cause: "" or "first_failure".
	Fallback    string                `yaml:"fallback"`
	Objects     []kubeobject.Document `yaml:"objects"`
	Projections map[string]struct {
		Grace  duration                               `yaml:"grace"`
		Values map[string]map[string]kubeobject.Words `yaml:"values"`
	} `yaml:"projections"`
	Budgets struct {
		States    map[string]duration `yaml:"states"`
		TaskClaim duration            `yaml:"task_claim"`
		TaskLease duration            `yaml:"task_lease"`
		Heartbeat duration            `yaml:"heartbeat"`
		Provider  duration            `yaml:"provider_job"`
		Cancel    duration            `yaml:"cancel"`
		Outbox    duration            `yaml:"outbox"`
		Request   duration            `yaml:"request"`
	} `yaml:"budgets"`
}

type patternDocument struct {
	Kind      string   `yaml:"kind"`
	Contains  []string `yaml:"contains"`
	Regexp    string   `yaml:"regexp"`
	Service   string   `yaml:"service"`
	ID        string   `yaml:"id"`        // the identifier made of what was found: "aap/main/job/$1"
	Attribute string   `yaml:"attribute"` // where to look instead of in the line
}

// duration reads "90s", "10m".
type duration time.Duration

// UnmarshalYAML implements yaml.Unmarshaler; its errors carry the line.
func (d *duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil || v < 0 {
		return fmt.Errorf("line %d: %q is not a duration such as 90s or 10m", n.Line, n.Value)
	}
	*d = duration(v)
	return nil
}

// apply lays a document over a profile that it extends (the zero Profile for none). bad takes what is
// wrong with the key at a path within the document.
func (d *document) apply(p *Profile, bad badKey) {
	p.Name = d.Name
	if len(d.Layers) > 0 {
		p.Layers = d.Layers
	}
	switch d.NodeSharing {
	case "":
	case "exclusive", "shared":
		p.SharedNodes = d.NodeSharing == "shared"
	default:
		bad(keys("node_sharing"), "%q is neither exclusive nor shared", d.NodeSharing)
	}
	p.Owners = merged(p.Owners, d.Owners)
	for layer := range d.Owners {
		if !p.Knows(layer) {
			bad(keys("owners", layer), "%q is not among layers", layer)
		}
	}
	var catalog []catalogRule
	for i, c := range d.Catalog {
		if !p.Knows(c.Layer) {
			bad(keys("catalog", i), "layer %q is not among layers", c.Layer)
		}
		if len(c.Services) == 0 && c.Scope == "" && len(c.Attributes) == 0 {
			bad(keys("catalog", i), "names no services, scope or attributes and would match everything")
		}
		catalog = append(catalog, catalogRule{c.Layer, c.Services, c.Scope, c.Attributes})
	}
	p.catalog = append(catalog, p.catalog...)
	p.proxies = map[string]bool{}
	for _, c := range p.catalog {
		for _, s := range c.services {
			p.proxies[s] = p.proxies[s] || c.layer == semconv.LayerIngress
		}
	}
	d.applyExtract(p, bad)
	d.applyObjects(p, bad)
	d.applyProjections(p, bad)
	d.applyBudgets(p)
	d.applySeverities(p, bad)
}

// applyObjects puts a document's own mappings before those that it extends: the first counts.
func (d *document) applyObjects(p *Profile, bad badKey) {
	var own kubeobject.Mappings
	for i := range d.Objects {
		own = append(own, d.Objects[i].Compile(func(at []any, err error) {
			bad(append(keys("objects", i), at...), "%w", err)
		}))
	}
	p.objects = append(own, p.objects...)
}

func (d *document) applyExtract(p *Profile, bad badKey) {
	p.attributes = maps.Clone(p.attributes)
	if p.attributes == nil {
		p.attributes = builtinAttributes()
	}
	for name, key := range d.Extract.Attributes {
		k := identity.KindOfAttribute(key)
		if k == identity.NoKind {
			bad(keys("extract", "attributes", name), "%q is no identifier key", key)
			continue
		}
		p.attributes[strings.ToLower(name)] = k
	}
	for i, name := range d.Extract.Fields {
		if k := p.attributes[strings.ToLower(name)]; k == identity.NoKind || len(name) < endingBytes {
			bad(keys("extract", "fields", i), "%q is no attribute that holds an identifier", name)
		} else {
			p.fields = p.fields.with(name, k)
		}
	}
	for _, name := range d.Extract.NeverBind {
		delete(p.attributes, strings.ToLower(name))
		if k := identity.ParseKind(name); k != identity.NoKind {
			maps.DeleteFunc(p.attributes, func(_ string, of identity.Kind) bool { return of == k })
		}
	}
	for i, doc := range d.Extract.Patterns {
		k := identity.ParseKind(doc.Kind)
		if k == identity.NoKind {
			bad(keys("extract", "patterns", i, "kind"), "kind %q is none of allocation, workflow, …, request, resource", doc.Kind)
			continue
		}
		pt, at, err := doc.compile(k)
		switch {
		case err != nil:
			bad(keys("extract", "patterns", i, at), "%w", err)
		case doc.Attribute != "":
			p.values = maps.Clone(p.values)
			if p.values == nil {
				p.values = map[string][]pattern{}
			}
			p.values[doc.Attribute] = append(slices.Clip(p.values[doc.Attribute]), pt)
		default:
			p.patterns = append(slices.Clip(p.patterns), pt)
		}
	}
	for _, list := range []struct {
		key  string
		docs []patternDocument
		to   *[]pattern
	}{{"ignore", d.Extract.Ignore, &p.ignore}, {"except", d.Extract.Except, &p.except}} {
		for i, doc := range list.docs {
			if doc.Kind != "" || doc.ID != "" || doc.Attribute != "" {
				bad(keys("extract", list.key, i), "kind, id, attribute: what is left out has none")
			}
			if pt, at, err := doc.compile(identity.NoKind); err != nil {
				bad(keys("extract", list.key, i, at), "%w", err)
			} else {
				*list.to = append(slices.Clip(*list.to), pt)
			}
		}
	}
}

func (d *document) applySeverities(p *Profile, bad badKey) {
	switch d.Fallback {
	case "":
	case "first_failure":
		p.fallback = true
	default:
		bad(keys("fallback"), "%q is not first_failure", d.Fallback)
	}
	numbers := map[string]int{"warn": 13, "error": 17}
	for i, doc := range d.Severities {
		pt, at, err := patternDocument{Contains: doc.Contains, Regexp: doc.Regexp, Service: doc.Service}.compile(identity.NoKind)
		switch {
		case err != nil:
			bad(keys("severities", i, at), "%w", err)
		case numbers[doc.Severity] == 0:
			bad(keys("severities", i, "severity"), "%q is neither warn nor error", doc.Severity)
		default:
			p.severities = append(slices.Clip(p.severities), severityRule{pt, numbers[doc.Severity]})
		}
	}
}

// compile gives the pattern, or the key that is wrong.
func (doc patternDocument) compile(k identity.Kind) (pt pattern, at string, err error) {
	re, err := regexp.Compile(doc.Regexp)
	switch {
	case err != nil:
		return pt, "regexp", err
	case doc.Regexp == "":
		return pt, "regexp", errors.New("regexp is empty and would find nothing")
	case doc.Attribute != "":
	case len(doc.Contains) == 0 || slices.Contains(doc.Contains, ""):
		return pt, "contains", errors.New("contains is empty; name text that every matching line holds, so that other lines cost nothing")
	}
	pt = pattern{kind: k, literals: doc.Contains, re: re, service: doc.Service, id: doc.ID, shape: shapeOf(doc.Regexp)}
	pt.implied = pt.shape != nil && pt.id == "" && pt.shape.implies(pt.literals)
	return pt, "", nil
}

// applyProjections adds to what is known of each view; a value that was known is known anew.
func (d *document) applyProjections(p *Profile, bad badKey) {
	projections, grace := map[string]map[string]map[string][]string{}, maps.Clone(p.grace)
	if grace == nil {
		grace = map[string]time.Duration{}
	}
	for name, fields := range p.projections {
		projections[name] = map[string]map[string][]string{}
		for field, values := range fields {
			projections[name][field] = maps.Clone(values)
		}
	}
	for name, pr := range d.Projections {
		if projections[name] == nil {
			projections[name] = map[string]map[string][]string{}
		}
		for field, values := range pr.Values {
			if projections[name][field] == nil {
				projections[name][field] = map[string][]string{}
			}
			for shown, states := range values {
				if slices.Contains(states, "") {
					bad(keys("projections", name, "values", field, shown), "a state is empty; [] says that the value stands for none")
				}
				projections[name][field][strings.ToLower(shown)] = states
			}
		}
		if pr.Grace > 0 {
			grace[name] = time.Duration(pr.Grace)
		}
	}
	p.projections, p.grace = projections, grace
}

func (d *document) applyBudgets(p *Profile) {
	b := &p.budgets
	b.States = maps.Clone(b.States)
	if b.States == nil {
		b.States = map[string]time.Duration{}
	}
	for state, v := range d.Budgets.States {
		b.States[state] = time.Duration(v)
	}
	for _, set := range []struct {
		to   *time.Duration
		from duration
	}{
		{&b.TaskClaim, d.Budgets.TaskClaim}, {&b.TaskLease, d.Budgets.TaskLease}, {&b.Heartbeat, d.Budgets.Heartbeat},
		{&b.Provider, d.Budgets.Provider}, {&b.Cancel, d.Budgets.Cancel}, {&b.Outbox, d.Budgets.Outbox}, {&b.Request, d.Budgets.Request},
	} {
		if set.from > 0 {
			*set.to = time.Duration(set.from)
		}
	}
}

func merged(base, over map[string]Owner) map[string]Owner {
	out := maps.Clone(base)
	if out == nil {
		out = map[string]Owner{}
	}
	maps.Copy(out, over)
	return out
}
