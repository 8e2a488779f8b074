package profile

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A prefilter may name a text that a line does not hold; it never misses one that it does.
func TestThePrefilterMissesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("ab_/-é")), 1, 20, -1)
		groups := rapid.SliceOfN(rapid.SliceOfN(text, 1, 3), 1, 40).Draw(t, "groups")
		var s prefilter
		bits := make([]uint32, len(groups))
		for i, g := range groups {
			bits[i] = s.add(g)
		}
		noise := rapid.StringOf(rapid.SampledFrom([]rune("ab_/-é x")))
		for i, g := range groups {
			line := noise.Draw(t, "before") + rapid.SampledFrom(g).Draw(t, "text") + noise.Draw(t, "after")
			if s.read(line)&bits[i] == 0 {
				t.Fatalf("%q holds one of %q", line, g)
			}
		}
	})
}

// An ordinary line holds next to nothing of what the default profile looks for.
func TestThePrefilterSparesSearches(t *testing.T) {
	p, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`2026-03-02T12:00:00Z level=info msg="order placed" order=17 duration=12ms`,
		`I0302 12:00:00.000000       1 controller.go:114] "Starting workers" worker count=1`,
		strings.Repeat("the quick brown fox jumps over the lazy dog ", 4),
	} {
		if l := p.line("api", line); l.bits&p.named != 0 {
			t.Errorf("%q may hold a field", line)
		}
	}
}
