package guard

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// bucketsMost bounds how many callers are remembered. Who was away the longest is forgotten first, and is owed no more
// than a burst by that.
const bucketsMost = 10_000

// buckets are the token buckets of callers, by key.
type buckets struct {
	rate  rate.Limit
	burst int
	now   func() time.Time

	mu    sync.Mutex
	all   map[string]*list.Element
	order list.List // of bucket, the last that was used first
}

type bucket struct {
	key string
	*rate.Limiter
}

// newBuckets gives buckets that are never empty where perSecond is 0.
func newBuckets(perSecond float64, burst int, now func() time.Time) *buckets {
	return &buckets{rate: rate.Limit(perSecond), burst: burst, now: now, all: map[string]*list.Element{}}
}

// take takes one from a caller's bucket, or says how long there will be none.
func (b *buckets) take(key string) (wait time.Duration) {
	if b.rate <= 0 {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	at, ok := b.all[key]
	if ok {
		b.order.MoveToFront(at)
	} else {
		at = b.order.PushFront(bucket{key, rate.NewLimiter(b.rate, b.burst)})
		b.all[key] = at
		if last := b.order.Back(); len(b.all) > bucketsMost {
			delete(b.all, b.order.Remove(last).(bucket).key)
		}
	}
	now := b.now()
	r := at.Value.(bucket).ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
	}
	return wait
}
