package clickhouse_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/api/problem"
	"github.com/faultline-io/faultline/collector/clickhouseexporter"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/internal/story"
)

const narrow = ": narrow the time (from, to), or name a service, a layer, or an identifier such as allocation_id or node_id"

// Each limit of a search ends one that would go beyond it, and says which it was, through the library and through the API.
func TestLimitsOfASearch(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	records, err := story.Parse(heap)
	must(t, err)
	big := slices.Clone(records)
	for i, r := range records {
		copied := *r
		copied.Body = r.Body + strings.Repeat(" padding", 1<<17)
		big[i] = &copied
	}
	small, large := embeddedtest.DSN(t), embeddedtest.DSN(t)
	fill(t, small, records, false)
	fill(t, large, big[:5], false)
	slow := false
	for _, c := range []struct {
		name, dsn string
		limits    clickhouse.Limits
		query     query.Query
		says      string // "" is found
	}{
		{"rows", small, clickhouse.Limits{Rows: 3}, query.Query{Text: "certificate"}, "than 3 rows to be read"},
		{"bytes", small, clickhouse.Limits{Bytes: 20}, query.Query{Text: "certificate"}, "than 20 bytes to be read"},
		{"rows, to find the layer's services", small, clickhouse.Limits{Rows: 3}, query.Query{Layer: "cert"}, "than 3 rows to be read"},
		{"memory, for one record", large + "?max_memory_usage=1000000", clickhouse.Limits{}, query.Query{Text: "certificate"}, "memory than the store has for one question"},
		{"memory, for all of them", large + "?max_memory_usage=200000000", clickhouse.Limits{}, query.Query{Text: "certificate"}, ""},
		{"none", small, clickhouse.Limits{}, query.Query{Text: "certificate"}, ""},
		{"time", small, clickhouse.Limits{Time: 100 * time.Millisecond}, query.Query{Text: "certificate"}, "than 100ms of the store's time"},
		{"time enough", small, clickhouse.Limits{Time: time.Hour}, query.Query{Text: "certificate"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.limits.Time > 0 && !slow {
				takeTime(t, small, 0.05)
				slow = true
			}
			conn, err := schema.Open(t.Context(), c.dsn)
			must(t, err)
			defer func() { _ = conn.Close() }()
			store := clickhouse.New(conn, p).WithLimits(c.limits)
			late, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // a caller's deadline is no other limit
			defer cancel()
			_, err = (&query.Service{Store: store}).Search(late, c.query, "", 10)
			status, body := asked(t, api.New(&query.Service{Store: store, Profile: p}, p, nil, slog.New(slog.DiscardHandler), prometheus.NewRegistry()), c.query)
			if c.says == "" {
				if err != nil || status != http.StatusOK {
					t.Errorf("%v; %d %v", err, status, body)
				}
				return
			}
			var much *query.TooMuch
			if !errors.As(err, &much) || much.Error() != "an answer takes more "+c.says+narrow {
				t.Fatalf("%v", err)
			}
			want := problem.New(problem.TooMuch, much.Error())
			if diff := cmp.Diff(want, body); diff != "" || status != want.Status {
				t.Errorf("%d, -want +got:\n%s", status, diff)
			}
		})
	}
}

// Which records are of a layer is known when they were read: a search that finds few of many asks again and again, and all
// that it asks together has the time that one question has.
func TestTimeOfASearchInManySteps(t *testing.T) {
	p, dsn, conn := emptyStore(t)
	ld := plog.NewLogs()
	to := service(ld, "mystery")
	log(to, began, "", "the link", "layer", "network")
	for i := range 1500 {
		log(to, began+int64(i+1)*1_000_000, "", "not the link")
	}
	w, err := clickhouseexporter.OpenWriter(t.Context(), dsn, nil)
	must(t, err)
	must(t, w.WriteLogs(t.Context(), ld))
	must(t, w.Close())
	takeTime(t, dsn, 0.0005)
	search := func(limit time.Duration) (int, error) {
		page, err := (&query.Service{Store: clickhouse.New(conn, p).WithLimits(clickhouse.Limits{Time: limit})}).Search(t.Context(), query.Query{Layer: "network"}, "", 10)
		return len(page.Events), err
	}
	// Three questions of 0.75 s or less.
	if _, err := search(1200 * time.Millisecond); err == nil || err.Error() != "search: an answer takes more than 1.2s of the store's time"+narrow {
		t.Errorf("%v", err)
	}
	if n, err := search(time.Hour); err != nil || n != 1 {
		t.Errorf("%d records, %v", n, err)
	}
	letGo(conn)
}

// takeTime makes each record take so many seconds to be read.
func takeTime(t *testing.T, dsn string, seconds float64) {
	t.Helper()
	conn, err := schema.Open(t.Context(), dsn)
	must(t, err)
	defer func() { _ = conn.Close() }()
	must(t, conn.Exec(t.Context(), "RENAME TABLE events TO quick"))
	must(t, conn.Exec(t.Context(), fmt.Sprintf(`CREATE VIEW events AS SELECT * FROM quick WHERE sleepEachRow(%g) = 0
SETTINGS asterisk_include_materialized_columns = 1, asterisk_include_alias_columns = 1`, seconds)))
}

// asked asks the same through the API.
func asked(t *testing.T, s *api.Server, q query.Query) (int, api.Problem) {
	t.Helper()
	ask := url.Values{}
	for name, value := range map[string]string{"text": q.Text, "layer": q.Layer} {
		if value != "" {
			ask.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	s.Handler(http.NotFoundHandler()).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/search?"+ask.Encode(), nil))
	var body api.Problem
	must(t, json.Unmarshal(w.Body.Bytes(), &body))
	return w.Code, body
}
