package guard

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	"github.com/faultline-io/faultline/internal/access"
)

// Names reports whether a server that listens on an address goes by a host, for a request that came in at another.
func Names(listen string, more []string, host, at string) bool {
	address, err := net.ResolveTCPAddr("tcp", at)
	if err != nil {
		return false
	}
	r := httptest.NewRequestWithContext(context.WithValue(context.Background(), http.LocalAddrContextKey, net.Addr(address)), http.MethodGet, "/", nil)
	r.Host = host
	return newHosts(listen, more).has(r)
}

// Remembered fills buckets with so many callers and says how many are kept.
func Remembered(callers int) int {
	b := newBuckets(1, 1, time.Now)
	for i := range callers {
		b.take(strconv.Itoa(i))
	}
	return max(len(b.all), b.order.Len())
}

// Bounds of tables.
const (
	BucketsMost  = bucketsMost
	SessionsMost = sessionsMost
	SessionsEach = sessionsEach
)

// SessionsOf has so many callers begin a session and says how many are kept.
func SessionsOf(callers int) int {
	s := newSessions(time.Now)
	for i := range callers {
		s.begin(access.Held{}, access.Principal{Via: strconv.Itoa(i)})
	}
	return len(s.all)
}

// Recheck has the callers of streams looked at more often.
func (g *Guard) Recheck(every time.Duration) { g.recheck = every }

// Reading is what a route reads, "" where nobody writes that down.
var Reading = reading
