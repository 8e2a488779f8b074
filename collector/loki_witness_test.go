package collector

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	logproto "github.com/grafana/loki/pkg/push"
	"github.com/klauspost/compress/snappy"
)

// witness passes pushes on to Loki, and knows the lines for which Loki has answered that it took them.
type witness struct {
	url string

	mu    sync.Mutex
	lines map[string]bool
}

func newWitness(t *testing.T, to string) *witness {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{lines: map[string]bool{}}
	way := httputil.NewSingleHostReverseProxy(target)
	way.Transport = w
	way.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) } // as if nobody were between
	gate := httptest.NewServer(way)
	t.Cleanup(gate.Close)
	w.url = gate.URL
	return w
}

// RoundTrip implements http.RoundTripper.
func (w *witness) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost {
		return http.DefaultTransport.RoundTrip(r)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil || answer.StatusCode/100 != 2 {
		return answer, err
	}
	var push logproto.PushRequest
	if plain, err := snappy.Decode(nil, body); err != nil || push.Unmarshal(plain) != nil {
		return answer, nil // no push
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range push.Streams {
		for _, e := range s.Entries {
			w.lines[e.Line] = true
		}
	}
	return answer, nil
}

func (w *witness) has(line string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lines[line]
}
