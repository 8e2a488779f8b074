package identity_test

import (
	"fmt"
	"testing"

	"github.com/faultline-io/faultline/internal/identity"
)

// BenchmarkResolve looks keys up among a hundred thousand, all of them in turn, and one that is at hand.
func BenchmarkResolve(b *testing.B) {
	x := identity.New(identity.Options{})
	all := make([]identity.Keys, 100_000)
	for i := range all {
		all[i] = keys(identity.Task, fmt.Sprintf("t-%06d", i))
		x.AddSeen(keys(identity.Task, fmt.Sprintf("t-%06d", i), identity.Allocation, fmt.Sprintf("a-%06d", i/10)))
	}
	for _, spread := range []int{1, len(all)} {
		b.Run(fmt.Sprintf("%d keys", spread), func(b *testing.B) {
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if r := x.Resolve(all[n*7919%spread], 1, 1); r.Allocation == "" {
					b.Fatal("not found")
				}
			}
		})
	}
}
