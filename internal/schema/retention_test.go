package schema

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

// Tables are made with the default retention, word by word.
func TestDefaultRetentionIsMigrated(t *testing.T) {
	conn := open(t, embeddedtest.DSN(t))
	if err := Migrate(t.Context(), conn, quiet); err != nil {
		t.Fatal(err)
	}
	todo, err := Retain(t.Context(), conn, quiet, DefaultRetention(), true)
	if err != nil || len(todo) > 0 {
		t.Errorf("%v; missing:\n%s", err, strings.Join(todo, ";\n"))
	}
}

// Every table has an end: of the retention, or of its own file where it is no evidence. And every part of the default is documented.
func TestEveryTableIsKeptForATime(t *testing.T) {
	all, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if createTable.FindString(leadingComment.ReplaceAllString(m.SQL, "")) == "" {
			continue
		}
		steps, err := m.steps("")
		if err != nil {
			t.Fatal(err)
		}
		if own := strings.Contains(m.SQL, "\nTTL "); own != (len(steps) == 1) {
			t.Errorf("%s: %d statements, a TTL of its own: %t; add the table to Retention.rules", m.Name, len(steps), own)
		}
	}
	text, err := os.ReadFile("../../docs/sizing.md")
	if err != nil {
		t.Fatal(err)
	}
	r := DefaultRetention()
	for key, days := range map[string]int{"raw_days": r.Raw, "node_days": r.Node, "lifecycle_days": r.Lifecycle, "links_days": r.Links, "verdicts_days": r.Verdicts} {
		if line := fmt.Sprintf("\n| `%s` | %d |", key, days); !strings.Contains(string(text), line) {
			t.Errorf("docs/sizing.md has no line%s", line)
		}
	}
}

// Each kind of evidence expires at its own time, and the others stay.
func TestEachKindExpires(t *testing.T) {
	conn := open(t, embeddedtest.DSN(t))
	if err := Migrate(t.Context(), conn, quiet); err != nil {
		t.Fatal(err)
	}
	r := Retention{Raw: 10, Node: 30, Lifecycle: 100, Links: 60, Verdicts: 80}
	if done, err := Retain(t.Context(), conn, quiet, r, false); err != nil || len(done) != 12 {
		t.Fatalf("%d statements, %v", len(done), err)
	}
	if again, err := Retain(t.Context(), conn, quiet, r, false); err != nil || len(again) != 0 {
		t.Fatalf("again: %v, %v", again, err)
	}
	// Merges would take what has expired already while it comes in: stop them until all is there.
	tables := []string{"events", "links", "links_by_object", "verdicts", "states", "allocations", "labels", "key_locations", "liveness", "steps"}
	for _, table := range tables {
		exec(t, conn, "SYSTEM STOP MERGES "+table)
	}
	now := time.Now().Truncate(time.Minute)                       // one minute for all of an age: one row of liveness
	ages := []int{1, 9, 18, 29, 38, 59, 68, 79, 88, 99, 108, 500} // days
	for _, age := range ages {
		at := fmt.Sprintf("toDateTime64(%d, 9, 'UTC')", now.Add(-24*time.Hour*time.Duration(age)).Unix())
		for _, kind := range []struct{ name, node, instance string }{
			{"", "", ""}, {"heartbeat", "", ""}, {"", "n-1", ""}, {"", "", "i-1"}, {"allocation.state", "", ""}, {"task.state", "n-1", ""},
		} {
			exec(t, conn, fmt.Sprintf("INSERT INTO events (key, signal, time, ingested_time, service, name, node_id, node_instance_id, allocation_id, attrs_rest) SELECT substring(MD5('%d%s%s%s'), 1, 12), 'log', %s, %s, 's', '%s', '%s', '%s', 'a-%d', map('to', 'active', 'tenant', 'blue')",
				age, kind.name, kind.node, kind.instance, at, at, kind.name, kind.node, kind.instance, age))
		}
		exec(t, conn, fmt.Sprintf("INSERT INTO links (subject_kind, subject_id, object_kind, object_id, type, ingested_time) SELECT 'task', 't-%d', 'allocation', 'a', 'seen', %s", age, at))
		exec(t, conn, fmt.Sprintf("INSERT INTO steps (step, ended, allocation_id, part, took) SELECT 'job', %s, 'a-%d', '', 1", at, age))
		exec(t, conn, fmt.Sprintf("INSERT INTO verdicts (allocation_id, as_of, ingested_time) SELECT 'a-%d', %s, %s", age, at, at))
	}
	for _, table := range tables {
		exec(t, conn, "SYSTEM START MERGES "+table)
	}
	// What is younger stays; what is older than the limit and its week is gone.
	cases := []struct {
		table, where, column string
		days, each           int
	}{
		{"events", "node_id = '' AND node_instance_id = '' AND name IN ('', 'heartbeat')", "ingested_time", r.Raw, 2},
		{"events", "(node_id != '' OR node_instance_id != '') AND name = ''", "ingested_time", r.Node, 2},
		{"events", "name IN ('allocation.state', 'task.state')", "ingested_time", r.Lifecycle, 2},
		{"states", "1", "ingested_time", r.Lifecycle, 1},
		{"allocations", "1", "last_ingested", r.Lifecycle, 1},
		{"labels", "1", "last_ingested", r.Lifecycle, 1},
		{"key_locations", "1", "last_ingested", r.Lifecycle, 2},
		{"steps", "1", "ended", r.Lifecycle, 1},
		{"links", "1", "ingested_time", r.Links, 1},
		{"links_by_object", "1", "ingested_time", r.Links, 1},
		{"verdicts", "1", "ingested_time", r.Verdicts, 1},
		{"liveness", "1", "last_ingested", r.Node, 1},
	}
	for _, c := range cases {
		kept, gone := 0, 0
		for _, age := range ages {
			switch {
			case age < c.days:
				kept += c.each
			case age >= c.days+7:
				gone += c.each
			}
		}
		query := fmt.Sprintf("SELECT countIf(%[1]s > now() - toIntervalDay(%[2]d)), countIf(%[1]s <= now() - toIntervalDay(%[2]d + 7)) FROM %[3]s WHERE %[4]s", c.column, c.days, c.table, c.where)
		var young, old uint64
		for end := time.Now().Add(30 * time.Second); ; { // parts that are being merged already are left alone
			exec(t, conn, "OPTIMIZE TABLE "+c.table+" FINAL")
			if err := conn.QueryRow(t.Context(), query).Scan(&young, &old); err != nil {
				t.Fatal(err)
			}
			if old == 0 && int(young) == kept || time.Now().After(end) {
				break
			}
		}
		if int(young) != kept || old != 0 {
			t.Errorf("%s where %s, %d days: %d of %d young rows kept, %d of %d expired rows left", c.table, c.where, c.days, young, kept, old, gone)
		}
	}
}

func exec(t *testing.T, conn driver.Conn, text string) {
	t.Helper()
	if err := conn.Exec(t.Context(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func TestRetentionIsValidated(t *testing.T) {
	for _, c := range []struct {
		change func(*Retention)
		want   string
	}{
		{func(*Retention) {}, ""},
		{func(r *Retention) { r.Raw = 0 }, "raw_days: 0 is not within"},
		{func(r *Retention) { r.Links = 1 << 30 }, "links_days: "},
		{func(r *Retention) { r.Lifecycle = 30 }, "lifecycle_days: 30 is less than raw_days (14) or node_days (90)"},
	} {
		r := DefaultRetention()
		c.change(&r)
		if err := r.Validate(); c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	if _, err := Retain(t.Context(), open(t, embeddedtest.DSN(t)), quiet, DefaultRetention(), false); !errors.Is(err, ErrNoTables) {
		t.Errorf("%v", err)
	}
}

// What is stated lies over the defaults; a key that there is not is named with its line.
func TestRetentionIsReadInParts(t *testing.T) {
	var c struct {
		Retention *Retention `yaml:"retention"`
	}
	if err := yaml.Unmarshal([]byte("retention: {raw_days: 3}\n"), &c); err != nil || c.Retention.Raw != 3 || c.Retention.Node != DefaultRetention().Node {
		t.Errorf("%+v, %v", c.Retention, err)
	}
	if err := yaml.Unmarshal([]byte("retention:\n  raw_days: 3\n  row_days: 4\n"), &c); err == nil || !strings.Contains(err.Error(), "line 3: there is no key row_days") {
		t.Errorf("%v", err)
	}
}

// The table in docs/sizing.md says what the code does.
func TestSizingListsTheDefaults(t *testing.T) {
	page, err := os.ReadFile("../../docs/sizing.md")
	if err != nil {
		t.Fatal(err)
	}
	r := DefaultRetention()
	for key, days := range map[string]int{"raw_days": r.Raw, "node_days": r.Node, "lifecycle_days": r.Lifecycle, "links_days": r.Links, "verdicts_days": r.Verdicts} {
		if line := fmt.Sprintf("| `%s` | %d |", key, days); !strings.Contains(string(page), line) {
			t.Errorf("docs/sizing.md has no line %q", line)
		}
	}
}
