package identity_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/identity"
)

// Links in a circle, and all of many bound to all others, are followed in no time; where that leads
// too far, nothing is said, and it is counted.
func TestCyclicLinks(t *testing.T) {
	f := func(n int, want string) {
		t.Helper()
		x := identity.New(identity.Options{})
		task := func(i int) identity.Key { return key(identity.Task, fmt.Sprint("t", i)) }
		for i := range n {
			for j := range n {
				if i != j {
					_ = x.Add(bind(task(i), task(j), 0, 100))
				}
			}
		}
		begun := time.Now()
		for i := range n {
			if r := x.Resolve(identity.Keys{task(i)}, 50, 50); r.Allocation != "" {
				t.Errorf("%d of %d: %+v", i, n, r)
			}
		}
		_ = x.Add(bind(task(1), key(identity.Allocation, "a"), 0, 100)) // one of them says whose it is
		for i := range n {
			if r := x.Resolve(identity.Keys{task(i)}, 50, 50); r.Allocation != want {
				t.Errorf("%d of %d: %+v", i, n, r)
			}
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("%d: took %s", n, took)
		}
		if s := x.Stats(); s.Tangled > 0 != (want == "") {
			t.Errorf("%d: %+v", n, s)
		}
	}
	f(2, "a")
	f(3, "a")
	f(10, "a")
	f(20, "a")
	f(100, "")
}
