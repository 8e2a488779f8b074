package guard_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/api/guard"
	"github.com/faultline-io/faultline/api/problem"
)

func retryAfter(t *testing.T, a answer) int {
	t.Helper()
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		t.Errorf("Retry-After: %q", a.Header.Get("Retry-After"))
	}
	return seconds
}

func TestRate(t *testing.T) {
	s, vera, ada, _ := guarded(t, func(_ *guard.Config, l *guard.Limits) { l.Rate, l.Burst = 0.5, 3 })
	_, cookie := begun(t, s, vera)
	for range 2 {
		s.ask("GET", "/api/v1/allocations/a-1", "", bearer(vera)...).is(t, 200, fine)
	}
	late := s.ask("GET", "/api/v1/allocations/a-1", "", bearer(vera)...)
	late.is(t, 429, problem.TooManyRequests)
	if n := retryAfter(t, late); n != 2 {
		t.Errorf("told to wait %d s", n)
	}
	s.ask("GET", "/api/v1/allocations/a-1", "", cookie...).is(t, 429, problem.TooManyRequests) // one caller, token or session
	s.ask("GET", "/api/v1/allocations/a-1", "", bearer(ada)...).is(t, 200, fine)
	s.ask("GET", "/healthz", "", bearer(vera)...).is(t, 200, fine)
	s.pass(2 * time.Second)
	s.ask("GET", "/api/v1/allocations/a-1", "", bearer(vera)...).is(t, 200, fine)
	s.ask("GET", "/api/v1/allocations/a-1", "", bearer(vera)...).is(t, 429, problem.TooManyRequests)
}

func TestStrangersAreNotAnsweredForEver(t *testing.T) {
	s, vera, _, _ := guarded(t, nil)
	refused := map[int]int{}
	for range 150 {
		refused[s.ask("GET", "/api/v1/allocations/a-1", "", bearer("flt_guess")...).StatusCode]++
	}
	if refused[401] != 100 || refused[429] != 50 {
		t.Error(refused)
	}
	s.ask("GET", "/api/v1/allocations/a-1", "", bearer(vera)...).is(t, 200, fine) // from the same address
}

// opened sends requests that last, and waits until they are being answered.
func opened(t *testing.T, s *site, n int, path, secret string, headers ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	for range n {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+secret)
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		got, err := s.client.Do(r)
		if err != nil || got.StatusCode != http.StatusOK {
			t.Fatal(got, err)
		}
		t.Cleanup(func() { _ = got.Body.Close() })
	}
}

func TestConcurrency(t *testing.T) {
	s, vera, ada, _ := guarded(t, func(_ *guard.Config, l *guard.Limits) { l.Concurrent, l.ConcurrentEach, l.Streams = 3, 2, 2 })
	stream := []string{"Accept", "text/event-stream"}
	opened(t, s, 2, "/api/v1/slow", vera)
	late := s.ask("GET", "/api/v1/allocations/a-1", "", bearer(vera)...)
	late.is(t, 429, problem.TooManyRequests)
	retryAfter(t, late)
	s.ask("GET", "/api/v1/allocations/a-1", "", bearer(ada)...).is(t, 200, fine)
	opened(t, s, 2, "/api/v1/allocations/a-1/events", vera, stream...) // streams count by themselves
	late = s.ask("GET", "/api/v1/allocations/a-1/events", "", append(bearer(ada), stream...)...)
	late.is(t, 429, problem.TooManyStreams)
	retryAfter(t, late)
	opened(t, s, 1, "/api/v1/slow", ada)
	s.ask("GET", "/api/v1/session", "", bearer(ada)...).is(t, 429, problem.TooManyRequests)
	s.ask("GET", "/healthz", "").is(t, 200, fine)
	close(s.wait)
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if s.ask("GET", "/api/v1/allocations/a-1", "", bearer(vera)...).StatusCode == http.StatusOK {
			break
		}
		if time.Now().After(end) {
			t.Fatal("what has ended still counts")
		}
	}
}

// One caller leaves room for the streams of others.
func TestStreamsOfOneCaller(t *testing.T) {
	s, vera, ada, _ := guarded(t, func(_ *guard.Config, l *guard.Limits) { l.Streams, l.StreamsEach = 4, 2 })
	opened(t, s, 2, "/api/v1/allocations/a-1/events", vera)
	late := s.ask("GET", "/api/v1/allocations/a-1/events", "", bearer(vera)...)
	late.is(t, 429, problem.TooManyStreams)
	retryAfter(t, late)
	opened(t, s, 1, "/api/v1/allocations/a-1/events", ada)
	s.ask("GET", "/api/v1/allocations/a-1", "", bearer(vera)...).is(t, 200, fine)
	close(s.wait)
}

func TestBodies(t *testing.T) {
	s, vera, _, _ := guarded(t, func(_ *guard.Config, l *guard.Limits) { l.Body = 100 })
	s.ask("POST", "/api/v1/notes", strings.Repeat("x", 100), bearer(vera)...).is(t, 204, fine)
	s.ask("POST", "/api/v1/notes", strings.Repeat("x", 101), bearer(vera)...).is(t, 413, problem.BodyTooLarge)
	r, err := http.NewRequest(http.MethodPost, s.url+"/api/v1/notes", struct{ *strings.Reader }{strings.NewReader(strings.Repeat("x", 101))}) // of no known length
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+vera)
	got, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	if got.StatusCode != http.StatusRequestEntityTooLarge {
		t.Error(got.StatusCode)
	}
}

func TestCallersAreForgotten(t *testing.T) {
	if n := guard.Remembered(guard.BucketsMost + 500); n != guard.BucketsMost {
		t.Errorf("%d callers are remembered", n)
	}
}
