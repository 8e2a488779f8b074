package query

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Scope says whose allocations a question may be answered with. The zero value is everybody's: who asks without a caller (the
// command line over files, judging) is limited by nothing.
type Scope struct {
	limited bool
	tenants []string
}

// OfTenants limits to the allocations of some tenants; with none of them nothing is to be seen.
func OfTenants(tenants ...string) Scope { return Scope{true, slices.Clone(tenants)} }

// Limited says whether anything is hidden.
func (s Scope) Limited() bool { return s.limited }

// Sees says whether an allocation of this tenant may be seen; nobody's ("") is seen by those alone who see all.
func (s Scope) Sees(tenant string) bool {
	return !s.limited || tenant != "" && slices.Contains(s.tenants, tenant)
}

type scopeKey struct{}

// WithScope gives a context in which questions are limited.
func WithScope(ctx context.Context, s Scope) context.Context {
	return context.WithValue(ctx, scopeKey{}, s)
}

// ScopeOf is the scope of a context.
func ScopeOf(ctx context.Context) Scope {
	s, _ := ctx.Value(scopeKey{}).(Scope)
	return s
}

// ErrScope says that a question is about the platform as a whole, of which a caller with some tenants sees nothing.
var ErrScope = errors.New("is about all tenants: only who may see all of them may ask")

// tenant is whose an allocation is, "" for nobody's.
func (s *Service) tenant(ctx context.Context, allocation string) (string, error) {
	if s.Overview != nil {
		if tenant, ok := s.Overview.Tenant(allocation); ok {
			return tenant, nil
		}
	}
	if s.Labels == nil {
		return "", nil
	}
	labels, err := s.Labels.LabelsOf(ctx, allocation)
	if err != nil {
		return "", err
	}
	for _, l := range labels {
		if l.Name == LabelTenant {
			return l.Value, nil
		}
	}
	return "", nil
}

// sees says whether the caller may see an allocation.
func (s *Service) sees(ctx context.Context, allocation string) (bool, error) {
	scope := ScopeOf(ctx)
	if !scope.limited {
		return true, nil
	}
	if allocation == "" {
		return false, nil
	}
	tenant, err := s.tenant(ctx, allocation)
	return scope.Sees(tenant), err
}

// admit is ErrUnknown for an allocation that the caller may not see: that there is one is nobody else's business.
func (s *Service) admit(ctx context.Context, allocation string) error {
	ok, err := s.sees(ctx, allocation)
	if err == nil && !ok {
		err = ErrUnknown
	}
	return err
}

// only keeps the allocations that the caller may see.
func (s *Service) only(ctx context.Context, allocations []string) ([]string, error) {
	if !ScopeOf(ctx).limited {
		return allocations, nil
	}
	var out []string
	for _, id := range allocations {
		ok, err := s.sees(ctx, id)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, id)
		}
	}
	return out, nil
}

// onlySeen streams the events that the caller may see: those of allocations of its tenants.
func (s *Service) onlySeen(ctx context.Context, all iter.Seq2[*correlator.Event, error]) iter.Seq2[*correlator.Event, error] {
	if !ScopeOf(ctx).limited {
		return all
	}
	known := map[string]bool{}
	return func(yield func(*correlator.Event, error) bool) {
		for e, err := range all {
			if err == nil {
				seen, asked := known[e.Allocation]
				if !asked {
					if seen, err = s.sees(ctx, e.Allocation); err == nil {
						known[e.Allocation] = seen
					}
				}
				if err == nil && !seen {
					continue
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// hideOthers leaves out of a timeline the records of allocations that the caller may not see: a rule may cite their signs of life and what they
// were answered.
func (s *Service) hideOthers(ctx context.Context, a correlator.Allocation) (correlator.Allocation, error) {
	if !ScopeOf(ctx).limited {
		return a, nil
	}
	kept := make([]correlator.Entry, 0, len(a.Timeline))
	for _, e := range a.Timeline {
		other := e.IDs[semconv.AllocationID]
		if other != "" && other != a.ID {
			ok, err := s.sees(ctx, other)
			if err != nil {
				return a, err
			}
			if !ok {
				continue
			}
		}
		kept = append(kept, e)
	}
	a.Timeline = kept
	return a, nil
}
