package lokiexporter

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/internal/lokitest"
)

// toLoki is an exporter for a Loki that runs.
func toLoki(t *testing.T, url string, change func(*Config)) (exporter.Logs, *componenttest.Telemetry) {
	t.Helper()
	return started(t, &loki{Server: &httptest.Server{URL: url}}, func(c *Config) {
		c.Retry = configretry.NewDefaultBackOffConfig()
		c.Retry.InitialInterval = 20 * time.Millisecond
		if change != nil {
			change(c)
		}
	})
}

// read gives the texts of what a query finds in the last hours.
func read(t *testing.T, l *lokitest.Server, query string) (out []string) {
	t.Helper()
	found, _, err := l.Query(t.Context(), query, time.Now().Add(-3*time.Hour), time.Now().Add(time.Hour), 5000)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range found {
		out = append(out, one.Text)
	}
	return out
}

func export(t *testing.T, e exporter.Logs, ld plog.Logs) {
	t.Helper()
	if err := e.ConsumeLogs(t.Context(), ld); err != nil {
		t.Fatal(err)
	}
}

func TestLoki(t *testing.T) {
	l := lokitest.Start(t, lokitest.Settings{})
	now := time.Now().Truncate(time.Millisecond)
	e, tel := toLoki(t, l.URL, nil)

	t.Run("found by each identifier, and by via", func(t *testing.T) {
		ids := map[string]any{"node_id": "n-1", "node_instance_id": "i-1", "correlation_id": "c-1", "allocation_id": "a-1", "workflow_id": "w-1", "identity_via": "workflow"}
		ld := plog.NewLogs()
		write(ld, "api", "hello", now, ids)
		write(ld, "api", "somebody else's", now, map[string]any{"allocation_id": "a-2"})
		export(t, e, ld)
		for name, value := range ids {
			if name == "identity_via" {
				name = "via"
			}
			if got := read(t, l, fmt.Sprintf(`{service_name="api"} | %s=%q`, name, value)); !cmp.Equal(got, []string{"hello"}) {
				t.Errorf("%s: %q", name, got)
			}
		}
	})

	t.Run("a wiped node instance is found after its reimage", func(t *testing.T) {
		ld := plog.NewLogs()
		for i, instance := range []string{"i-old", "i-old", "i-new", "i-new"} {
			write(ld, "kernel", fmt.Sprint(instance, " ", i), now.Add(time.Duration(i)*time.Minute-10*time.Minute), map[string]any{"node_id": "n-7", "node_instance_id": instance})
		}
		export(t, e, ld)
		if got := read(t, l, `{service_name="kernel"} | node_instance_id="i-old"`); !cmp.Equal(got, []string{"i-old 0", "i-old 1"}) {
			t.Errorf("%q", got)
		}
		if got := read(t, l, `{service_name="kernel"} | node_id="n-7"`); len(got) != 4 {
			t.Errorf("%q", got)
		}
	})

	t.Run("what Loki refuses is counted, its neighbours are there", func(t *testing.T) {
		e, tel := toLoki(t, l.URL, func(c *Config) { c.MaxLineBytes, c.MaxMetadataBytes = 1<<20, 1<<20 })
		ld := plog.NewLogs()
		write(ld, "bad", "too old", now.Add(-200*time.Hour), nil)
		write(ld, "bad", "too old, too", now.Add(-201*time.Hour), nil)
		write(ld, "bad", "too new", now.Add(time.Hour), nil)
		write(ld, "bad", strings.Repeat("l", 300<<10), now, nil)
		write(ld, "bad", "much metadata", now, map[string]any{"m": strings.Repeat("m", 70<<10)})
		write(ld, "bad", "neighbour 1", now.Add(-time.Minute), nil)
		write(ld, "bad", "neighbour 2", now, nil)
		export(t, e, ld)
		if got := read(t, l, `{service_name="bad"}`); !cmp.Equal(got, []string{"neighbour 1", "neighbour 2"}) {
			t.Errorf("%q", got)
		}
		want := map[string]int{refusedTooOld: 2, refusedTooNew: 1, refusedLine: 1, refusedMetadata: 1}
		if diff := cmp.Diff(want, counted(t, tel, "faultline_loki_exporter_entries_refused_total", "reason")); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		// An hour and more behind the newest line of its stream.
		late := plog.NewLogs()
		write(late, "bad", "two hours late", now.Add(-2*time.Hour), nil)
		write(late, "bad", "neighbour 3", now, nil)
		export(t, e, late)
		if got := counted(t, tel, "faultline_loki_exporter_entries_refused_total", "reason")[refusedBehind]; got != 1 {
			t.Errorf("%d far behind", got)
		}
		if got := read(t, l, `{service_name="bad"}`); len(got) != 3 {
			t.Errorf("%q", got)
		}
	})

	t.Run("what is too long for Loki arrives cut", func(t *testing.T) {
		ld := plog.NewLogs()
		many := map[string]any{"m": strings.Repeat("ü", 70<<10), "node_id": "n-9"}
		for i := range 200 {
			many[fmt.Sprintf("attribute.%d", i)] = "v"
		}
		write(ld, "long", strings.Repeat("ä", 300<<10), now, nil)
		write(ld, strings.Repeat("s", 4000), "a long name", now, nil)
		write(ld, "long", "much", now, many)
		write(ld, "long", "odd names", now, map[string]any{"___": "x", "": "y", "ключ": "z", "a b": "c", "__error__": "none"})
		write(ld, "lo\"ng\n\\", "\xff odd texts \x00", now, map[string]any{"t": "\xff\x00 \"'"})
		export(t, e, ld)
		got := read(t, l, `{service_name="long"}`)
		if len(got) != 3 || len(got[0])+len(got[1])+len(got[2]) != 256<<10+len("much")+len("odd names") {
			t.Errorf("%d lines", len(got))
		}
		if got := read(t, l, `{service_name="long"} | node_id="n-9"`); !cmp.Equal(got, []string{"much"}) {
			t.Errorf("%q", got)
		}
		if got := read(t, l, `{service_name=~"sssss.*"}`); len(got) != 1 {
			t.Errorf("%q", got)
		}
		if got := read(t, l, `{service_name="lo\"ng\n\\"}`); len(got) != 1 {
			t.Errorf("%q", got)
		}
		if got := counted(t, tel, "faultline_loki_exporter_entries_refused_total", "reason"); len(got) != 0 {
			t.Errorf("refused %v", got)
		}
	})

	t.Run("streams are as many for 10,000 allocations as for one", func(t *testing.T) {
		streams := func() int {
			all, err := l.Streams(t.Context(), now.Add(-time.Hour), now.Add(time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, one := range all {
				if strings.HasPrefix(one["service_name"], "service-") {
					n++
				}
			}
			return n
		}
		var was int
		for _, allocations := range []int{1, 10_000} {
			ld := usual(10_000)
			for i, rl := range ld.ResourceLogs().All() {
				for j, lr := range rl.ScopeLogs().At(0).LogRecords().All() {
					id := (i*2500 + j) % allocations
					lr.SetTimestamp(plogTime(now.Add(time.Duration(j) * time.Millisecond)))
					lr.Attributes().PutStr("allocation_id", fmt.Sprint("a-", id))
					lr.Attributes().PutStr("node_instance_id", fmt.Sprint("i-", id))
				}
			}
			export(t, e, ld)
			if n := streams(); was == 0 {
				was = n
			} else if n != was {
				t.Errorf("%d streams for %d allocations, %d for one", n, allocations, was)
			}
		}
		if was != 12 {
			t.Errorf("%d streams of 4 services and 3 severities", was)
		}
	})
}

// A stream that is over its rate waits; its neighbours do not, and in the end every line is there once. Two streams in a push
// would not do: Loki answers as the last of them fared.
func TestLokiOverItsRate(t *testing.T) {
	l := lokitest.Start(t, lokitest.Settings{Limits: []string{"per_stream_rate_limit: 400KB", "per_stream_rate_limit_burst: 600KB", "shard_streams: {enabled: false}"}})
	now := time.Now()
	// Which stream is the last one does not matter to us: the greedy one is the first.
	ld := plog.NewLogs()
	for i := range 1200 {
		write(ld, "greedy", fmt.Sprintf("%04d %s", i, strings.Repeat("g", 1000)), now.Add(time.Duration(i)), nil)
	}
	write(ld, "modest", "one line", now, nil)
	count := func(service string) int { return len(read(t, l, fmt.Sprintf("{service_name=%q}", service))) }
	for _, together := range []bool{true, false} {
		if together {
			e, _ := toLoki(t, l.URL, func(c *Config) { c.StreamsPerPush, c.MaxPushBytes = 10, 8<<20 })
			loud := plog.NewLogs()
			for i := range 1200 {
				write(loud, "swallowed", fmt.Sprintf("%04d %s", i, strings.Repeat("g", 1000)), now.Add(time.Duration(i)), nil)
			}
			write(loud, "the last", "one line", now, nil)
			export(t, e, loud)
			if n := count("swallowed"); n == 1200 {
				t.Error("Loki tells now of every stream that it refuses: streams_per_push may be larger")
			} else {
				t.Logf("of two streams in one push Loki answered 204, and has %d of 1200 lines of the first", n)
			}
			continue
		}
		e, tel := toLoki(t, l.URL, nil)
		export(t, e, ld)
		if g, m := count("greedy"), count("modest"); g != 1200 || m != 1 {
			t.Errorf("%d of 1200 lines, %d of 1", g, m)
		}
		if got := counted(t, tel, "faultline_loki_exporter_pushes_total", "outcome"); got[throttled] == 0 {
			t.Errorf("nothing was over its rate: %v", got)
		}
	}
}

// A push of which the answer is lost is sent again, and is there once: in memory, and when Loki has written it to its store.
func TestLokiLosesItsAnswer(t *testing.T) {
	l := lokitest.Start(t, lokitest.Settings{})
	to, err := url.Parse(l.URL)
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int32
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ModifyResponse = func(r *http.Response) error {
		if r.Request.URL.Path == pushPath && calls.Add(1)%2 == 1 { // Loki has it, the exporter does not know
			r.StatusCode = http.StatusBadGateway
		}
		return nil
	}
	gate := httptest.NewServer(proxy)
	t.Cleanup(gate.Close)
	e, tel := toLoki(t, gate.URL, nil)
	now := time.Now().Truncate(time.Second)
	ld := plog.NewLogs()
	const n = 3000
	for i := range n {
		write(ld, "api", fmt.Sprintf("%04d %s", i, strings.Repeat("x", 500)), now.Add(time.Duration(i)*time.Microsecond), map[string]any{"allocation_id": fmt.Sprint("a-", i)})
	}
	export(t, e, ld)
	check := func(when string) {
		t.Helper()
		if found := len(read(t, l, `{service_name="api"}`)); found != n {
			t.Errorf("%s: %d of %d lines", when, found, n)
		}
		counted, err := l.Count(t.Context(), `{service_name="api"}`, time.Now().Add(time.Minute), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if counted != n {
			t.Errorf("%s: count_over_time counts %d of %d lines", when, counted, n)
		}
	}
	check("in memory")
	if err := l.WriteChunks(t.Context()); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second)
	check("in the store")
	if got := counted(t, tel, "faultline_loki_exporter_entries_doubted_total", "outcome"); got[present] == 0 || got[unknown] != 0 {
		t.Errorf("in doubt: %v", got)
	}
}
