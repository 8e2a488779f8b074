package telemetry

import (
	"sync/atomic"
	"time"
)

// warnInterval is how long a warning that has been given stands for its repeats.
const warnInterval = time.Minute

// rateLimiter lets one warning through each minute: a queue at its limit is full and not full by turns.
type rateLimiter struct{ last atomic.Int64 } // Unix nanoseconds, 0 for never

func (s *rateLimiter) allow(now time.Time) bool {
	last := s.last.Load()
	return (last == 0 || now.UnixNano()-last >= int64(warnInterval)) && s.last.CompareAndSwap(last, now.UnixNano())
}
