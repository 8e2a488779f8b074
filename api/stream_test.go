package api_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

// follow reads a stream until its context ends, or it is told to stop.
func (p *platform) follow(t *testing.T, as, path, last string, take func(event, id, data string) (more bool)) int {
	t.Helper()
	return p.read(t, t.Context(), as, path, last, take)
}

// followUntil is follow until a channel is closed. The server may go away meanwhile.
func (p *platform) followUntil(t *testing.T, done <-chan struct{}, as, path, last string, take func(event, id, data string) (more bool)) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		select {
		case <-done:
			cancel()
		case <-ctx.Done():
		}
	}()
	p.read(t, ctx, as, path, last, take)
}

// read gives a stream's status, 0 where no answer came.
func (p *platform) read(t *testing.T, of context.Context, as, path, last string, take func(event, id, data string) (more bool)) int {
	ctx, cancel := context.WithTimeout(of, 20*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+path, nil)
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+p.tokens[as])
	r.Header.Set("Accept", "text/event-stream")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	answer, err := p.Client().Do(r)
	if err != nil {
		return 0
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return answer.StatusCode
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	var event, id, data string
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "event":
			event = value
		case "id":
			id = value
		case "data":
			data = value
		case "":
			if event != "" && !take(event, id, data) {
				return http.StatusOK
			}
			event, id, data = "", "", ""
		}
	}
	return http.StatusOK
}

func TestAStreamGoesOnWhereItEnded(t *testing.T) {
	p := newPlatform(t, twoTenants)
	p.settled(t, `"layer":"cert"`, "a-red")
	cursor := ""
	p.follow(t, "all", "/api/v1/allocations/a-new/events", "", func(string, string, string) bool { return false }) // unknown yet
	p.follow(t, "all", "/api/v1/incidents/events", "", func(event, id, _ string) bool {
		cursor = id
		return event != "caught_up"
	})
	p.write("10:00:00 api allocation.state allocation_id=a-new tenant=blue to=requested\n10:00:01 provisioner allocation.state allocation_id=a-new from=requested to=failed\n")
	p.settled(t, "a-new")
	f := func(as string, want bool) {
		t.Helper()
		told := false
		p.follow(t, as, "/api/v1/incidents/events", cursor, func(event, _, data string) bool {
			if strings.Contains(data, "a-new") {
				told = true
			}
			return !told && (want || event != "caught_up") // what the overview has not read when the stream begins comes behind caught_up
		})
		if told != want {
			t.Errorf("%s is told: %t", as, told)
		}
	}
	for begun := time.Now(); time.Since(begun) < 10*time.Second; time.Sleep(100 * time.Millisecond) { // until it was judged
		if _, body := p.do(t, "all", http.MethodGet, "/api/v1/allocations/a-new/history", ""); strings.Contains(string(body), "judged_at") {
			break
		}
	}
	f("all", true)
	f("blue", true)
	f("red", false)
	if code := p.follow(t, "red", "/api/v1/allocations/a-new/events", "", func(string, string, string) bool { return false }); code != http.StatusNotFound {
		t.Errorf("red follows what is blue's: %d", code)
	}
	if code := p.follow(t, "all", "/api/v1/incidents/events", "nonsense", func(string, string, string) bool { return false }); code != http.StatusBadRequest {
		t.Errorf("a foreign cursor: %d", code)
	}
	var seen []string
	p.follow(t, "blue", "/api/v1/allocations/a-new/events", cursor, func(event, _, data string) bool {
		if event == "assessment" {
			seen = append(seen, data)
		}
		return event != "caught_up"
	})
	if len(seen) == 0 {
		t.Error("nothing was told of the allocation")
	}
}

func TestAnAnswerThatIsKnownIsNotSentAgain(t *testing.T) {
	p := newPlatform(t, twoTenants)
	p.settled(t, `"layer":"cert"`)
	for begun := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		answer, _ := p.do(t, "all", http.MethodGet, "/api/v1/allocations/a-blue", "")
		if tag := answer.Header.Get("ETag"); tag != "" {
			if again, body := p.do(t, "all", http.MethodGet, "/api/v1/allocations/a-blue", "", "If-None-Match", tag); again.StatusCode != http.StatusNotModified || len(body) > 0 {
				t.Errorf("%d %s", again.StatusCode, body)
			}
			p.write("10:00:00 node info node_id=n-7 allocation_id=a-blue | one more line\n")
			for more := time.Now(); ; time.Sleep(100 * time.Millisecond) {
				again, _ := p.do(t, "all", http.MethodGet, "/api/v1/allocations/a-blue", "", "If-None-Match", tag)
				if again.StatusCode == http.StatusOK {
					return
				}
				if time.Since(more) > 10*time.Second {
					t.Fatal("what arrived is not told of")
				}
			}
		}
		if time.Since(begun) > 20*time.Second {
			t.Fatal("no tag")
		}
	}
}
