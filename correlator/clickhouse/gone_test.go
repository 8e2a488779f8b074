package clickhouse_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/collector/clickhouseexporter"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/query"
)

// Whoever goes away is not answered: the engine ends the statement that was asked for it, which would have gone on for twenty seconds, which is the most that a search may take.
func TestWhoGoesAwayStopsTheirStatement(t *testing.T) {
	p, dsn, conn := emptyStore(t)
	w, err := clickhouseexporter.OpenWriter(t.Context(), dsn, nil)
	must(t, err)
	const inserts, rows, perRow = 20, 1500, 0.002
	for n := range inserts {
		ld := plog.NewLogs()
		to := service(ld, "api")
		for i := range rows {
			log(to, began+int64(n)*3600e9+int64(i)*1e6, "", fmt.Sprintf("line %d of %d", i, n), "allocation_id", "a-1")
		}
		must(t, w.WriteLogs(t.Context(), ld))
	}
	must(t, w.Close())
	takeTime(t, dsn, perRow)
	server := httptest.NewServer(api.New(&query.Service{Store: clickhouse.New(conn, p), Profile: p}, p, nil, slog.New(slog.DiscardHandler), prometheus.NewRegistry()).Handler(http.NotFoundHandler()))
	defer server.Close()
	running := func() (n uint64) {
		t.Helper()
		must(t, conn.QueryRow(t.Context(), "SELECT count() FROM system.processes WHERE query NOT LIKE '%system.processes%'").Scan(&n))
		return n
	}
	become := func(what string, within time.Duration, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(within); !holds(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s: not within %s", what, within)
			}
		}
	}
	if n := running(); n != 0 {
		t.Fatalf("%d statements before anybody asks", n)
	}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/api/v1/search?text=line", nil)
	must(t, err)
	answered := make(chan error, 1)
	go func() {
		answer, err := server.Client().Do(r)
		if err == nil {
			err = fmt.Errorf("answered with %s", answer.Status)
			_ = answer.Body.Close()
		}
		answered <- err
	}()
	become("the statement runs", 20*time.Second, func() bool { return running() > 0 })
	time.Sleep(500 * time.Millisecond)
	if n := running(); n == 0 {
		t.Fatalf("the statement is too quick to be stopped: %v", <-answered)
	}
	leave()
	if err := <-answered; ctx.Err() == nil || err == nil {
		t.Error(err)
	}
	still := 0 // between the statements of one question there is none for a moment
	become("the statement ends", 10*time.Second, func() bool {
		if still++; running() > 0 {
			still = 0
		}
		return still > 50
	})
	letGo(conn)
}

// letGo has each session of the engine let go of the tables of a statement that failed, so that they can be dropped: it does with
// its next one.
func letGo(conn driver.Conn) {
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { _ = conn.Exec(context.Background(), "SELECT sleep(0.05)") })
	}
	all.Wait()
}
