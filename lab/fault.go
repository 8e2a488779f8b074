package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Fault is one way in which the lab can be made to fail: what really is wrong, where that shows, and what a
// verdict must say of the allocations that it cost something.
type Fault struct {
	Name        string   `json:"name"`
	Layer       string   `json:"layer"` // whose it is
	Mechanism   string   `json:"mechanism"`
	Description string   `json:"description"`
	ShowsIn     []string `json:"shows_in"` // layers whose records have traces of it
	Expected    string   `json:"expected"` // attributed, or undetermined where telemetry cannot prove an owner

	providers bool   // it is one of the hub, AAP or EDA, or of the way to them
	worker    bool   // it is one inside the provisioner, which must listen for it
	story     string // whose allocations meet it first; "": healthy
	meets     meeting
	inject    func(l *lab, t target) (heal func() error, err error)
	way       func(l *lab, t target) string // how it is made, where there is more than one way; nil: there is one
}

// meeting says which allocations a fault can have cost something, as the lab knows from their lives.
type meeting uint8

const (
	byRequest meeting = iota // a request of their client failed meanwhile
	byNode                   // somebody worked for them meanwhile, on one of the nodes
	byAgent                  // … on any node
	byWork                   // somebody worked for them meanwhile
	byAAP                    // … by a job of AAP's
	byEDA                    // … by a job of EDA's
	byView                   // a view that had them shows what they no longer are
)

// What a verdict must be.
const (
	expectAttributed   = "attributed"
	expectUndetermined = "undetermined"
)

// target is what a fault is injected into.
type target struct {
	pool  string
	nodes []string // of byNode
}

// Faults is the catalog: every fault that the lab can make, by family.
func Faults() []Fault {
	return slices.Concat(certFaults(), ingressFaults(), authFaults(), apiFaults(), nodeFaults(), crashFaults(), providerFaults(), dbFaults(), insideFaults(), rolloutFaults(), viewFaults())
}

// CheckFault says whether there is a fault of that name, and if not, which one may be meant.
func CheckFault(name string) error {
	_, err := faultNamed(name)
	return err
}

func faultNamed(name string) (Fault, error) {
	var near []string
	for _, f := range Faults() {
		if f.Name == name {
			return f, nil
		}
		if alike(f.Name, name) {
			near = append(near, f.Name)
		}
	}
	if len(near) > 0 {
		slices.SortStableFunc(near, func(a, b string) int { return cmp.Compare(distance(a, name), distance(b, name)) })
		near = near[:min(len(near), 3)]
		return Fault{}, fmt.Errorf("no fault is called %q; is it %s?", name, strings.Join(near, ", "))
	}
	return Fault{}, fmt.Errorf("no fault is called %q; faultline-lab list shows them", name)
}

// distance is small where two names begin alike.
func distance(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return len(a) + len(b) - 2*n
}

// alike tells whether two names share a word, or one begins as the other.
func alike(have, want string) bool {
	if want == "" {
		return false
	}
	words := strings.FieldsFunc(have, func(r rune) bool { return r == '_' })
	for _, w := range strings.FieldsFunc(strings.ToLower(want), func(r rune) bool { return r == '_' || r == '-' || r == ' ' || r == '.' }) {
		if len(w) > 2 && slices.ContainsFunc(words, func(x string) bool { return strings.HasPrefix(x, w) || strings.HasPrefix(w, x) && len(x) > 2 }) {
			return true
		}
	}
	return false
}

// injection is a fault that is on, or was.
type injection struct {
	fault  Fault
	target target
	from   time.Time
	to     time.Time // zero: it is on
	heal   func() error
	timer  *time.Timer
}

// met tells whether an allocation met the fault, and whether that cost it something: a request, its end, or
// more time than such lives take. after is how long who was turned away may stay away when the fault has ended.
func (i *injection) met(v *life, normal, after time.Duration) (met, cost bool) {
	until, back, began := i.to, i.to, v.began
	if !until.IsZero() {
		until, back = until.Add(slack), back.Add(after)
	}
	switch i.fault.meets {
	case byView:
		return i.shownWrongly(v)
	case byRequest:
		met = v.failedBetween(i.from, until)
	case byNode:
		began = v.placed
		met = slices.Contains(i.target.nodes, v.node) && v.overlaps(began, i.from, back)
	case byAgent:
		began = v.placed
		met = v.node != "" && v.overlaps(began, i.from, back)
	case byAAP:
		met = v.story.pool == poolAAP && v.overlaps(began, i.from, back)
	case byEDA:
		met = v.story.pool == poolEDA && v.overlaps(began, i.from, back)
	default:
		met = v.overlaps(began, i.from, back)
	}
	if !met || v.collateral(i.from, until) {
		return false, false
	}
	if !i.to.IsZero() && began.After(i.to) && !v.story.served {
		began = v.placed // who waits for a node that others hold has not met it
	}
	late := !began.IsZero() && v.late(began, normal)
	return true, late || v.failedBetween(i.from, until) || !v.ended.IsZero() && v.end != v.story.end
}

// shownWrongly tells whether the allocation moved on after the view had stopped, and for longer than a view may lag.
func (i *injection) shownWrongly(v *life) (met, cost bool) {
	moved := v.activeAt
	if moved.Before(i.from) {
		moved = v.ended
	}
	until := i.to
	if until.IsZero() {
		until = time.Now()
	}
	met = v.began.Before(i.from) && moved.After(i.from) && moved.Before(until)
	return met, met && until.Sub(moved) > viewLag
}

// viewLag is how long a view may show what no longer is: the lab's grace, and a look or two.
const viewLag = 15 * time.Second

// slack is how long after its end a fault may still be felt by a request that had begun before.
const slack = 2 * upstreamTime

// Story is the one whose allocations meet the fault first.
func (f Fault) Story() string {
	if f.story == "" {
		return "healthy"
	}
	return f.story
}

// NeedsProviders says whether the fault is one of the hub, AAP or EDA.
func (f Fault) NeedsProviders() bool { return f.providers }
