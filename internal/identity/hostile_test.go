package identity_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/faultline-io/faultline/internal/identity"
)

// A million keys from one source, under its own name, under five thousand invented ones and as long as
// a key may be: the index stays within its bound, and what two ordinary sources know, each less than a
// 128th of it, stays known, though nobody asks for it meanwhile.
func TestAMillionHostileKeys(t *testing.T) {
	const bound, ordinary, million = 50_000, 600, 1_000_000
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for _, c := range []struct {
		name   string
		source func(i int) string
		id     func(i int) string
	}{
		{"one name", func(int) string { return "hostile" }, func(i int) string { return fmt.Sprint("x", i) }},
		{"five thousand names", func(i int) string { return fmt.Sprint("hostile", i%5000) }, func(i int) string { return fmt.Sprint("x", i) }},
		{"long keys", func(int) string { return "hostile" }, func(i int) string {
			id := fmt.Sprint("x", i)
			return id + strings.Repeat("y", identity.MaxIDBytes-len(id))
		}},
	} {
		x := identity.New(identity.Options{MaxSubjects: bound, Forget: true})
		known := func(i int) identity.Key { return key(identity.Task, fmt.Sprint("t", i)) }
		for i := range ordinary {
			x.AddSeenFrom([]string{"provisioner", "api"}[i%2], identity.Keys{known(i), key(identity.Allocation, fmt.Sprint("a", i))}, nil)
		}
		n := million
		if c.name == "long keys" {
			n /= 5
		}
		for i := range n / 2 {
			x.AddSeenFrom(c.source(i), identity.Keys{key(identity.Request, c.id(2*i)), key(identity.Trace, c.id(2*i+1))}, nil)
		}
		lost := 0
		for i := range ordinary {
			if x.Resolve(identity.Keys{known(i)}, 1, 1).Allocation != fmt.Sprint("a", i) {
				lost++
			}
		}
		s := x.Stats()
		t.Logf("%s: %d keys, %d remembered, %d forgotten; of %d that others know %d lost", c.name, n, s.Subjects, s.Evicted, ordinary, lost)
		if s.Subjects > bound || s.Full > 0 || s.Evicted < n-bound || lost > 0 {
			t.Errorf("%s: %+v, %d lost", c.name, s, lost)
		}
	}
}
