package chhttp

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// wantRefused fails unless the response is an exception of that code and status.
func wantRefused(t *testing.T, resp *http.Response, code string, status int) {
	t.Helper()
	b, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != status || resp.Header.Get("X-ClickHouse-Exception-Code") != code || !strings.HasPrefix(string(b), "Code: "+code+". DB::Exception: ") {
		t.Errorf("status %d, code %q, %s; want status %d, code %s", resp.StatusCode, resp.Header.Get("X-ClickHouse-Exception-Code"), b, status, code)
	}
}

func TestPing(t *testing.T) {
	s := newStore(t, nil)
	for _, path := range []string{"/ping"} {
		resp, err := http.Get(s.url + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if b, _ := io.ReadAll(resp.Body); string(b) != "Ok.\n" {
			t.Errorf("%s: %q", path, b)
		}
	}
}

func TestAuthentication(t *testing.T) {
	s := newStore(t, nil)
	basic := func(user, password string) string {
		return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	login := url.Values{"user": {testUser}, "password": {testPassword}, "query": {"SELECT 1"}}.Encode()
	for name, f := range map[string]struct {
		query  string
		header map[string]string
		ok     bool
	}{
		"basic":           {"query=SELECT+1", map[string]string{"Authorization": basic(testUser, testPassword)}, true},
		"headers":         {"query=SELECT+1", map[string]string{"X-ClickHouse-User": testUser, "X-ClickHouse-Key": testPassword}, true},
		"url":             {login, nil, true},
		"nothing":         {"query=SELECT+1", nil, false},
		"wrong password":  {"query=SELECT+1", map[string]string{"Authorization": basic(testUser, "x")}, false},
		"empty password":  {"query=SELECT+1", map[string]string{"Authorization": basic(testUser, "")}, false},
		"wrong user":      {"query=SELECT+1", map[string]string{"Authorization": basic("default", testPassword)}, false},
		"header outranks": {login, map[string]string{"X-ClickHouse-User": testUser, "X-ClickHouse-Key": "x"}, false},
		"broken basic":    {"query=SELECT+1", map[string]string{"Authorization": "Basic ###"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"/", "/faultline/queries"} {
				r, err := http.NewRequest(http.MethodGet, s.url+path+"?"+f.query, nil)
				if err != nil {
					t.Fatal(err)
				}
				for k, v := range f.header {
					r.Header.Set(k, v)
				}
				resp, err := http.DefaultClient.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				if !f.ok {
					wantRefused(t, resp, "516", http.StatusForbidden)
				} else if resp.StatusCode != http.StatusOK {
					t.Errorf("%s: status %d", path, resp.StatusCode)
				}
			}
		})
	}
	c, err := clickhouse.Open(&clickhouse.Options{
		Protocol: clickhouse.HTTP, Addr: []string{strings.TrimPrefix(s.url, "http://")},
		Auth: clickhouse.Auth{Username: testUser, Password: "wrong", Database: s.database},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	wantCode(t, c.Ping(t.Context()), 516)
}

func TestOneStatementOnly(t *testing.T) {
	s := newStore(t, nil)
	c := s.connect("")
	exec(t, c, "CREATE TABLE keep (a UInt8) ENGINE = MergeTree ORDER BY a")
	for _, text := range []string{
		"SELECT 1; DROP TABLE keep",
		"DROP TABLE keep; SELECT 1",
		"DROP TABLE keep; garbage here",
		"INSERT INTO keep VALUES (1); DROP TABLE keep",
		"INSERT INTO keep VALUES (1) ; SELECT 2",
		"DROP TABLE keep PARALLEL WITH DROP TABLE keep",
		"SELECT 1 WHERE 0) ; DROP TABLE keep; --",
		"keep",
		"",
		";",
		"-- nothing",
	} {
		wantRefused(t, s.post(url.Values{}, text), "62", http.StatusBadRequest)
	}
	wantRefused(t, s.post(url.Values{"query": {"INSERT INTO keep VALUES (1); INSERT INTO keep FORMAT Native"}}, "x"), "62", http.StatusBadRequest)
	var n uint64
	if err := c.QueryRow(t.Context(), "SELECT count() FROM keep").Scan(&n); err != nil || n != 0 {
		t.Errorf("count %d, %v: a refused text was run", n, err)
	}
	exec(t, c, "SELECT 1; -- one is enough")
}

func TestBeyondTheDatabases(t *testing.T) {
	s := newStore(t, nil)
	for _, text := range []string{
		"SYSTEM SHUTDOWN", "system /* x */ shutdown", "-- x\nSYSTEM\nKILL", "SYSTEM SUSPEND FOR 1 SECOND",
		"CREATE TEMPORARY TABLE x (a UInt8)", "SELECT 1 INTO OUTFILE '/tmp/never'",
		"INSERT INTO FUNCTION file('/tmp/never', 'CSV', 'a UInt8') SELECT 1", "BEGIN TRANSACTION",
	} {
		wantRefused(t, s.post(url.Values{}, text), "497", http.StatusForbidden)
	}
	wantRefused(t, s.post(url.Values{"session_id": {"x"}}, "SELECT 1"), "48", http.StatusNotImplemented)
	c := s.connect("")
	exec(t, c, "SYSTEM FLUSH LOGS")
}

func TestGetReads(t *testing.T) {
	s := newStore(t, nil)
	get := func(text string) *http.Response {
		r := httptest.NewRequest(http.MethodGet, "/?"+url.Values{"query": {text}}.Encode(), nil)
		r.SetBasicAuth(testUser, testPassword)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Result()
	}
	wantRefused(t, get("CREATE TABLE g (a UInt8) ENGINE = Memory"), "164", http.StatusForbidden)
	resp := get("SELECT 42 AS a FORMAT JSONEachRow")
	if b, _ := io.ReadAll(resp.Body); string(b) != "{\"a\":42}\n" {
		t.Errorf("%s", b)
	}
}

func TestLimits(t *testing.T) {
	s := newStore(t, func(o *Options) { o.MaxStatement, o.MaxBody = 1000, 10000 })
	exec(t, s.connect(""), "CREATE TABLE l (a String) ENGINE = MergeTree ORDER BY a")
	wantRefused(t, s.post(url.Values{}, "SELECT '"+strings.Repeat("x", 1000)+"'"), "307", http.StatusRequestEntityTooLarge)
	wantRefused(t, s.post(url.Values{"query": {"SELECT '" + strings.Repeat("x", 1000) + "'"}}, ""), "307", http.StatusRequestEntityTooLarge)
	insert := url.Values{"query": {"INSERT INTO l FORMAT TSV"}}
	wantRefused(t, s.post(insert, strings.Repeat("x\n", 6000)), "307", http.StatusRequestEntityTooLarge)
	if resp := s.post(insert, strings.Repeat("x\n", 4000)); resp.StatusCode != http.StatusOK {
		t.Errorf("status %d", resp.StatusCode)
	}
	var n uint64
	if err := s.connect("").QueryRow(t.Context(), "SELECT count() FROM l").Scan(&n); err != nil || n != 4000 {
		t.Errorf("count %d, %v; want 4000", n, err)
	}
}

func TestBrokenBodies(t *testing.T) {
	s := newStore(t, nil)
	exec(t, s.connect(""), "CREATE TABLE b (a UInt64) ENGINE = MergeTree ORDER BY a")
	for name, f := range map[string]struct{ encoding, decompress, body, code string }{
		"not gzip":      {"gzip", "", "hello", "271"},
		"not zstd":      {"zstd", "", "hello", "271"},
		"not deflate":   {"deflate", "", "hello", "271"},
		"unknown":       {"br", "", "hello", "48"},
		"not a block":   {"", "1", strings.Repeat("hello", 10), "271"},
		"half a block":  {"", "1", "he", "271"},
		"half a Native": {"", "", "\x01\x05\x01a\x06UInt64\x01\x02", "33"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequest(http.MethodPost, s.url+"/?"+url.Values{"query": {"INSERT INTO b (a) FORMAT Native"}, "decompress": {f.decompress}}.Encode(), strings.NewReader(f.body))
			if err != nil {
				t.Fatal(err)
			}
			r.SetBasicAuth(testUser, testPassword)
			r.Header.Set("Content-Encoding", f.encoding)
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if got := resp.Header.Get("X-ClickHouse-Exception-Code"); got != f.code {
				b, _ := io.ReadAll(resp.Body)
				t.Errorf("code %q, want %s: %s", got, f.code, b)
			}
		})
	}
	var n uint64
	if err := s.connect("").QueryRow(t.Context(), "SELECT count() FROM b").Scan(&n); err != nil || n != 0 {
		t.Errorf("count %d, %v", n, err)
	}
}

func TestPanicIsA500(t *testing.T) {
	s := newStore(t, func(o *Options) {
		o.Sessions = 1
		o.Observe = func(r Record) {
			if strings.Contains(r.Statement, "panic") {
				var none *Options
				none.Sessions++ // SIGSEGV: with the engine's own handler the process would hang
			}
		}
	})
	if resp := s.post(url.Values{}, "SELECT 'panic'"); resp.StatusCode != http.StatusInternalServerError {
		t.Errorf("status %d", resp.StatusCode)
	}
	exec(t, s.connect(""), "SELECT 1")
}
