package sharedcomponent

import (
	"context"
	"errors"
	"testing"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
)

type counting struct {
	starts, shutdowns int
	refuses           error
}

func (c *counting) Start(context.Context, component.Host) error { c.starts++; return c.refuses }
func (c *counting) Shutdown(context.Context) error              { c.shutdowns++; return nil }

// Signals of one configuration share a component, which lives from the first start to the last shutdown.
func TestOneComponentAConfiguration(t *testing.T) {
	var all Components[*string, *counting]
	made := 0
	get := func(cfg *string) *Shared[*counting] {
		s, err := all.Get(cfg, func() (*counting, error) { made++; return &counting{}, nil })
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	one, other := new(string), new(string)
	logs, traces, elsewhere := get(one), get(one), get(other)
	if logs.Component != traces.Component || logs.Component == elsewhere.Component || made != 2 {
		t.Fatalf("%d components were made", made)
	}
	for _, s := range []*Shared[*counting]{logs, traces} {
		if err := s.Start(t.Context(), componenttest.NewNopHost()); err != nil {
			t.Fatal(err)
		}
	}
	for i, s := range []*Shared[*counting]{logs, traces, traces} {
		if err := s.Shutdown(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := min(i, 1); logs.Component.shutdowns != want {
			t.Errorf("%d shutdowns after %d signals, want %d", logs.Component.shutdowns, i+1, want)
		}
	}
	if logs.Component.starts != 1 {
		t.Errorf("%d starts", logs.Component.starts)
	}
	if get(one).Component == logs.Component {
		t.Error("a component that was shut down is given again")
	}
}

// A start that fails fails for every signal; a creation that fails leaves nothing behind.
func TestFailuresAreShared(t *testing.T) {
	refused := errors.New("no")
	var all Components[string, *counting]
	if _, err := all.Get("a", func() (*counting, error) { return nil, refused }); !errors.Is(err, refused) {
		t.Errorf("create gave %v", err)
	}
	s, err := all.Get("a", func() (*counting, error) { return &counting{refuses: refused}, nil })
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Start(t.Context(), componenttest.NewNopHost()); !errors.Is(err, refused) {
			t.Errorf("start gave %v", err)
		}
	}
}
