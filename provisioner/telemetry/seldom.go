package telemetry

import (
	"sync/atomic"
	"time"
)

// sayAgain is how long a warning that has been given stands for its repeats.
const sayAgain = time.Minute

// seldom lets one warning through each minute: a queue at its limit is full and not full by turns.
type seldom struct{ last atomic.Int64 } // Unix nanoseconds, 0 for never

func (s *seldom) may(now time.Time) bool {
	last := s.last.Load()
	return (last == 0 || now.UnixNano()-last >= int64(sayAgain)) && s.last.CompareAndSwap(last, now.UnixNano())
}
