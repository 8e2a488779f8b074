package query

import (
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/identity"
)

// Peers knows with which traces and correlations the identifiers of one operation were seen. A record
// that names no trace (or correlation) by itself belongs to the one that the strongest of its other
// identifiers was seen with, if that is only one. Workflows, resources and allocations outlive single
// operations and lead to none.
type Peers struct {
	seen map[identity.Key][]identity.Key
}

// NewPeers knows nothing yet.
func NewPeers() *Peers { return &Peers{map[identity.Key][]identity.Key{}} }

// operation are the kinds that live within one operation, strongest first.
var operation = [...]identity.Kind{
	identity.Task, identity.Claim, identity.ProviderJob, identity.Outbox, identity.Request, identity.Trace,
}

// Add learns a link.
func (p *Peers) Add(f identity.Link) {
	for _, pair := range [...][2]identity.Key{{f.Subject, f.Object}, {f.Object, f.Subject}} {
		whole, part := pair[0], pair[1]
		if whole.Kind != identity.Trace && whole.Kind != identity.Correlation || !slices.Contains(operation[:], part.Kind) {
			continue
		}
		if !slices.Contains(p.seen[part], whole) {
			p.seen[part] = append(p.seen[part], whole)
		}
	}
}

// Of gives the trace or correlation that a record with these keys belongs to, "" where it names none
// and its identifiers lead to none or to several.
func (p *Peers) Of(kind identity.Kind, keys identity.Keys) string {
	if own := keys.First(kind); own != "" {
		return own
	}
	for _, k := range operation {
		found := ""
		for _, key := range keys {
			if key.Kind != k || k == kind {
				continue
			}
			for _, whole := range p.seen[key] {
				switch {
				case whole.Kind != kind:
				case found != "" && found != whole.ID:
					return "" // of two operations: which one is not known
				default:
					found = whole.ID
				}
			}
		}
		if found != "" {
			return found
		}
	}
	return ""
}

// Holds says whether an event is in the selection: it is resolved, and what it names is known to p.
func (s Selection) Holds(e *correlator.Event, p *Peers) bool {
	if !s.Covers(e.Time) {
		return false
	}
	k := s.Key
	if k.Kind == identity.Allocation {
		return e.Allocation == k.ID
	}
	if e.Keys.Has(k) {
		return true
	}
	switch k.Kind {
	case identity.Node:
		return e.Node == k.ID
	case identity.NodeInstance:
		return e.NodeInstance == k.ID
	case identity.Workflow:
		return e.Workflow == k.ID
	}
	return p.Of(k.Kind, e.Keys) == k.ID
}
