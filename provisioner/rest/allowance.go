package rest

import (
	"sync"
	"time"
)

// allowance is a number of things that may be done, which comes back with time.
type allowance struct {
	most  int
	every time.Duration // one more
	now   func() time.Time

	mu   sync.Mutex
	used int
	last time.Time
}

func newAllowance(most int, every time.Duration) *allowance {
	return &allowance{most: most, every: every, now: time.Now}
}

func (a *allowance) take() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if back := int(now.Sub(a.last) / a.every); back > 0 {
		a.used, a.last = max(0, a.used-back), now
	}
	if a.used >= a.most {
		return false
	}
	a.used++
	return true
}
