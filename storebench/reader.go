package storebench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Reader reads all records of one identifier ("allocation", "trace", …) as the product does, whatever number of statements that
// takes: links followed, late records found, each record settled and resolved.
type Reader func(ctx context.Context, kind, id string) (returned int, err error)

// readings are the identifiers that a reader is asked about, and the names of their samples.
var readings = []struct {
	question     Question
	kind, sample string
}{
	{ByAllocation, "allocation", "allocation"},
	{Unknown, "allocation", "unknown"},
	{"node, all its life", "node", "node"},
	{ByInstance, "node_instance", "instance"},
	{ByWorkflow, "workflow", "workflow"},
	{ByCorrelation, "correlation", "correlation"},
	{ByTrace, "trace", "trace"},
}

// Reading is what a reader took for one identifier: medians over the samples; rows of events, and of links and lists.
type Reading struct {
	Returned, Statements, Evidence, Lists uint64
	P50, Fastest, Slowest                 time.Duration
}

// MeasureReader asks a reader about every sample, in several rounds after one to warm up. What it read is counted in another one,
// by the store's list of finished statements, which only the embedded store has: elsewhere the counts are 0.
func (e *Engine) MeasureReader(ctx context.Context, database string, read Reader, kind, name string, samples []Sample, rounds int) (Reading, error) {
	var out Reading
	var times, medians []time.Duration
	var counts []Reading
	for round := range rounds + 1 {
		var these []time.Duration
		for _, s := range samples {
			before := map[string]bool{}
			if round == 0 {
				for _, f := range e.finished(ctx) {
					before[f.QueryID+f.Started] = true
				}
			}
			begun := time.Now()
			n, err := read(ctx, kind, s[name])
			took := time.Since(begun)
			if err != nil {
				return out, fmt.Errorf("reader, %s %s: %w", kind, s[name], err)
			}
			if round > 0 {
				these = append(these, took)
				continue
			}
			c := Reading{Returned: uint64(n)} //nolint:gosec // a length
			for _, f := range e.finished(ctx) {
				if f.Database == database && !before[f.QueryID+f.Started] {
					c.add(f)
				}
			}
			counts = append(counts, c)
		}
		if round > 0 {
			slices.Sort(these)
			times, medians = append(times, these...), append(medians, these[len(these)/2])
		}
	}
	slices.Sort(times)
	mid := func(by func(Reading) uint64) uint64 {
		all := make([]uint64, len(counts))
		for i, c := range counts {
			all[i] = by(c)
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	out = Reading{
		Returned: mid(func(c Reading) uint64 { return c.Returned }), Statements: mid(func(c Reading) uint64 { return c.Statements }),
		Evidence: mid(func(c Reading) uint64 { return c.Evidence }), Lists: mid(func(c Reading) uint64 { return c.Lists }),
	}
	if len(times) > 0 {
		out.P50, out.Fastest, out.Slowest = times[len(times)/2], slices.Min(medians), slices.Max(medians)
	}
	return out, nil
}

func (c *Reading) add(f finished) {
	c.Statements++
	if strings.Contains(f.Statement, "FROM events") && !strings.Contains(f.Statement, "max(ingested_time)") { // that is a part's bound
		c.Evidence += f.ReadRows
		return
	}
	c.Lists += f.ReadRows
}

// finished is a statement of the embedded store's list.
type finished struct {
	QueryID   string `json:"query_id"`
	Started   string `json:"started"`
	Database  string `json:"database"`
	Statement string `json:"statement"`
	ReadRows  uint64 `json:"read_rows"`
}

// finished lists the last statements; nothing where the store has no such list.
func (e *Engine) finished(ctx context.Context) []finished {
	u := e.base
	u.Path = "/faultline/queries"
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil
	}
	answer, err := e.client.Do(r)
	if err != nil {
		return nil
	}
	defer func() { _ = answer.Body.Close() }()
	var body struct{ Queries []finished }
	_ = json.NewDecoder(answer.Body).Decode(&body)
	return body.Queries
}
