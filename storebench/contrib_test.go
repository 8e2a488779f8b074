package storebench_test

import (
	"errors"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/storebench"
)

// The copies of contrib's tables that internal/schema tests its views against have the columns, types and defaults that
// contrib's module makes, whichever indexes it chooses. A new version of contrib begins here: go.mod of bench, RivalVersion,
// then the copies, then the views.
func TestContribsColumns(t *testing.T) {
	source, err := storebench.RivalSource(t.Context())
	if errors.Is(err, storebench.ErrNoRival) && os.Getenv("CI") == "" {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	for _, words := range []bool{false, true} {
		dsn := embeddedtest.DSN(t)
		u, err := url.Parse(dsn)
		if err != nil {
			t.Fatal(err)
		}
		conn, err := schema.Open(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		theirs, err := storebench.Rival(source, strings.TrimPrefix(u.Path, "/"), words)
		if err != nil {
			t.Fatal(err)
		}
		names := []string{"logs", "traces", "traces_trace_id_ts"}
		ddl := theirs.Create
		for _, name := range names {
			text, err := os.ReadFile("../internal/schema/testdata/contrib/" + name + ".sql")
			if err != nil {
				t.Fatal(err)
			}
			ddl = append(ddl, string(text))
		}
		for _, text := range ddl {
			if err := conn.Exec(t.Context(), text); err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
		}
		columns := func(table string) (out []string) {
			rows, err := conn.Query(t.Context(), "SELECT concat_ws(' ', name, type, default_kind, default_expression) FROM system.columns "+
				"WHERE database = currentDatabase() AND table = {table:String} ORDER BY position", clickhouse.Named("table", table))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() {
				var one string
				if err := rows.Scan(&one); err != nil {
					t.Fatal(err)
				}
				out = append(out, one)
			}
			return out
		}
		for _, name := range names {
			want, got := columns("otel_"+name), columns("contrib_"+name)
			if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
				t.Errorf("%s, text indexes %v: %d columns of the module %s (-) and the copy (+):\n%s", name, words, len(want), storebench.RivalVersion, diff)
			}
		}
	}
}
