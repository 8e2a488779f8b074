package clickhouse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/faultline-io/faultline/collector/clickhouseexporter"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/memory"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/otlp"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/internal/story"
)

const heap = `
10:00:00.1 api         info   allocation_id=a-1 request_id=r-1 | POST /v1/allocations accepted
10:00:00.2 provisioner workflow.state allocation_id=a-1 workflow_id=w-1 operation=provision to=running
10:00:01   api         span 120ms error name="POST /v1/claims" http.response.status_code=503
10:00:02   ingress-proxy error tls.client.subject=CN=n-7 | client certificate of CN=n-7 refused: x509: certificate has expired
10:00:02   ingress-proxy error tls.client.subject=CN=n-8 | client certificate of CN=n-8 refused: x509: certificate has expired
10:00:03   node-agent  warn   node_id=n-7 | claim: remote error: TLS: Expired-Certificate
10:00:03   node-agent  warn   node_id=n-7 | claim: remote error: TLS: Expired-Certificate
10:00:04   mystery     info   layer=network resource.site=b12 | link Ω flapped
10:00:05   kernel      info   node_id=n-7 | eth0: link up
10:00:06   provisioner task.state task_id=k-1 workflow_id=w-1 node_id=n-7 type=prepare to=expired reason="no claim"
`

// found reads all pages of a search.
func found(t testing.TB, s query.Store, q query.Query, limit int) []string {
	t.Helper()
	out, cursor := []string{}, ""
	for {
		p, err := (&query.Service{Store: s}).Search(t.Context(), q, cursor, limit)
		must(t, err)
		for _, e := range p.Events {
			out = append(out, fmt.Sprint(e.Ref, " ", e.Summary()))
		}
		if cursor = p.Next; cursor == "" {
			return out
		}
	}
}

func TestSearch(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	records, err := story.Parse(heap)
	must(t, err)
	dsn := embeddedtest.DSN(t)
	fill(t, dsn, records, false)
	fill(t, dsn, records[:4], true) // delivered again, and stamped
	conn, err := schema.Open(t.Context(), dsn)
	must(t, err)
	defer func() { _ = conn.Close() }()
	store, file := clickhouse.New(conn, p), memory.New(p, records)
	at := records[0].Time
	for _, c := range []struct {
		query query.Query
		found int
	}{
		{query.Query{}, 9},
		{query.Query{Text: "certificate EXPIRED"}, 3},
		{query.Query{Text: "expired-certificate"}, 3},
		{query.Query{Text: "certifi"}, 0},
		{query.Query{Text: "ω flapped"}, 0}, // only ASCII letters have a case here
		{query.Query{Text: "Ω flapped"}, 1},
		{query.Query{Text: "claims post"}, 1},         // a span's name
		{query.Query{Text: "task.state claim no"}, 1}, // a lifecycle event's attributes
		{query.Query{Text: "certificate", Severity: 17}, 2},
		{query.Query{Severity: 13}, 4},
		{query.Query{Services: []string{"api", "kernel"}}, 3},
		{query.Query{Services: []string{"it's\\\t'"}}, 0},
		{query.Query{Layer: "ingress"}, 2},
		{query.Query{Layer: "network"}, 1},
		{query.Query{Layer: "node", Services: []string{"api"}}, 0},
		{query.Query{Layer: "cert"}, 0},
		{query.Query{Attrs: record.Attrs{{Key: "site", Value: "b12"}}}, 1},
		{query.Query{Attrs: record.Attrs{{Key: "type", Value: "prepare"}, {Key: "to", Value: "expired"}}}, 1},
		{query.Query{Attrs: record.Attrs{{Key: "allocation_id", Value: "a-1"}}}, 2},
		{query.Query{Attrs: record.Attrs{{Key: "node_id", Value: "n-7"}, {Key: "type", Value: "prepare"}}}, 1},
		{query.Query{Attrs: record.Attrs{{Key: "node_id", Value: "n-7"}, {Key: "node_id", Value: "n-8"}}}, 0},
		{query.Query{From: at + 2e9, To: at + 3e9}, 1},
	} {
		for _, limit := range []int{3, 100} {
			want, got := found(t, file, c.query, limit), found(t, store, c.query, limit)
			if len(got) != c.found && c.query.Attrs == nil {
				t.Errorf("%+v: %d found, want %d", c.query, len(got), c.found)
			}
			if d := cmp.Diff(want, got); d != "" && !strings.HasSuffix(fmt.Sprint(c.query.Attrs), "a-1}]") {
				t.Errorf("%+v, %d a page: file (-) and store (+) differ:\n%s", c.query, limit, d)
			}
		}
	}
}

// A span is found by its name, its status and its events, whatever JSON makes of them on the way.
func TestWordsOfASpan(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	records := []*record.Record{{
		Signal: record.Span, Time: 1772445851000000000, End: 1772445852000000000, Observed: 1772445852000000000, Service: "api", Name: "GET /v1",
		TraceID: strings.Repeat("ab", 16), SpanID: strings.Repeat("cd", 8), SpanKind: "server", Status: "error", Severity: 17,
		StatusMessage: "open C:\\new\\table: <nil>\nretry & give up",
		Events: []record.SpanEvent{{Time: 1772445851500000000, Name: "exception", Attrs: record.Attrs{
			{Key: "exception.message", Value: "D:\\temp\\unit: <null>\nnever \x1b[31m red\u00e9"},
		}}},
	}}
	dsn := embeddedtest.DSN(t)
	fill(t, dsn, records, false)
	conn, err := schema.Open(t.Context(), dsn)
	must(t, err)
	defer func() { _ = conn.Close() }()
	store, file := clickhouse.New(conn, p), memory.New(p, records)
	for _, word := range []string{"new", "table", "nil", "retry", "temp", "unit", "null", "never", "red\u00e9", "exception", "v1"} {
		want, got := found(t, file, query.Query{Text: word}, 10), found(t, store, query.Query{Text: word}, 10)
		if d := cmp.Diff(want, got); d != "" || len(want) != 1 {
			t.Errorf("%s: file (-) and store (+) differ:\n%s", word, d)
		}
	}
}

// Every kind of identifier is found by what a record says under its attribute, in the store as in a file.
func TestSearchByAnyIdentifier(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	m, conn := newMeter(t)
	w, err := clickhouseexporter.OpenWriter(t.Context(), m.dsn.String(), nil)
	must(t, err)
	ld := plog.NewLogs()
	lines := service(ld, "provisioner")
	for kind := range identity.Kinds() {
		if kind != identity.Trace { // OTLP's own field
			log(lines, began, "", "carries a "+kind.String(), kind.Attribute(), "of-"+kind.String())
			log(lines, began+1, "", "carries another", kind.Attribute(), "other")
		}
	}
	must(t, w.WriteLogs(t.Context(), ld))
	must(t, w.Close())
	var records []*record.Record
	otlp.Logs(ld, func(r *record.Record) bool { records = append(records, r); return true })
	for name, in := range map[string]query.Store{"store": clickhouse.New(conn, p), "file": memory.New(p, records)} {
		for kind := range identity.Kinds() {
			if kind == identity.Trace {
				continue
			}
			page, err := (&query.Service{Store: in}).Search(t.Context(), query.Query{Attrs: record.Attrs{{Key: kind.Attribute(), Value: "of-" + kind.String()}}}, "", 10)
			must(t, err)
			if len(page.Events) != 1 || page.Events[0].Body != "carries a "+kind.String() {
				t.Errorf("%s: %d records of a %s", name, len(page.Events), kind)
			}
		}
	}
}
