package guard

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/faultline-io/faultline/api/problem"
)

// limits count what callers do.
type limits struct {
	Limits
	known, strangers *buckets // those who are turned away must not push out those who are let in

	mu      sync.Mutex
	running int
	streams int
	each    map[string]int
}

// strangerRate is how many requests a second one address may have refused before it is not even told why.
const (
	strangerRate  = 20
	strangerBurst = 100
)

func newLimits(l Limits, now func() time.Time) *limits {
	return &limits{Limits: l, known: newBuckets(l.Rate, l.Burst, now), strangers: newBuckets(strangerRate, strangerBurst, now), each: map[string]int{}}
}

// bounded counts a request among all that are being answered, and bounds its body. Probes are answered whatever else
// goes on.
func (g *Guard) bounded(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if most := g.limits.Body; most > 0 && r.Body != nil {
			if r.ContentLength > most {
				return problem.New(problem.BodyTooLarge, fmt.Sprintf("%d bytes; %d are the most (limits.body)", r.ContentLength, most))
			}
			r.Body = http.MaxBytesReader(c.Response().Writer, r.Body, most)
		}
		if pageOf(r) == health {
			return next(c)
		}
		l, streams := g.limits, isStream(r)
		counter, most := &l.running, l.Concurrent
		if streams {
			counter, most = &l.streams, l.Streams
		}
		if !l.take(counter, most) {
			if streams {
				return late(c, 5*time.Second, problem.New(problem.TooManyStreams, fmt.Sprintf("%d are open (limits.streams)", most)))
			}
			return late(c, time.Second, problem.New(problem.TooManyRequests, fmt.Sprintf("%d are being answered (limits.concurrent)", most)))
		}
		defer l.give(counter)
		return next(c)
	}
}

// allowed counts a request among those of its caller.
func (g *Guard) allowed(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r, l := c.Request(), g.limits
		if pageOf(r) == health {
			return next(c)
		}
		key := callerOf(c).key(r)
		if wait := l.known.take(key); wait > 0 {
			return late(c, wait, problem.New(problem.TooManyRequests, fmt.Sprintf("%g a second are allowed (limits.rate)", l.Rate)))
		}
		if isStream(r) {
			if !l.enter("stream "+key, l.StreamsEach) {
				return late(c, 5*time.Second, problem.New(problem.TooManyStreams, fmt.Sprintf("%d of this caller are open (limits.streams_each)", l.StreamsEach)))
			}
			defer l.leave("stream " + key)
			return next(c)
		}
		if !l.enter(key, l.ConcurrentEach) {
			return late(c, time.Second, problem.New(problem.TooManyRequests, fmt.Sprintf("%d of this caller are being answered (limits.concurrent_each)", l.ConcurrentEach)))
		}
		defer l.leave(key)
		return next(c)
	}
}

// stranger counts a request that nobody known has sent.
func (l *limits) stranger(c echo.Context) error {
	if wait := l.strangers.take(remoteOf(c.Request())); wait > 0 {
		return late(c, wait, problem.New(problem.TooManyRequests, "too many were refused"))
	}
	return nil
}

// late says when to ask again.
func late(c echo.Context, wait time.Duration, p problem.Problem) error {
	c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(max(1, int(math.Ceil(wait.Seconds())))))
	return p
}

func (l *limits) take(counter *int, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if most > 0 && *counter >= most {
		return false
	}
	*counter++
	return true
}

func (l *limits) give(counter *int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*counter--
}

func (l *limits) enter(key string, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if most > 0 && l.each[key] >= most {
		return false
	}
	l.each[key]++
	return true
}

func (l *limits) leave(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.each[key]--; l.each[key] == 0 {
		delete(l.each, key)
	}
}
