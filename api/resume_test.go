package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator"
)

// told counts how often a reader was told of each revision.
type told struct {
	mu    sync.Mutex
	times map[string]int
	cuts  int
}

func revisionKey(id string, at correlator.Time) string { return fmt.Sprint(id, " ", int64(at)) }

// add takes an event, and says whether the reader stays connected: it comes and goes.
func (o *told) add(t *testing.T, event, data string) (more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if event == "assessment" {
		var c api.Change // has what a revision has, too
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			t.Error(err)
		}
		o.times[revisionKey(c.ID, c.JudgedAt)]++
	}
	if rand.IntN(4) == 0 {
		o.cuts++
		return false
	}
	return true
}

func (o *told) has(keys []string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, k := range keys {
		if o.times[k] == 0 {
			return false
		}
	}
	return true
}

// Readers that come and go while verdicts change, and whose server is another twice, are told of each revision that is kept, once:
// of all allocations, and of one. Whoever sees neither is told nothing.
func TestStreamsOverReconnectsAndRestarts(t *testing.T) {
	p := newPlatform(t, "10:00:00 api allocation.state allocation_id=a-0 tenant=blue to=requested\n")
	p.settled(t, `"a-0"`, `"outcome":"none"`)
	readers := map[string]*told{"/api/v1/incidents/events": {}, "/api/v1/allocations/a-0/events": {}}
	var all sync.WaitGroup
	done := make(chan struct{})
	for path, reader := range readers {
		reader.times = map[string]int{}
		cursor := ""
		p.follow(t, "all", path, "", func(_, id, _ string) bool { cursor = id; return false }) // caught up
		if cursor == "" {
			t.Fatalf("%s: no cursor", path)
		}
		all.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				p.followUntil(t, done, "all", path, cursor, func(event, id, data string) bool {
					cursor = id
					return reader.add(t, event, data)
				})
			}
		})
	}
	var others atomic.Int32 // connections of who sees neither: a-0 is blue's, and the rest nobody's
	all.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			p.followUntil(t, done, "red", "/api/v1/incidents/events", "", func(event, _, data string) bool {
				if others.Add(1); event != "caught_up" {
					t.Errorf("red is told as it happens: %s", data)
				}
				return true
			})
		}
	})
	end := sync.OnceFunc(func() { close(done); all.Wait() })
	defer end()
	before := p.kept(t)
	const rounds = 12
	for round := range rounds {
		state := []string{"failed", "active"}[round%2]
		var tale strings.Builder
		fmt.Fprintf(&tale, "10:00:0%d provisioner allocation.state allocation_id=a-0 to=%s\n", round%3, state)
		fmt.Fprintf(&tale, "10:00:04 provisioner allocation.state allocation_id=b-%d from=reserved to=provisioning\n", round)
		fmt.Fprintf(&tale, "10:00:05 provisioner allocation.state allocation_id=b-%d from=provisioning to=failed\n", round)
		p.write(tale.String())
		if round == rounds/3 || round == 2*rounds/3 {
			p.restart()
		}
		time.Sleep(150 * time.Millisecond)
	}
	// As soon as nothing is judged any more, what was kept is what has to have been told.
	kept := p.kept(t)
	for calm, begun := 0, time.Now(); calm < 15; calm++ {
		time.Sleep(100 * time.Millisecond)
		now := p.kept(t)
		if len(now) > len(kept) || len(now)-len(before) < rounds { // each allocation of a round has one at least
			kept, calm = now, 0
		}
		if time.Since(begun) > time.Minute {
			t.Fatalf("%d revisions after a minute", len(now)-len(before))
		}
	}
	for path, reader := range readers {
		var want []string
		for key := range kept {
			if !before[key] && (strings.HasPrefix(key, "a-0 ") || !strings.Contains(path, "a-0")) {
				want = append(want, key)
			}
		}
		for begun := time.Now(); !reader.has(want) && time.Since(begun) < 10*time.Second; {
			time.Sleep(50 * time.Millisecond)
		}
		reader.mu.Lock()
		for _, key := range want {
			if n := reader.times[key]; n != 1 {
				t.Errorf("%s: %s was told %d times", path, key, n)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(reader.times)) {
			if !slices.Contains(want, key) {
				t.Errorf("%s: %s was told and is not kept, or was told before", path, key)
			}
		}
		t.Logf("%s: %d revisions, over %d connections that were cut and two restarts", path, len(want), reader.cuts)
		reader.mu.Unlock()
	}
	end()
	if others.Load() == 0 {
		t.Error("red never followed anything")
	}
}

// kept are the revisions that the store has.
func (p *platform) kept(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	said, err := p.store.SaidSince(t.Context(), 0, 10_000)
	must(t, err)
	for _, one := range said {
		out[revisionKey(one.ID, one.JudgedAt)] = true
	}
	return out
}

// A stream is never compressed, and what the address says of the last event counts as the header does.
func TestAStreamIsForBrowsers(t *testing.T) {
	p := newPlatform(t, twoTenants)
	p.settled(t, `"layer":"cert"`)
	cursor := ""
	p.follow(t, "all", "/api/v1/incidents/events", "", func(_, id, _ string) bool { cursor = id; return false })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL+"/api/v1/incidents/events?last_event_id="+cursor, nil)
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+p.tokens["all"])
	r.Header.Set("Accept-Encoding", "gzip")
	answer, err := p.Client().Do(r)
	must(t, err)
	defer func() { _ = answer.Body.Close() }()
	if answer.Header.Get("Content-Encoding") != "" || answer.Header.Get("Cache-Control") != "no-store" || answer.Header.Get("X-Accel-Buffering") != "no" {
		t.Errorf("a stream is held back: %v", answer.Header)
	}
	if answer.StatusCode != http.StatusOK {
		t.Errorf("a cursor in the address: %d", answer.StatusCode)
	}
	if code := p.follow(t, "all", "/api/v1/incidents/events?last_event_id=nonsense", "", func(string, string, string) bool { return false }); code != http.StatusBadRequest {
		t.Errorf("a foreign cursor in the address: %d", code)
	}
}
