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
	"github.com/faultline-io/faultline/internal/semconv"
)

// document is the YAML form of a profile.
type document struct {
	Name        string           `yaml:"name"`
	Extends     string           `yaml:"extends"`
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
		Patterns   []patternDocument `yaml:"patterns"`
		Ignore     []patternDocument `yaml:"ignore"`
		Except     []patternDocument `yaml:"except"`
		NeverBind  []string          `yaml:"never_bind"`
	} `yaml:"extract"`
	Projections map[string]struct {
		Grace  duration                     `yaml:"grace"`
		Values map[string]map[string]string `yaml:"values"`
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
	Kind     string   `yaml:"kind"`
	Contains []string `yaml:"contains"`
	Regexp   string   `yaml:"regexp"`
	Service  string   `yaml:"service"`
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

// apply lays a document over a profile that it extends (the zero Profile for none).
func (d *document) apply(p *Profile) error {
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }

	p.Name = d.Name
	if len(d.Layers) > 0 {
		p.Layers = d.Layers
	}
	switch d.NodeSharing {
	case "":
	case "exclusive", "shared":
		p.SharedNodes = d.NodeSharing == "shared"
	default:
		bad("node_sharing: %q is neither exclusive nor shared", d.NodeSharing)
	}
	p.Owners = merged(p.Owners, d.Owners)
	for layer := range d.Owners {
		if !p.Knows(layer) {
			bad("owners: %q is not among layers", layer)
		}
	}
	var catalog []catalogRule
	for i, c := range d.Catalog {
		if !p.Knows(c.Layer) {
			bad("catalog[%d]: layer %q is not among layers", i, c.Layer)
		}
		if len(c.Services) == 0 && c.Scope == "" && len(c.Attributes) == 0 {
			bad("catalog[%d]: names no services, scope or attributes and would match everything", i)
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
	d.applyProjections(p)
	d.applyBudgets(p)
	return errors.Join(problems...)
}

func (d *document) applyExtract(p *Profile, bad func(string, ...any)) {
	p.attributes = maps.Clone(p.attributes)
	if p.attributes == nil {
		p.attributes = builtinAttributes()
	}
	for name, key := range d.Extract.Attributes {
		k := identity.KindOfAttribute(key)
		if k == identity.NoKind {
			bad("extract.attributes: %s: %q is no identifier key", name, key)
			continue
		}
		p.attributes[strings.ToLower(name)] = k
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
			bad("extract.patterns[%d]: kind %q is none of allocation, workflow, …, request, resource", i, doc.Kind)
			continue
		}
		if pt, err := doc.compile(k); err != nil {
			bad("extract.patterns[%d]: %w", i, err)
		} else {
			p.patterns = append(slices.Clip(p.patterns), pt)
		}
	}
	for _, list := range []struct {
		key  string
		docs []patternDocument
		to   *[]pattern
	}{{"ignore", d.Extract.Ignore, &p.ignore}, {"except", d.Extract.Except, &p.except}} {
		for i, doc := range list.docs {
			if doc.Kind != "" {
				bad("extract.%s[%d]: kind: what is left out has none", list.key, i)
			}
			if pt, err := doc.compile(identity.NoKind); err != nil {
				bad("extract.%s[%d]: %w", list.key, i, err)
			} else {
				*list.to = append(slices.Clip(*list.to), pt)
			}
		}
	}
}

func (doc patternDocument) compile(k identity.Kind) (pattern, error) {
	re, err := regexp.Compile(doc.Regexp)
	if err != nil {
		return pattern{}, err
	}
	if len(doc.Contains) == 0 {
		return pattern{}, errors.New("contains is empty; name text that every matching line holds, so that other lines cost nothing")
	}
	return pattern{k, doc.Contains, re, doc.Service}, nil
}

func (d *document) applyProjections(p *Profile) {
	p.projections, p.grace = maps.Clone(p.projections), maps.Clone(p.grace)
	if p.projections == nil {
		p.projections, p.grace = map[string]map[string]map[string]string{}, map[string]time.Duration{}
	}
	for name, pr := range d.Projections {
		fields := map[string]map[string]string{}
		for field, values := range pr.Values {
			fields[field] = map[string]string{}
			for shown, state := range values {
				fields[field][strings.ToLower(shown)] = state
			}
		}
		p.projections[name] = fields
		if pr.Grace > 0 {
			p.grace[name] = time.Duration(pr.Grace)
		}
	}
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
