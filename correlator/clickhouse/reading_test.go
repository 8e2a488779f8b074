package clickhouse_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/memory"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/embedded/embeddedtest"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/internal/story"
)

// readable are the kinds whose records can be read.
var readable = []identity.Kind{
	identity.Allocation, identity.Node, identity.NodeInstance, identity.Workflow, identity.Trace, identity.Correlation,
}

// drain reads a selection whole, by pages of a size.
func drain(t testing.TB, r query.Store, s query.Selection, limit int) (lines []string, refs []string) {
	t.Helper()
	cursor := ""
	for {
		p, err := (&query.Service{Store: r}).Events(t.Context(), s, cursor, limit)
		must(t, err)
		for _, e := range p.Events {
			lines = append(lines, fmt.Sprintf("%s %d %s %s %s %s %s %s", e.Ref, e.Time, e.Service, e.Allocation, e.Node, e.NodeInstance, e.Workflow, e.Via))
			refs = append(refs, e.Ref)
		}
		if cursor = p.Next; cursor == "" {
			return lines, refs
		}
	}
}

// Every identifier of every scenario gives the same records from the store as from memory, whatever was
// known when they were written, page by page.
func TestReadingTheStoreAndTheFileAgree(t *testing.T) {
	p, err := profile.Load("")
	must(t, err)
	all, err := story.Load("../testdata/scenarios")
	must(t, err)
	for i, s := range all {
		if i%9 != 0 && os.Getenv(everyStory) == "" {
			continue
		}
		stamped := i%2 == 0
		t.Run(fmt.Sprintf("%s stamped=%t", s.Name, stamped), func(t *testing.T) {
			dsn := embeddedtest.DSN(t)
			fill(t, dsn, s.Records, stamped)
			conn, err := schema.Open(t.Context(), dsn)
			must(t, err)
			defer func() { _ = conn.Close() }()
			store, file := clickhouse.New(conn, p), memory.New(p, s.Records)
			asked, ranged := map[identity.Key]bool{}, map[identity.Kind]bool{}
			for _, r := range s.Records {
				for _, k := range p.Keys(r) {
					asked[k] = true
				}
			}
			for k := range asked {
				for _, kind := range readable {
					if k.Kind != kind {
						continue
					}
					want, _ := drain(t, file, query.Selection{Key: k}, 1000)
					got, _ := drain(t, store, query.Selection{Key: k}, 1+len(want)/3)
					if d := cmp.Diff(want, got); d != "" {
						t.Errorf("%s %s: file (-) and store (+) differ:\n%s", k.Kind, k.ID, d)
					}
					// A stretch of its time, from one of its records up to another: the one at its end is outside.
					if len(want) < 3 || ranged[kind] {
						continue
					}
					ranged[kind] = true
					s := query.Selection{Key: k, From: timeOf(t, want[len(want)/3]), To: timeOf(t, want[len(want)-1])}
					if s.From >= s.To {
						continue
					}
					part, _ := drain(t, file, s, 1000)
					got, _ = drain(t, store, s, 1000)
					if d := cmp.Diff(part, got); d != "" || len(part) == 0 || len(part) >= len(want) {
						t.Errorf("%s %s in [%d, %d): %d of %d, file (-) and store (+) differ:\n%s", k.Kind, k.ID, s.From, s.To, len(part), len(want), d)
					}
				}
			}
		})
	}
}

// timeOf is the stamped time of a line of drain.
func timeOf(t testing.TB, line string) int64 {
	t.Helper()
	at, err := strconv.ParseInt(strings.Fields(line)[1], 10, 64)
	must(t, err)
	return at
}
