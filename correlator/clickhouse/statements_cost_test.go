package clickhouse_test

import (
	"crypto/md5" //nolint:gosec // made-up ids
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/correlator/live"
	"github.com/faultline-io/faultline/correlator/query"
)

// ceiling is what one statement may read at most, in crowd's store of a thousand allocations, 103 rows each, beside a
// thousand assessments and ten thousand steps. Rows and bytes are the engine's own counters; a granule has 4,096 rows or
// fewer. A statement whose ceiling is all of a table says so.
type ceiling struct{ rows, bytes uint64 }

var ceilings = map[string]ceiling{
	// One allocation, one identifier: granules of it.
	"allocation_known":     {512, 20_000},
	"allocations_of_keys":  {2_048, 100_000},
	"began":                {512, 20_000},
	"events_by_keys":       {8_192, 2_500_000},
	"events_of_allocation": {1_024, 400_000},
	"events_of_nodes":      {4_096, 1_200_000},
	"ingested_links_of":    {1_024, 50_000},
	"ingested_links_to":    {1_024, 50_000},
	"last_of_nodes":        {4_096, 1_200_000},
	"observed_links":       {4_096, 240_000},
	"reading":              {12_288, 2_500_000},
	"locate_linked":        {5_000, 150_000},
	"locate":               {2_048, 50_000},
	"history":              {256, 200_000},
	"last_assessments":     {512, 400_000}, // of two
	"supplement":           {128, 20_000},
	"events_placed":        {1_024, 400_000},
	"labels_of":            {256, 20_000},
	"kinds_of":             {6_000, 200_000},
	"occupancy_of":         {4_096, 400_000},
	// All of a small table, by what they ask.
	"examined":          {1_000, 20_000},
	"heads":             {6_000, 200_000},
	"sources_heard":     {200, 10_000},
	"sources_figures":   {103_000, 12_000_000}, // all that came in five minutes
	"providers":         {103_000, 12_000_000}, // a stretch of time
	"labels":            {2_000, 100_000},
	"said_last":         {1_000, 800_000},
	"said_marks":        {2_000, 200_000},
	"said_since":        {2_000, 800_000},
	"related_faults":    {1_000, 800_000},
	"list":              {2_000, 50_000},
	"newest":            {200, 5_000},
	"replicas_live":     {10, 200},
	"replicas_judged":   {20, 400},
	"now":               {1, 10},
	"backlog":           {4000, 100_000}, // all allocations, once at the start of a correlator
	"sources":           {200, 5_000},
	"assessments":       {1_000, 800_000},
	"assessments_as_of": {1_000, 800_000},
	"durations":         {10_000, 300_000},
	// No rows but the parts' bounds.
	"mark": {100, 2_000},
	// By time: what nobody owns (half of all rows here), and what the store took lately (all of it, within seconds).
	"answers":       {4_000, 500_000},     // of a few others, each a range
	"context":       {55_000, 17_000_000}, // with the texts, in which telling words are looked for, and what a sample of the others is chosen by
	"actions":       {55_000, 2_000_000},
	"arrivals":      {110_000, 20_000_000},
	"arrival_marks": {103_000, 3_000_000},
	"arrivals_of":   {103_000, 3_000_000},
	// Of the services of a layer, without an index for its words.
	"search": {103_000, 25_000_000},
}

// conditions are parts of statements: they stand in reading.sql and search.sql, whose ceilings hold for each of them; the columns of
// a record stand in all statements that read one.
var conditions = []string{"record_columns", "filter_allocation", "filter_keys", "filter_node_while", "match_any", "match_elsewhere", "match_in_body"}

// everyStatement asks the library all that it can be asked, and holds each file of sql/ to its ceiling. What a reading and a
// search cost as a whole stands in TestReadingReadsAShortRange.
func everyStatement(t *testing.T, m *meter, store *clickhouse.Reader) {
	ctx := t.Context()
	var said []correlator.Revision
	var steps []correlator.CompletedStep
	at := time.Unix(0, began).UTC()
	for i := range 1000 {
		id := fmt.Sprintf("a-%d", i)
		r := correlator.Revision{ID: id, JudgedAt: correlator.Time(began + int64(i)), Why: correlator.BecauseFirst, Assessment: correlator.Assessment{ID: id}}
		r.Assessment.Verdict.Outcome = correlator.None
		if i%10 == 0 {
			r.Assessment.Verdict.Outcome = correlator.Attributed
			r.Assessment.Occurrences = []correlator.FaultOccurrence{{Layer: "node_agent", Mechanism: "silent", Onset: correlator.Time(began), Subject: correlator.Subject{Kind: correlator.SubjectNode, IDs: []string{"n"}}}}
		}
		said = append(said, r)
		for step := range 10 {
			steps = append(steps, correlator.CompletedStep{Step: fmt.Sprint("job:", step), Allocation: id, Part: "p", Took: time.Second, Ended: began + int64(i)})
		}
	}
	must(t, store.Write(ctx, said))
	must(t, store.AddDurations(ctx, steps))
	must(t, store.Renew(ctx, "r-1", began))
	var placed []correlator.Placed
	var kept []correlator.Supplement
	for i := range 1000 {
		one := correlator.Supplement{ID: fmt.Sprintf("a-%d", i), JudgedAt: correlator.Time(began)}
		one.Verdict.RulesVersion = correlator.RulesVersion
		kept = append(kept, one)
	}
	must(t, store.WriteSupplements(ctx, kept))
	own, err := store.Stamped(ctx, "a-500", query.Head{})
	must(t, err)
	for _, r := range own[:5] {
		placed = append(placed, correlator.Placed{Time: r.Time, Source: r.Service, Key: r.Key()[:12], Stamped: "a-500", OnNode: "n-500"})
	}
	asOf := at.Add(time.Hour).UnixNano()
	sum := md5.Sum([]byte("t-501-2")) //nolint:gosec // a made-up id

	asks := map[string]func() error{
		"resolve":            func() error { _, err := store.Resolve(ctx, "w-501"); return err },
		"resolve a trace":    func() error { _, err := store.Resolve(ctx, hex.EncodeToString(sum[:])); return err },
		"resolve nobody":     func() error { _, err := store.Resolve(ctx, "nobody"); return err },
		"story":              func() error { _, err := store.RecordSet(ctx, "a-500", 0); return err },
		"story by links":     func() error { _, err := store.RecordSet(ctx, "a-501", 0); return err },
		"story as of":        func() error { _, err := store.RecordSet(ctx, "a-501", asOf); return err },
		"story of a trouble": func() error { _, err := store.RecordSet(ctx, fmt.Sprint("a-", troubledOne), 0); return err },
		"list":               func() error { _, err := store.List(ctx, query.ListQuery{Limit: 10}); return err },
		"began":              func() error { _, err := store.Began(ctx, []string{"a-1", "a-500"}); return err },
		"assessments":        func() error { _, _, err := store.Assessments(ctx, 0); return err },
		"assessments as of":  func() error { _, _, err := store.Assessments(ctx, asOf); return err },
		"history":            func() error { _, err := store.History(ctx, "a-500", 10); return err },
		"last words":         func() error { _, err := store.Last(ctx, []string{"a-1", "a-500"}); return err },
		"related_faults": func() error {
			_, err := store.RelatedFaults(ctx, incident.Cause{Layer: "node_agent", Mechanism: "silent", From: began - 1, To: asOf}, asOf)
			return err
		},
		"heads": func() error {
			_, err := store.Heads(ctx, 0, 10)
			if err == nil {
				_, err = store.Heads(ctx, began, 10)
			}
			return err
		},
		"labels":         func() error { _, err := store.LabelsSince(ctx, 0); return err },
		"labels since":   func() error { _, err := store.LabelsSince(ctx, began); return err },
		"labels of":      func() error { _, err := store.LabelsOf(ctx, "a-500"); return err },
		"said":           func() error { _, err := store.LastSaid(ctx, 10_000); return err },
		"said since":     func() error { _, err := store.SaidSince(ctx, began, 1000); return err },
		"kinds":          func() error { _, err := store.KindsOf(ctx, "w-501"); return err },
		"a node":         func() error { _, err := store.Node(ctx, "n-500"); return err },
		"sources":        func() error { _, err := store.SourcesHeard(ctx); return err },
		"figures":        func() error { _, err := store.SourceFigures(ctx, time.Minute); return err },
		"providers":      func() error { _, err := store.CompareProviders(ctx, began, asOf); return err },
		"said marks":     func() error { _, err := store.SaidMarks(ctx, began); return err },
		"supplement":     func() error { _, _, err := store.Supplement(ctx, "a-500"); return err },
		"what is placed": func() error { _, err := store.Placed(ctx, placed); return err },
		"durations":      func() error { _, err := store.Durations(ctx, asOf); return err },
		"backlog":        func() error { _, err := store.Backlog(ctx, began, 100); return err },
		"judged":         func() error { _, err := store.Judged(ctx, time.Minute); return err },
		"now":            func() error { _, err := store.Now(ctx); return err },
		"live":           func() error { _, err := store.Live(ctx, time.Minute); return err },
		"mark":           func() error { _, err := store.Mark(ctx); return err },
		"layer's services": func() error {
			_, err := (&query.Service{Store: store}).Search(ctx, query.Query{Layer: "workflow", Text: "begun", From: began, To: asOf}, "", 10)
			return err
		},
		"reading": func() error {
			for _, k := range readable {
				s := query.Selection{}
				s.Key.Kind, s.Key.ID = k, map[string]string{"allocation": "a-501", "node": "n-501", "node_instance": "i-501", "workflow": "w-501", "trace": hex.EncodeToString(sum[:]), "correlation": "c-501"}[k.String()]
				if _, err := (&query.Service{Store: store}).Events(ctx, s, "", 100); err != nil {
					return err
				}
			}
			return nil
		},
	}
	// The feed: what came last, and the marks of a moment.
	found, _, err := store.Arrivals(ctx, live.Mark{}, 100)
	must(t, err)
	first := live.MarkOf(found[0])
	asks["arrivals"] = func() error { _, _, err := store.Arrivals(ctx, first, 100); return err }
	asks["marks"] = func() error { _, err := store.Marks(ctx, first.Ingested-1, first.Ingested); return err }
	asks["fetch"] = func() error { _, err := store.Fetch(ctx, []live.Mark{first}); return err }

	most := map[string]ceiling{}
	from := map[string]string{}
	files := statementFiles(t)
	for _, what := range slices.Sorted(maps.Keys(asks)) {
		for _, s := range m.of(func() { must(t, asks[what]()) }) {
			name := ""
			for file, head := range files {
				if strings.HasPrefix(s.Statement, head) {
					name = file
				}
			}
			if name == "" {
				if strings.HasPrefix(strings.TrimSpace(s.Statement), "INSERT") {
					continue
				}
				t.Errorf("%s: no file of sql/ begins as this statement: %.200s", what, s.Statement)
				continue
			}
			if s.ReadRows >= most[name].rows {
				from[name] = what
			}
			most[name] = ceiling{max(most[name].rows, s.ReadRows), max(most[name].bytes, s.ReadBytes)}
		}
	}
	for name := range files {
		c, stated := ceilings[name]
		got, asked := most[name]
		switch {
		case slices.Contains(conditions, name):
		case !asked:
			t.Errorf("%s.sql was not asked: add a question that asks it", name)
		case !stated:
			t.Errorf("%s.sql has no ceiling; it read %d rows, %d bytes (%s)", name, got.rows, got.bytes, from[name])
		case got.rows > c.rows || got.bytes > c.bytes:
			t.Errorf("%s.sql read %d rows, %d bytes (%s), more than %d and %d", name, got.rows, got.bytes, from[name], c.rows, c.bytes)
		default:
			t.Logf("%-20s %6d of %6d rows, %8d of %8d bytes (%s)", name, got.rows, c.rows, got.bytes, c.bytes, from[name])
		}
	}
}

// statementFiles gives the first line of each file of sql/, by its name: no two begin alike.
func statementFiles(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("sql/*.sql")
	must(t, err)
	out, seen := map[string]string{}, map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		must(t, err)
		head, _, _ := strings.Cut(string(text), "\n")
		if other := seen[head]; other != "" {
			t.Errorf("%s begins as %s does", path, other)
		}
		seen[head] = path
		out[strings.TrimSuffix(filepath.Base(path), ".sql")] = head
	}
	return out
}
