package clickhouse_test

import (
	"flag"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/memory"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/internal/story"
)

// telemetry draws a few records in which everything happens that makes reading hard: identifiers that
// lead to an allocation later, or to two; nodes that change hands; one event told twice, alike or
// with other content and times; times in any order. prefix keeps what was drawn apart.
func telemetry(t *rapid.T, prefix string, label string) []*record.Record {
	pick := func(what string, of ...string) string { return rapid.SampledFrom(of).Draw(t, label+what) }
	id := func(kind string, n int) string {
		return fmt.Sprintf("%s-%s%d", prefix, kind, rapid.IntRange(1, n).Draw(t, label+kind))
	}
	var b strings.Builder
	for range rapid.IntRange(1, 12).Draw(t, label+"records") {
		at := rapid.IntRange(0, 20).Draw(t, label+"second")
		line := rapid.IntRange(1, 9).Draw(t, label+"line")
		// What is told twice may differ in time and words, not in whom it names: see sources.
		told := rapid.IntRange(0, 3).Draw(t, label+"told")
		names := [...]string{"", "allocation_id=P-a1", "task_id=P-k1 request_id=P-r1", "node_id=P-n1 boot_id=P-b1"}[told]
		names = strings.ReplaceAll(names, "P", prefix)
		service := pick("service", "provisioner", "api", "node")
		switch what := pick("what", "log", "log", "log", "told", "span", "assigned", "unassigned", "binding", "instance"); what {
		case "told":
			fmt.Fprintf(&b, "10:00:%02d api info %s event_id=%s-e%d | line %d\n", at, names, prefix, told, line)
			continue
		case "span":
			fmt.Fprintf(&b, "10:00:%02d %s span 5ms name=%s trace_id=%s-t1 span_id=%s-s%d %s\n", at, service, pick("name", "x", "y"), prefix, prefix, told, names)
			continue
		case "assigned", "unassigned":
			fmt.Fprintf(&b, "10:00:%02d %s node.%s allocation_id=%s node_id=%s", at, service, what, id("a", 2), id("n", 2))
		case "instance":
			fmt.Fprintf(&b, "10:00:%02d %s node.instance node_instance_id=%s node_id=%s to=%s", at, service, id("i", 2), id("n", 2), pick("to", "live", "superseded"))
		case "binding":
			fmt.Fprintf(&b, "10:00:%02d %s identity.binding subject_kind=task subject_id=%s object_kind=allocation object_id=%s valid_from=2026-03-02T10:00:%02dZ",
				at, service, id("k", 3), id("a", 2), rapid.IntRange(0, 20).Draw(t, label+"valid"))
		default:
			fmt.Fprintf(&b, "10:00:%02d %s info", at, service)
		}
		for range rapid.IntRange(0, 2).Draw(t, label+"identifiers") {
			kind := pick("kind", "allocation a", "node n", "node_instance i", "workflow w", "correlation c", "request r", "task k", "trace t", "boot b")
			name, letter, _ := strings.Cut(kind, " ")
			fmt.Fprintf(&b, " %s_id=%s", name, id(letter, 2))
		}
		fmt.Fprintf(&b, " | line %d\n", line)
	}
	records, err := story.Parse(b.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, &b)
	}
	t.Logf("%s:\n%s", label, &b)
	return records
}

// While records are inserted between the pages, the pages together are what one read as of the first
// page's mark gives, each record once; and that is what the records say that were there.
func TestPagesNeitherSkipNorRepeat(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	dsn := embeddedtest.DSN(t)
	conn, err := schema.Open(t.Context(), dsn)
	must(t, err)
	must(t, schema.Migrate(t.Context(), conn, slog.New(slog.DiscardHandler)))
	defer func() { _ = conn.Close() }()
	plain, stopPlain := collector(t, dsn, false)
	defer stopPlain()
	stamped, stopStamped := collector(t, dsn, true)
	defer stopStamped()
	store := clickhouse.New(conn, p)
	fewer(t, 12)
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		prefix := fmt.Sprintf("p%d", run)
		before := telemetry(rt, prefix, "before ")
		if rapid.Bool().Draw(rt, "more") {
			before = append(before, telemetry(rt, prefix, "before too ")...)
		}
		write := plain
		if rapid.Bool().Draw(rt, "stamped") {
			write = stamped
		}
		write(before)
		kind := rapid.SampledFrom(readable).Draw(rt, "read")
		s := query.Selection{Key: identity.Key{Kind: kind, ID: prefix + map[identity.Kind]string{
			identity.Allocation: "-a1", identity.Node: "-n1", identity.NodeInstance: "-i1", identity.Workflow: "-w1", identity.Trace: "-t1", identity.Correlation: "-c1",
		}[kind]}}
		if kind == identity.Trace {
			s.Key.ID = traceID(rt, s.Key.ID)
		}
		s.From, s.To = stretch(rt)
		var pages []string
		cursor, mark := "", int64(0)
		for n := 0; ; n++ {
			page, err := (&query.Service{Store: store}).Events(t.Context(), s, cursor, rapid.IntRange(1, 4).Draw(rt, "limit"))
			if err != nil {
				rt.Fatal(err)
			}
			for _, e := range page.Events {
				pages = append(pages, e.Ref)
			}
			if mark == 0 {
				mark = page.AsOf
			}
			if cursor = page.Next; cursor == "" || page.AsOf != mark {
				break
			}
			if n < 3 {
				write(telemetry(rt, prefix, fmt.Sprintf("after page %d ", n)))
			}
		}
		single := s
		single.AsOf = mark
		_, once := drain(t, store, single, 1000)
		_, file := drain(t, memory.New(p, before), s, 1000)
		if d := cmp.Diff(once, pages); d != "" {
			rt.Fatalf("%s: one read as of the mark (-) and the pages (+) differ:\n%s", s.Key, d)
		}
		if d := cmp.Diff(file, pages); d != "" {
			rt.Fatalf("%s: what was there (-) and the pages (+) differ:\n%s", s.Key, d)
		}
	})
}

// stretch draws the ends of a range of the stamped time, whole seconds of those that telemetry draws; 0 is open.
func stretch(t *rapid.T) (from, to int64) {
	second := func(n int) int64 {
		return story.Day.Add(10*time.Hour + time.Duration(n)*time.Second).UnixNano()
	}
	first := rapid.IntRange(-1, 20).Draw(t, "from")
	last := rapid.IntRange(first+1, 22).Draw(t, "to")
	if first >= 0 {
		from = second(first)
	}
	if last < 22 {
		to = second(last)
	}
	return from, to
}

// fewer asks for so many checks where nobody asked for a number: each takes the store's time.
func fewer(t *testing.T, n int) {
	f := flag.Lookup("rapid.checks")
	if f.Value.String() == f.DefValue {
		must(t, f.Value.Set(strconv.Itoa(n)))
		t.Cleanup(func() { must(t, f.Value.Set(f.DefValue)) })
	}
}

// traceID is the id that a story's short name stands for.
func traceID(t *rapid.T, short string) string {
	records, err := story.Parse("10:00:00 api info trace_id=" + short + " | x")
	if err != nil {
		t.Fatal(err)
	}
	return records[0].TraceID
}
