package rules

import (
	"regexp"
	"strings"

	"github.com/faultline-io/faultline/correlator"
)

// applicationNamed finds which application a rollout's own program speaks of (Argo CD, Flux, Helm).
var applicationNamed = regexp.MustCompile(`\b(?:application|app|helmrelease|kustomization|release)(?:\.name|name)?[ =:/\\]+"?(?:[a-z0-9-]+/)?([a-z][a-z0-9-]{3,})`)

// ofStrangeApplication says whether a rollout's program speaks of an application that nobody else names and no program here is called after: it is none
// of the platform's.
func ofStrangeApplication(c *correlator.Case, e *correlator.Event) bool {
	m := applicationNamed.FindStringSubmatch(e.Text)
	if m == nil || correlator.LayerOfName(c.Profile, m[1]) != "" {
		return false
	}
	for service := range heard(c).parties {
		if sharesPart(m[1], service) {
			return false
		}
	}
	for _, own := range c.Events {
		if !own.IsEvent() && strings.Contains(own.Text, m[1]) {
			return false
		}
	}
	return true
}

// sharesPart says whether two names have a part in common that is long enough to mean something.
func sharesPart(a, b string) bool {
	for part := range strings.SplitSeq(a, "-") {
		if len(part) >= shortestName && strings.Contains(strings.ToLower(b), part) {
			return true
		}
	}
	return false
}
