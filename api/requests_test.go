package api_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/profile"
)

// Whatever is asked, by whom ever: the answer is one of those that are described, it tells nothing of what the server is made of
// and nothing of another tenant, and who is not known learns nothing but that.
func TestGeneratedRequests(t *testing.T) {
	requests, seed := 1500, uint64(1)
	if testing.Short() {
		requests = 300
	}
	if text := os.Getenv("FAULTLINE_REQUESTS"); text != "" {
		var err error
		requests, err = strconv.Atoi(text)
		must(t, err)
		seed = uint64(time.Now().UnixNano())
	}
	p, c := newPlatform(t, twoTenants), newContract(t)
	p.settled(t, `"layer":"cert"`, "a-red", "a-none", `"tenant":"blue"`, `"tenant":"red"`)
	prof, err := profile.Load("")
	must(t, err)
	words := map[string][]string{"layer": prof.Layers, "action": {"retry", "wipe"}, "ref": p.found(t, "/allocations/a-blue/timeline", "ref"), "cursor": p.found(t, "/events?allocation_id=a-blue&limit=1", "next_cursor")}
	run := &requestsRun{platform: p, contract: c, generator: generator{describedRequests(t), words, seed}, statuses: map[int]int{}, reached: map[string]bool{}}
	begun := time.Now()
	ends, limited := t.Deadline()
	var group sync.WaitGroup
	for worker := range 2 {
		group.Go(func() {
			for n := worker; n < requests && run.few() && (!limited || time.Until(ends) > 30*time.Second); n += 2 {
				run.one(t, n)
			}
		})
	}
	group.Wait()
	slices.Sort(run.took)
	t.Logf("seed %d: %d of %d requests in %s, p50 %s, p99 %s, slowest %s; by status %v; %d checked by the description", seed, len(run.took), requests, time.Since(begun).Round(time.Second),
		run.took[len(run.took)/2], run.took[len(run.took)*99/100], run.took[len(run.took)-1], run.statuses, run.checked)
	if logged := p.log.String(); strings.Contains(logged, "panic") || strings.Contains(logged, "goroutine ") {
		t.Errorf("%.3000s", logged)
	}
	for _, one := range run.generator.requests {
		if !run.reached[one.method+" "+one.path] && requests >= 3000 {
			t.Errorf("%s %s never gave an answer", one.method, one.path)
		}
	}
}

// found gives the values of a property in an answer.
func (p *platform) found(t *testing.T, path, property string) []string {
	t.Helper()
	_, body := p.do(t, "all", http.MethodGet, "/api/v1"+path, "")
	var out []string
	for _, m := range regexp.MustCompile(`"`+property+`":"([^"]+)"`).FindAllStringSubmatch(string(body), -1) {
		out = append(out, m[1])
	}
	if out == nil {
		t.Fatalf("no %s in %s", property, body)
	}
	return out
}

// requestsRun is what is known of the requests that were sent.
type requestsRun struct {
	platform  *platform
	contract  contract
	generator generator

	mu       sync.Mutex
	took     []time.Duration
	statuses map[int]int
	reached  map[string]bool // method and path with an answer of 2xx
	checked  int

	complaints atomic.Int32
}

// few says whether more complaints would tell something.
func (run *requestsRun) few() bool { return run.complaints.Load() < 20 }

// callers are who asks, and which words each must not read, as TestTenantsSeeTheirOwn has them.
var callers = []struct {
	name   string
	hidden []string
}{
	{"all", nil}, {"all", nil},
	{"blue", []string{"a-red", "w-red", "k-red", "r-red", "c-red", "red secret", "a-none", "r-none", "nobody's secret", `"red"`}},
	{"red", []string{"a-blue", "w-blue", "k-blue", "r-blue", "c-blue", "a-none", "r-none", "nobody's secret", `"blue"`}},
	{"nothing", []string{"a-blue", "a-red", "a-none", "w-blue", "w-red", "k-blue", "k-red", "r-blue", "r-red", "c-blue", "c-red", "red secret", "nobody's secret", "n-8", "certificate of CN"}},
	{"", nil}, {"invalid", nil},
}

func (run *requestsRun) one(t *testing.T, number int) {
	g := run.generator.request(number)
	chance := rand.New(rand.NewPCG(run.generator.seed+1, uint64(number)))
	who := pick(chance, callers)
	stranger := who.name == "" || who.name == "invalid"
	if stranger {
		run.platform.later(50 * time.Millisecond) // as often as one is told why it is refused
	}
	begun := time.Now()
	answer, body, err := run.send(t, g, run.authorization(chance, who.name))
	if err != nil {
		t.Errorf("request %d, %s: %s: no answer: %v", number, who.name, g, err)
		return
	}
	took := time.Since(begun)
	status := answer.StatusCode
	complain := func(format string, args ...any) {
		run.complaints.Add(1)
		t.Errorf("request %d, %q: %s\n    %d %.600s\n    %s", number, who.name, g, status, body, fmt.Sprintf(format, args...))
	}
	run.mu.Lock()
	run.took = append(run.took, took)
	run.statuses[status]++
	if status < 300 && g.described != "" {
		for _, one := range run.generator.requests {
			if one.method == g.method && strings.NewReplacer("{id}", "x", "{ref}", "x").Replace(one.path) == g.described {
				run.reached[one.method+" "+one.path] = true
			}
		}
	}
	if g.described != "" && !g.stream && (status >= 300 && status != http.StatusNotModified && chance.IntN(4) == 0 || status < 300 && number%20 == 0) {
		run.checked++
		run.contract.check(t, g.method, g.described, answer, body)
	}
	run.mu.Unlock()
	switch {
	case stranger && (status != http.StatusUnauthorized || answer.Header.Get("WWW-Authenticate") == ""):
		complain("a stranger is told more than that")
	case status >= 500 && status != http.StatusNotImplemented && status != http.StatusBadGateway:
		complain("the server is at fault")
	case status < 300 && g.outside:
		complain("the description allows no such request")
	case status == http.StatusBadRequest && g.tame:
		complain("the description allows this request")
	case g.otherMethod && !stranger && status != http.StatusMethodNotAllowed && g.method != http.MethodOptions && (g.method != http.MethodDelete && g.method != http.MethodPost):
		complain("it is not said that this method is not taken")
	case answer.Header.Get("X-Injected") != "":
		complain("a value became a header")
	}
	if status >= 400 && g.method != http.MethodHead {
		if why := badProblem(answer, body); why != "" {
			complain("%s", why)
		}
	}
	for _, word := range who.hidden {
		if strings.Contains(string(body), word) && !g.says(strings.Trim(word, `"`)) {
			complain("it tells of %s", word)
		}
	}
}

func (run *requestsRun) authorization(r *rand.Rand, as string) string {
	switch all := run.platform.tokens["all"]; as {
	case "":
		return ""
	case "invalid":
		return pick(r, []string{
			"Bearer x", "Bearer", "Bearer " + all[:len(all)-1], "Bearer " + all + "x", "Bearer " + strings.ToUpper(all), "Basic " + all, "Bearer " + all + " " + all, all, "Bearer " + strings.Repeat("x", 10_240),
			"Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJyb290In0.", "Bearer ' OR 1=1 --",
		})
	default:
		return pick(r, []string{"Bearer ", "bearer "}) + run.platform.tokens[as]
	}
}

// send gives the answer to a request; of a stream what it says until it has caught up.
func (run *requestsRun) send(t *testing.T, g generated, authorization string) (*http.Response, []byte, error) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	address := run.platform.URL + g.path
	if g.query != "" {
		address += "?" + g.query
	}
	r, err := http.NewRequestWithContext(ctx, g.method, address, strings.NewReader(g.body))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	for _, h := range g.headers {
		r.Header.Set(h[0], h[1])
	}
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	client := *run.platform.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	answer, err := client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if !g.stream || answer.StatusCode != http.StatusOK {
		body, err := io.ReadAll(answer.Body)
		return answer, body, err
	}
	var body []byte
	for lines := bufio.NewReader(answer.Body); ; {
		line, err := lines.ReadString('\n')
		body = append(body, line...)
		if err != nil {
			return answer, body, errors.Join(errors.New("the stream ended before it had caught up"), err)
		}
		if strings.HasPrefix(line, "event: caught_up") {
			return answer, body, nil
		}
	}
}

// quoted is what an answer repeats of the request.
var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// inside are words of what the server is made of.
var inside = regexp.MustCompile(`(?i)clickhouse|DB::|chdb|\bselect\b|\bsyntax error|code: \d|\.go\b|\.sql\b|/home/|/tmp/|/root/|/usr/|goroutine|runtime|panic|json: |strconv|unmarshal|go struct|interface \{|\bint64\b|\buint|\bstruct\b|time\.Time|\w+\.\(\*|nil pointer|context (canceled|deadline)|dial tcp|127\.0\.0\.1|EOF`)

// badProblem says what is wrong with an error's answer.
func badProblem(answer *http.Response, body []byte) string {
	var p struct {
		Type, Title, Detail string
		Status              int
	}
	if kind := answer.Header.Get("Content-Type"); kind != "application/problem+json" {
		return "it is no problem, but " + kind
	}
	if err := json.Unmarshal(body, &p); err != nil {
		return "it is no problem: " + err.Error()
	}
	if p.Type == "" || p.Title == "" || p.Status != answer.StatusCode {
		return "type, title or status are missing"
	}
	if word := inside.FindString(p.Title + " " + quoted.ReplaceAllString(p.Detail, "")); word != "" {
		return fmt.Sprintf("it tells of %q", word)
	}
	return ""
}

// A generator that makes the same few requests would hold nothing.
func TestGeneratorReachesEverything(t *testing.T) {
	g := generator{describedRequests(t), map[string][]string{"layer": {"cert"}}, 1}
	asked, given := map[string]int{}, map[string]bool{}
	tame, outside := 0, 0
	for n := range 3000 {
		one := g.request(n)
		asked[one.method+" "+one.described]++
		values, _ := url.ParseQuery(one.query) // spoilt ones are left out
		for name := range values {
			given[name] = true
		}
		if one.tame {
			tame++
		}
		if one.outside {
			outside++
			if one.tame {
				t.Errorf("tame, and yet outside: %s", one)
			}
		}
	}
	for _, of := range g.requests {
		if n := asked[of.method+" "+strings.NewReplacer("{id}", "x", "{ref}", "x").Replace(of.path)]; n < 30 {
			t.Errorf("%s %s: asked %d times", of.method, of.path, n)
		}
		for _, p := range of.parameters {
			if p.In == "query" && !given[p.Name] {
				t.Errorf("%s %s: never with %s", of.method, of.path, p.Name)
			}
		}
	}
	if tame < 600 || outside < 300 {
		t.Errorf("%d tame, %d outside", tame, outside)
	}
}
