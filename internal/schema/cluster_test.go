package schema

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
)

var update = flag.Bool("update", false, "write golden files")

// Every migration has a form for clusters, which the engine's parser takes, and which stands in testdata/cluster.
// A new table needs a sharding key (shards), any new migration: go test ./internal/schema -run TestCluster -update
func TestClusterDDL(t *testing.T) {
	conn := open(t, embeddedtest.DSN(t))
	all, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	explain := func(name, text string) {
		t.Helper()
		if err := conn.Exec(t.Context(), "EXPLAIN AST "+text); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
	explain("schema_migrations", record("main"))
	for _, m := range all {
		statements, err := m.statements("main")
		if err != nil {
			t.Error(err)
			continue
		}
		for _, text := range statements {
			explain(m.Name, text)
			if !strings.Contains(text, " ON CLUSTER main") {
				t.Errorf("%s: not on the cluster:\n%s", m.Name, text)
			}
		}
		golden := filepath.Join("testdata", "cluster", m.Name)
		got := strings.Join(statements, ";\n\n") + ";\n"
		if *update {
			if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Errorf("%v (make it with: go test ./internal/schema -run TestCluster -update)", err)
			continue
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: -golden +made:\n%s", m.Name, diff)
		}
	}
	for _, u := range DefaultRetention().rules() {
		explain(u.table, u.statement("main"))
	}
}

func TestClusterStatements(t *testing.T) {
	cases := []struct {
		text string
		want []string // nil: an error
	}{
		{"ALTER TABLE events ADD COLUMN IF NOT EXISTS x String", []string{
			"ALTER TABLE events_local ON CLUSTER c ADD COLUMN IF NOT EXISTS x String", "ALTER TABLE events ON CLUSTER c ADD COLUMN IF NOT EXISTS x String"}},
		{"ALTER TABLE events ADD INDEX i x TYPE minmax", []string{"ALTER TABLE events_local ON CLUSTER c ADD INDEX i x TYPE minmax"}},
		{"CREATE OR REPLACE VIEW v AS SELECT 1", []string{"CREATE OR REPLACE VIEW v ON CLUSTER c AS SELECT 1"}},
		{"CREATE TABLE IF NOT EXISTS stranger (n UInt8)\nENGINE = MergeTree\nORDER BY n", nil},
		{"CREATE MATERIALIZED VIEW IF NOT EXISTS f TO states AS SELECT 1 FROM a JOIN (SELECT 1 FROM b)", nil},
		{"DROP TABLE events", nil},
	}
	for _, c := range cases {
		got, err := onCluster(c.text, "c")
		if (err != nil) != (c.want == nil) {
			t.Errorf("%s: %v", c.text, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.text, diff)
		}
	}
	for _, bad := range []string{"", "a b", "a'", strings.Repeat("x", 99)} {
		if ValidCluster(bad) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// A single server's tables are not taken for a cluster's.
func TestClusterIsNotAServer(t *testing.T) {
	conn := open(t, embeddedtest.DSN(t))
	if err := Migrate(t.Context(), conn, quiet); err != nil {
		t.Fatal(err)
	}
	s := &Store{conn: conn}
	if _, err := s.Retain(t.Context(), quiet, DefaultRetention(), "main", true); err == nil || errors.Is(err, errCluster) {
		t.Errorf("%v", err)
	}
	if todo, err := s.Pending(t.Context(), "main"); err != nil || len(todo) != 0 {
		t.Errorf("%v, %v", todo, err)
	}
}

// A feed works within a shard: what it makes lies where its source lies. A target whose key said something else would be asked on
// one shard by a server that leaves out the others (optimize_skip_unused_shards), and answer that nothing is known.
func TestClusterFeedsStayWithTheirRows(t *testing.T) {
	all, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	feeds := 0
	for _, m := range all {
		p := createFeed.FindStringSubmatch(leadingComment.ReplaceAllString(m.SQL, ""))
		if p == nil {
			continue
		}
		feeds++
		source, target := fromTable.FindStringSubmatch(p[3])[1], p[2]
		ofAllocations := source == "events" && shards[target] == "cityHash64(allocation_id)" && strings.Contains(p[3], "\nWHERE allocation_id != ''")
		if shards[target] != scattered && shards[target] != shards[source] && !ofAllocations {
			t.Errorf("%s: %s is spread by %s, its rows lie by %s of %s", m.Name, target, shards[target], shards[source], source)
		}
	}
	if feeds == 0 {
		t.Error("no feed was found")
	}
}
