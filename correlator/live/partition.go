package live

import (
	"context"
	"hash/fnv"
	"slices"
	"sync/atomic"
	"time"
)

// Membership knows which replicas are alive.
type Membership interface {
	// Renew says that a replica is alive, and up to which time of arrival all that concerns it is judged and written,
	// Unix nanoseconds; 0 is not known.
	Renew(ctx context.Context, replica string, judged int64) error
	// Live lists the replicas whose lease was renewed within a time, sorted.
	Live(ctx context.Context, lease time.Duration) ([]string, error)
	// Judged is up to which time of arrival everything was judged when replicas were last heard of: the least of those that
	// renewed their leases within a time of the newest, alive or not. 0 where none ever said so.
	Judged(ctx context.Context, within time.Duration) (int64, error)
	// Leave ends a lease at once.
	Leave(ctx context.Context, replica string, judged int64) error
}

// partitioner says which allocations are this replica's: of all that are alive, the one with the highest hash of
// both names judges. One that comes or goes moves only its own share.
type partitioner struct {
	self     string
	replicas atomic.Pointer[[]string]
}

func newPartitioner(self string) *partitioner {
	s := &partitioner{self: self}
	s.replicas.Store(&[]string{self})
	return s
}

// set takes a list of replicas and says whether it is another one. A replica always counts itself: while the
// roster is away, judging twice is better than not at all.
func (s *partitioner) set(live []string) (changed bool) {
	if !slices.Contains(live, s.self) {
		live = append(slices.Clone(live), s.self)
		slices.Sort(live)
	}
	if slices.Equal(live, *s.replicas.Load()) {
		return false
	}
	s.replicas.Store(&live)
	return true
}

func (s *partitioner) count() int { return len(*s.replicas.Load()) }

// mine says whether an allocation is this replica's.
func (s *partitioner) mine(allocation string) bool {
	live := *s.replicas.Load()
	if len(live) == 1 {
		return true
	}
	best, winner := uint64(0), ""
	for _, r := range live {
		h := fnv.New64a()
		_, _ = h.Write([]byte(allocation + "\x00" + r))
		// FNV's high bits differ little between names that end alike: mixed once more (splitmix64).
		x := h.Sum64()
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		if x ^= x >> 31; winner == "" || x > best {
			best, winner = x, r
		}
	}
	return winner == s.self
}
