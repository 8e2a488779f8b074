package profile

import (
	"slices"
	"strings"
)

// catalogRule gives the layer of records that match all that it names.
type catalogRule struct {
	layer      string
	services   []string
	scope      string
	attributes map[string]string
}

func (c *catalogRule) matches(service, scope string, attr func(string) string) bool {
	if !c.takes(service) {
		return false
	}
	if c.scope != "" && !wildcard(c.scope, scope) {
		return false
	}
	for k, v := range c.attributes {
		if !wildcard(v, attr(k)) {
			return false
		}
	}
	return true
}

// takes says whether a rule is for records of a service.
func (c *catalogRule) takes(service string) bool {
	return len(c.services) == 0 || slices.ContainsFunc(c.services, func(s string) bool { return wildcard(s, service) })
}

// wildcard compares text with a pattern that may end in *.
func wildcard(pattern, text string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(text, prefix)
	}
	return pattern == text
}

// indexCatalog notes for each service that a rule names whole which rules it may match: every record of every signal asks, and most rules are of other services.
func (p *Profile) indexCatalog() {
	p.byService, p.unnamed = map[string][]int{}, nil
	for i := range p.catalog {
		for _, s := range p.catalog[i].services {
			p.byService[s] = nil
		}
		if c := &p.catalog[i]; len(c.services) == 0 || slices.ContainsFunc(c.services, func(s string) bool { return strings.HasSuffix(s, "*") }) {
			p.unnamed = append(p.unnamed, i)
		}
	}
	for service := range p.byService {
		for i := range p.catalog {
			if p.catalog[i].takes(service) {
				p.byService[service] = append(p.byService[service], i)
			}
		}
	}
}

// rulesOf are the places in the catalog of the rules that a service may match.
func (p *Profile) rulesOf(service string) []int {
	if rules, named := p.byService[service]; named {
		return rules
	}
	return p.unnamed
}
