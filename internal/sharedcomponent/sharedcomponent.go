package sharedcomponent

import (
	"context"
	"sync"

	"go.opentelemetry.io/collector/component"
)

// Components are those that a factory has made, by their configuration: signals that share one component
// get the same pointer to it. It is safe for concurrent use.
type Components[Config comparable, C component.Component] struct {
	mu   sync.Mutex
	made map[Config]*Shared[C]
}

// Shared is one component and how many signals use it. It is a component itself, to be started and shut
// down by each of them.
type Shared[C component.Component] struct {
	Component C

	forget  func()
	started sync.Once
	failed  error // of the start

	mu    *sync.Mutex // of Components
	users int
}

// Get gives the component of a configuration to one more signal. The first signal creates it; what create
// refuses is asked for again the next time.
func (s *Components[Config, C]) Get(cfg Config, create func() (C, error)) (*Shared[C], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	shared := s.made[cfg]
	if shared == nil {
		c, err := create()
		if err != nil {
			return nil, err
		}
		if s.made == nil {
			s.made = map[Config]*Shared[C]{}
		}
		shared = &Shared[C]{Component: c, mu: &s.mu, forget: func() { delete(s.made, cfg) }}
		s.made[cfg] = shared
	}
	shared.users++
	return shared, nil
}

// Start starts the component with its first signal; the others wait for that start and share its error.
func (s *Shared[C]) Start(ctx context.Context, host component.Host) error {
	s.started.Do(func() { s.failed = s.Component.Start(ctx, host) })
	return s.failed
}

// Shutdown shuts the component down with its last signal and forgets it.
func (s *Shared[C]) Shutdown(ctx context.Context) error {
	if !s.leave() {
		return nil
	}
	return s.Component.Shutdown(ctx)
}

// leave says whether the signal that leaves was the last.
func (s *Shared[C]) leave() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	if s.users != 0 { // others use it still, or it is shut down already
		return false
	}
	s.forget()
	return true
}
