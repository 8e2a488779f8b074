package chhttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// endless runs until it is killed, and returns nothing until then.
const endless = "SELECT count() FROM numbers(1000000000000) WHERE NOT ignore(sipHash64(number))"

// idle waits until no statement runs.
func (s *store) idle() {
	s.t.Helper()
	for end := time.Now().Add(5 * time.Second); s.Running() > 0; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%d statements still run", s.Running())
		}
	}
}

// busy waits until n statements run.
func (s *store) busy(n int) {
	s.t.Helper()
	for end := time.Now().Add(5 * time.Second); s.Running() < n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("%d statements run, want %d", s.Running(), n)
		}
	}
}

func TestCancel(t *testing.T) {
	s := newStore(t, func(o *Options) { o.Sessions = 1 })
	c := s.connect("")
	exec(t, c, "SELECT 1")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- c.Exec(ctx, endless) }()
	s.busy(1)
	time.Sleep(50 * time.Millisecond)
	begun := time.Now()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	s.idle()
	if took := time.Since(begun); took > time.Second {
		t.Errorf("ended after %s", took)
	}
	exec(t, c, "SELECT 1") // the one session is free again
}

func TestDeadline(t *testing.T) {
	s := newStore(t, func(o *Options) { o.Sessions = 1 })
	c := s.connect("")
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := c.Exec(ctx, endless); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	s.idle()
	limited := clickhouse.Context(t.Context(), clickhouse.WithSettings(clickhouse.Settings{"max_execution_time": "0.2"}))
	wantCode(t, c.Exec(limited, endless), 159)
	exec(t, c, "SELECT 1")
}

func TestKill(t *testing.T) {
	s := newStore(t, nil)
	c := s.connect("")
	done := make(chan error, 1)
	go func() { done <- c.Exec(clickhouse.Context(t.Context(), clickhouse.WithQueryID("mine")), endless) }()
	s.busy(1)
	for tries := 0; ; tries++ {
		exec(t, c, "KILL QUERY WHERE query_id = 'another'")
		exec(t, c, "KILL QUERY WHERE query_id = 'mine' SYNC")
		select {
		case err := <-done:
			wantCode(t, err, 394)
			return
		case <-time.After(50 * time.Millisecond):
		}
		if tries > 50 {
			t.Fatal("still running")
		}
	}
}

func TestUnreadResultGivesItsSessionBack(t *testing.T) {
	s := newStore(t, func(o *Options) { o.Sessions, o.Stall = 1, time.Second })
	resp := s.post(url.Values{}, "SELECT * FROM numbers(1000000000) FORMAT RowBinary")
	if resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	begun := time.Now()
	exec(t, s.connect(""), "SELECT 1")
	if took := time.Since(begun); took > 4*time.Second {
		t.Errorf("the session came back after %s", took)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Error("a result that was cut short looks whole")
	}
}

func TestClosedRowsGiveTheirSessionBack(t *testing.T) {
	s := newStore(t, func(o *Options) { o.Sessions = 1 })
	c := s.connect("")
	ctx, cancel := context.WithCancel(t.Context())
	rows, err := c.Query(ctx, "SELECT * FROM numbers(1000000000)")
	if err != nil || !rows.Next() {
		t.Fatal(err)
	}
	cancel()
	s.idle()
	exec(t, c, "SELECT 1")
}

func TestWaitingIsBounded(t *testing.T) {
	s := newStore(t, func(o *Options) { o.Sessions, o.Waiting, o.Wait = 1, 1, 300*time.Millisecond })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := s.connect("max_open_conns=5")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Exec(ctx, endless)
	}()
	s.busy(1)
	time.Sleep(20 * time.Millisecond)
	late := make(chan error, 1)
	go func() { late <- c.Exec(t.Context(), "SELECT 1") }()
	for s.Waiting() == 0 {
		time.Sleep(time.Millisecond)
	}
	wantRefused(t, s.post(url.Values{}, "SELECT 1"), "202", http.StatusServiceUnavailable) // no room to wait
	wantCode(t, <-late, 202)                                                               // waited too long
	cancel()
	<-ended
	s.idle()
	exec(t, c, "SELECT 1")
}

// A body of several blocks, more rows than the engine commits at once, from a client that breaks off in the last one.
func TestClientGoneMidInsertLeavesNothing(t *testing.T) {
	s := newStore(t, func(o *Options) { o.Stall = time.Second })
	c := s.connect("")
	exec(t, c, "CREATE TABLE gone (a UInt64) ENGINE = MergeTree ORDER BY a")
	text := url.Values{"query": {"INSERT INTO gone (a) FORMAT Native"}}.Encode()
	block := resultOf(t, s, "SELECT number AS a FROM numbers(65409) FORMAT Native")
	for _, how := range []string{"closes", "stalls"} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		r, _ := http.NewRequest(http.MethodPost, s.url, nil)
		r.SetBasicAuth(testUser, testPassword)
		fmt.Fprintf(conn, "POST /?%s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nTransfer-Encoding: chunked\r\n\r\n", text, r.Header.Get("Authorization"))
		for range 40 { // 2.6 M rows
			fmt.Fprintf(conn, "%x\r\n%s\r\n", len(block), block)
		}
		fmt.Fprintf(conn, "%x\r\n%s", len(block), block[:len(block)/2])
		if how == "closes" {
			conn.Close()
			s.idle()
		} else {
			b, _ := io.ReadAll(conn)
			if !strings.Contains(string(b), "the client sent nothing for") {
				t.Errorf("a stalled client was told %q", b)
			}
			conn.Close()
		}
		s.idle()
		var n uint64
		if err := c.QueryRow(t.Context(), "SELECT count() FROM gone").Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: %d rows of an unfinished insert, %v", how, n, err)
		}
	}
	if got := s.post(url.Values{"query": {"INSERT INTO gone (a) FORMAT Native"}}, strings.Repeat(block, 40)); got.StatusCode != http.StatusOK {
		t.Fatal(got.Status)
	}
	var n, parts uint64
	if err := c.QueryRow(t.Context(), "SELECT count(), uniqExact(_part) FROM gone").Scan(&n, &parts); err != nil || n != 40*65409 || parts != 1 {
		t.Errorf("%d rows in %d parts, %v; want %d in one", n, parts, err, 40*65409)
	}
}

func resultOf(t *testing.T, s *store, text string) string {
	t.Helper()
	resp := s.post(url.Values{}, text)
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s %v", text, resp.Status, b, err)
	}
	return string(b)
}

func TestSummary(t *testing.T) {
	s := newStore(t, nil)
	c := s.connect("compress=lz4")
	exec(t, c, "CREATE TABLE s (a UInt64, b String) ENGINE = MergeTree ORDER BY a SETTINGS index_granularity = 1000")
	exec(t, c, "INSERT INTO s SELECT number, toString(number) FROM numbers(3000000)")
	read := func(resp *http.Response) (v struct {
		Read    int `json:"read_rows,string"`
		Bytes   int `json:"read_bytes,string"`
		Written int `json:"written_rows,string"`
		Result  int `json:"result_rows,string"`
	}) {
		t.Helper()
		if err := json.Unmarshal([]byte(resp.Header.Get("X-ClickHouse-Summary")), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := read(s.post(url.Values{"wait_end_of_query": {"1"}}, "SELECT a FROM s WHERE a = 1500500")); v.Read != 1000 || v.Result != 1 || v.Bytes < 8000 {
		t.Errorf("point query: %+v", v)
	}
	if v := read(s.post(url.Values{"query": {"INSERT INTO s FORMAT TSV"}}, "1\tx\n2\ty\n")); v.Written != 2 {
		t.Errorf("insert: %+v", v)
	}
	// The driver shows no headers: the record has the same numbers.
	exact := clickhouse.Settings{"wait_end_of_query": 1}
	rows, err := c.Query(clickhouse.Context(t.Context(), clickhouse.WithQueryID("large"), clickhouse.WithSettings(exact)), "SELECT a, b FROM s WHERE b != 'x'")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	r, _ := http.NewRequest(http.MethodGet, s.url+"/faultline/queries?query_id=large", nil)
	r.SetBasicAuth(testUser, testPassword)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got struct {
		Queries []Record `json:"queries"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if len(got.Queries) != 1 || !got.Queries[0].Exact || got.Queries[0].ReadRows != 3000002 || got.Queries[0].ResultRows != 3000001 || got.Queries[0].Database != s.database {
		t.Errorf("%+v", got)
	}
}
