package loki

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/correlator/query"
)

func reader(t *testing.T, c Config) *Reader {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	r, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLines(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var asked *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r
		_, _ = fmt.Fprint(w, `{"status":"success","data":{"resultType":"streams","result":[
			{"stream":{"service_name":"api","allocation_id":"a-1"},"values":[["20","later"],["40","last",{"structuredMetadata":{}}]]},
			{"stream":{"service_name":"api","severity":"error"},"values":[["10","first \"quoted\""]]}]}}`)
	}))
	defer server.Close()
	c := DefaultConfig()
	c.URL, c.Tenant, c.TokenFile = server.URL+"/prefix/", "t-1", token
	got, err := reader(t, c).Lines(t.Context(), query.LineQuestion{Sources: []string{`a"b`}, Key: "allocation_id", ID: "a-1", From: 5, To: 50, Most: 7})
	if err != nil {
		t.Fatal(err)
	}
	want := []query.Line{
		{Time: 10, Line: `first "quoted"`, Labels: map[string]string{"service_name": "api", "severity": "error"}},
		{Time: 20, Line: "later", Labels: map[string]string{"service_name": "api", "allocation_id": "a-1"}},
		{Time: 40, Line: "last", Labels: map[string]string{"service_name": "api", "allocation_id": "a-1"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	said := []string{asked.URL.Path, asked.Header.Get("X-Scope-OrgID"), asked.Header.Get("Authorization")}
	for _, key := range []string{"query", "start", "end", "limit", "direction"} {
		said = append(said, asked.URL.Query().Get(key))
	}
	if d := cmp.Diff([]string{"/prefix/loki/api/v1/query_range", "t-1", "Bearer s3cret", `{service_name="a\"b"} | allocation_id="a-1"`, "5", "50", "7", "forward"}, said); d != "" {
		t.Error(d)
	}
}

func TestExpression(t *testing.T) {
	f := func(q query.LineQuestion, want string) {
		t.Helper()
		if got := expression(q); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	f(query.LineQuestion{Sources: []string{"api"}}, `{service_name="api"}`)
	f(query.LineQuestion{Sources: []string{"api", "a.b|c"}, Key: "node_id", ID: "n-1"}, `{service_name=~"api|a\\.b\\|c"} | node_id="n-1"`)
	f(query.LineQuestion{Sources: []string{""}}, `{service_name="unknown_service"}`) // what names no service
}

func TestAway(t *testing.T) {
	f := func(name string, h http.HandlerFunc, want string) {
		t.Helper()
		server := httptest.NewServer(h)
		defer server.Close()
		c := DefaultConfig()
		c.URL, c.Timeout = strings.Replace(server.URL, "http://", "http://user:secret@", 1), 200*time.Millisecond
		_, err := reader(t, c).Lines(t.Context(), query.LineQuestion{Sources: []string{"api"}, Most: 1})
		var away *query.LinesUnavailable
		if !errors.As(err, &away) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	f("refuses", func(w http.ResponseWriter, r *http.Request) {
		if user, secret, _ := r.BasicAuth(); user != "user" || secret != "secret" {
			t.Error("who asks is not said")
		}
		http.Error(w, "too many outstanding requests", http.StatusTooManyRequests)
	}, "too many outstanding requests")
	f("does not answer", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "Timeout")
	f("is something else", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "<html>") }, "no answer of Loki's")
	f("answers another question", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `{"data":{"resultType":"matrix"}}`) }, "matrix")
	f("answers without times", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprint(w, `{"data":{"resultType":"streams","result":[{"values":[["x","y"]]}]}}`)
	}, "no answer of Loki's")

	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	c := DefaultConfig()
	c.URL = server.URL
	var away *query.LinesUnavailable
	if _, err := reader(t, c).Lines(t.Context(), query.LineQuestion{Sources: []string{"api"}, Most: 1}); !errors.As(err, &away) || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}

func TestConfig(t *testing.T) {
	f := func(c Config, want string) {
		t.Helper()
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v, want %s", c, err, want)
		}
	}
	f(Config{URL: "loki:secret", Timeout: time.Second}, "loki.url")
	f(Config{URL: "http://u:secret@loki", TokenFile: "x", Timeout: time.Second}, "loki.token_file")
	f(Config{URL: "http://loki"}, "loki.timeout")
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"data":{"resultType":"streams","result":[{"stream":{"a":"b"},"values":[["1","x"]]}]}}`)
	f.Add(`{"data":{"resultType":"streams","result":[{"values":[["1"],[]]}]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		lines, err := parse(strings.NewReader(text))
		if err != nil {
			return
		}
		for i, l := range lines {
			if i > 0 && l.Time < lines[i-1].Time {
				t.Fatal("not in order")
			}
		}
		if _, err := json.Marshal(lines); err != nil {
			t.Fatal(err)
		}
	})
}
