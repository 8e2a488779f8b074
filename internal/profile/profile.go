package profile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/kubeobject"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Profile is a loaded and checked profile. It is immutable and safe for concurrent use.
type Profile struct {
	Name        string
	Layers      []string
	SharedNodes bool
	Owners      map[string]Owner // by layer

	catalog     []catalogRule
	byService   map[string][]int // places in the catalog of the rules that a service may match, in order
	unnamed     []int            // the same for a service that no rule names whole
	attributes  map[string]identity.Kind
	patterns    []pattern
	ignore      []pattern // lines that belong to no allocation, whatever they name
	severities  []severityRule
	fallback    bool                 // see FirstFailure
	except      []pattern            // identifiers, by where they stand, of things that everybody uses
	values      map[string][]pattern // by attribute that holds more than an identifier
	fields      fields
	prefilter   prefilter // tells the lines that hold none of the literals and fields
	named       uint32    // the fields' bit in it
	objects     kubeobject.Mappings
	projections map[string]map[string]map[string][]string // projection → field → shown (lower case) → states
	grace       map[string]time.Duration
	budgets     Budgets
	proxies     map[string]bool // services whose lines may be access lines
}

// Owner is who to call for a layer.
type Owner struct {
	Team    string `yaml:"team" json:"team,omitempty"`
	Contact string `yaml:"contact" json:"contact,omitempty"`
	Runbook string `yaml:"runbook" json:"runbook,omitempty"`
}

// Budgets are how long a step may take before it is overdue, by the event that must follow.
type Budgets struct {
	States    map[string]time.Duration // allocation state → longest stay
	TaskClaim time.Duration            // queued → dispatched
	TaskLease time.Duration            // dispatched or last sign of life → result
	Heartbeat time.Duration            // silence after which a component counts as silent
	Provider  time.Duration            // provider job: launched → terminal
	Cancel    time.Duration            // cancel requested → terminal
	Outbox    time.Duration            // pending → published
	Request   time.Duration            // a user's request failed → a retry of it succeeded
}

// Layer decides a record's layer: what the emitter states, if the profile knows that layer; else the
// first rule of the catalog that matches; else "".
func (p *Profile) Layer(service, scope string, attr func(string) string) string {
	if stated := attr(semconv.Layer); stated != "" && slices.Contains(p.Layers, stated) {
		return stated
	}
	for _, i := range p.rulesOf(service) {
		if p.catalog[i].matches(service, scope, attr) {
			return p.catalog[i].layer
		}
	}
	return ""
}

// Knows says whether the profile has a layer of that name.
func (p *Profile) Knows(layer string) bool { return slices.Contains(p.Layers, layer) }

// Budgets of the platform's steps.
func (p *Profile) Budgets() Budgets { return p.budgets }

// Shown maps a projected value to the state that it stands for, comparing without regard to case.
// mapped is false where the profile does not know the value, or where it stands for several states:
// then it can be shown, never compared with one.
func (p *Profile) Shown(projection, field, value string) (state string, mapped bool) {
	if states := p.standsFor(projection, field, value); len(states) == 1 {
		return states[0], true
	}
	return "", false
}

// Stands says whether a projected value may stand for a state. known is false where the profile does
// not map the value: then it can be shown, never compared.
func (p *Profile) Stands(projection, field, value, state string) (may, known bool) {
	states := p.standsFor(projection, field, value)
	for _, s := range states {
		may = may || strings.EqualFold(s, state)
	}
	return may, len(states) > 0
}

func (p *Profile) standsFor(projection, field, value string) []string {
	value = strings.ToLower(value)
	for _, name := range [...]string{projection, "*"} {
		if states, ok := p.projections[name][field][value]; ok {
			return states
		}
	}
	return nil
}

// Objects is what the profile knows of Kubernetes objects.
func (p *Profile) Objects() kubeobject.Mappings { return p.objects }

// Grace is how long a view may lag behind the truth before the difference is drift.
func (p *Profile) Grace(projection string) time.Duration {
	if g, ok := p.grace[projection]; ok {
		return g
	}
	return p.grace["*"]
}

// pattern finds identifiers in the text of a line.
type pattern struct {
	kind     identity.Kind
	bit      uint32   // of the literals, in the profile's prefilter
	literals []string // the line must hold one of them, any case ignored not: a cheap test before the expression
	re       *regexp.Regexp
	shape    *shape // finds what re finds, nil where it is not of fixed length
	implied  bool   // what shape finds holds one of the literals anyway
	service  string
	id       string // what the identifier is made into, with $1 for the first group; "" leaves it as found
}

func (p pattern) String() string { return fmt.Sprintf("%s %s", p.kind, p.re) }

// severityRule raises the severity of lines whose words say more than their level.
type severityRule struct {
	pattern
	severity int
}

// Severity is a record's severity number: the stated one, or the one that the profile reads from its words
// where that is higher.
func (p *Profile) Severity(service, body string, stated int) int {
	for i := range p.severities {
		s := &p.severities[i]
		if s.severity > stated && (s.service == "" || wildcard(s.service, service)) && containsAny(body, s.literals) && s.re.MatchString(body[:min(len(body), maxTextBytes)]) {
			stated = s.severity
		}
	}
	return stated
}

// FirstFailure says whether, where nothing names a cause, the layer that failed first may be named: true of
// platforms whose layers call each other and log their own exceptions.
func (p *Profile) FirstFailure() bool { return p.fallback }
