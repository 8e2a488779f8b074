package chhttp

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/embedded/chdb"
)

func TestWords(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		if d := cmp.Diff(want, words(text, 2)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
	f("SELECT 1", "SELECT")
	f(" system /* a */ -- b\n shutdown now", "SYSTEM", "SHUTDOWN")
	f("((SELECT 1))", "(", "(")
	f("/* open")
	f("")
	f("-- only")
	f("'text'")
	f("# x\nKILL QUERY", "KILL", "QUERY")
}

func TestSplitInsert(t *testing.T) {
	f := func(text, insert, format string) {
		t.Helper()
		i, g, ok := splitInsert(text)
		if i != insert || g != format || ok != (insert != "") {
			t.Errorf("%q: %q %q %v", text, i, g, ok)
		}
	}
	f("INSERT INTO t (a, `b c`) FORMAT Native", "INSERT INTO t (a, `b c`)", "Native")
	f(" /* x */ insert into t\nformat\n RowBinary ; ", "insert into t", "RowBinary")
	f("INSERT INTO t SETTINGS a = 1 FORMAT CSV", "INSERT INTO t SETTINGS a = 1", "CSV")
	f("INSERT INTO t SELECT 1", "", "")
	f("INSERT INTO t FORMAT CSV 1,2", "", "")
	f("SELECT 1 FORMAT Native", "", "")
}

func TestHistoryKeepsTheLast(t *testing.T) {
	h := newHistory(3)
	for _, id := range strings.Fields("a b c d e") {
		h.add(Record{QueryID: id})
	}
	var got []string
	for _, r := range h.list("") {
		got = append(got, r.QueryID)
	}
	if d := cmp.Diff([]string{"c", "d", "e"}, got); d != "" {
		t.Error(d)
	}
}

func FuzzParseRequest(f *testing.F) {
	for _, q := range []string{
		"query=SELECT+1&param_a=1&max_threads=2", "query_id=x&compress=1&network_compression_method=ZSTD",
		"session_id=1", "a%00b=1", "=", "%zz", "database=%60&default_format=Native&decompress=1",
	} {
		f.Add(q, "gzip", "Native")
	}
	f.Fuzz(func(t *testing.T, query, encoding, format string) {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.URL = &url.URL{Path: "/", RawQuery: query}
		r.Header = http.Header{"Content-Encoding": {encoding}, "X-Clickhouse-Format": {format}}
		q, err := parseRequest(r, "db")
		if err != nil {
			if asException(err).Code == chdb.CodeUnknown {
				t.Errorf("refused without a code: %v", err)
			}
			return
		}
		if q.database == "" || q.format == "" || len(q.id) > maxQueryID {
			t.Errorf("%+v", q)
		}
		for k := range q.settings {
			if reserved(k) || strings.ContainsAny(k, " ,;='`") || strings.HasPrefix(k, "param_") {
				t.Errorf("setting %q", k)
			}
		}
	})
}

func FuzzStatement(f *testing.F) {
	for _, s := range []string{"SELECT 1", "SYSTEM /**/ SHUTDOWN", "INSERT INTO t FORMAT Native", "/*", "--\n--", "(((", "KILL QUERY WHERE query_id = 'a' SYNC"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, w := range words(text, 3) {
			if w != strings.ToUpper(w) || w == "" {
				t.Errorf("%q: word %q", text, w)
			}
		}
		if insert, format, ok := splitInsert(text); ok && (!strings.Contains(text, insert) || format == "") {
			t.Errorf("%q: %q %q", text, insert, format)
		}
		if utf8.ValidString(text) && !helloPattern.MatchString(text) {
			_ = (&flights{}).translateKill(text)
		}
		_ = outputFormat(text, "Native")
	})
}
