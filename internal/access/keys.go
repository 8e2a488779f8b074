package access

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

const (
	keysAgain = 10 * time.Second // a fetch that brings no new key is made up for by so long without one
	keysSpare = 2                // so many may be in debt
	keysSize  = 1 << 20          // of an answer
	keysKnown = 1024             // keys that are remembered as seen
)

// keys is the way to an issuer's keys, with a bound on how often it is gone. Anybody can make up a token that was signed
// with a key that nobody has heard of, and each would have the keys fetched again. A fetch that brings a new key is free, so
// that a rotation is taken up at once; after two that bring none the answer stands until one of them is made up for.
type keys struct {
	next http.RoundTripper
	now  func() time.Time

	mu     sync.Mutex
	seen   map[string]bool
	debt   time.Time // when all fetches that brought nothing will have been made up for
	until  time.Time // an issuer that is away is not asked before
	answer []byte
	status int
	err    error
}

// RoundTrip fetches, or repeats the last answer. Fetches wait for each other.
func (k *keys) RoundTrip(r *http.Request) (*http.Response, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := k.now(); !now.Before(k.until) && k.debt.Sub(now) <= (keysSpare-1)*keysAgain {
		k.answer, k.status, k.err = k.fetch(r)
		switch {
		case k.err != nil || k.status != http.StatusOK:
			k.until = now.Add(askAgain)
		case !k.news():
			if k.debt.Before(now) {
				k.debt = now
			}
			k.debt = k.debt.Add(keysAgain)
		}
	}
	if k.err != nil {
		return nil, k.err
	}
	return &http.Response{
		StatusCode: k.status, Status: fmt.Sprintf("%d %s", k.status, http.StatusText(k.status)), Request: r, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(k.answer)), Body: io.NopCloser(bytes.NewReader(k.answer)),
	}, nil
}

func (k *keys) fetch(r *http.Request) (text []byte, status int, err error) {
	answer, err := k.next.RoundTrip(r)
	if err != nil {
		return nil, 0, err
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(io.LimitReader(answer.Body, keysSize+1)); err == nil && len(text) > keysSize {
		err = fmt.Errorf("the keys are more than %d bytes", keysSize)
	}
	return text, answer.StatusCode, err
}

// news reports whether the answer has a key that was never seen. An issuer that makes up new ones for ever is not
// followed for ever.
func (k *keys) news() (any bool) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(k.answer, &set) != nil {
		return false
	}
	for _, one := range set.Keys {
		if !k.seen[string(one)] && len(k.seen) < keysKnown {
			k.seen[string(one)], any = true, true
		}
	}
	return any
}
