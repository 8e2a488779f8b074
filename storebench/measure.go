package storebench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Sample is what one round of questions is asked about.
type Sample map[string]string

// Samples draws allocations of about a hundred records, with what else names their records.
func Samples(ctx context.Context, e *Engine, ours string, n int) ([]Sample, error) {
	answer, _, err := e.Ask(ctx, ours, fmt.Sprintf(`SELECT allocation_id, concat(allocation_id, 'x'), anyIf(workflow_id, workflow_id != ''), anyIf(correlation_id, correlation_id != ''),
anyIf(trace_id, trace_id != ''), anyIf(node_id, node_id != ''), anyIf(node_instance_id, node_instance_id != ''), toUnixTimestamp(min(time)), toUnixTimestamp(max(time)) + 1,
arrayElement(splitByChar('-', anyIf(arrayFirst(k -> startsWith(k, 'request:'), keys_rest) AS request, request != '' AND service = 'fulfillment-api')), -1)
FROM events WHERE allocation_id != '' GROUP BY allocation_id HAVING count() BETWEEN 80 AND 125
ORDER BY cityHash64(allocation_id) LIMIT %d`, n), nil)
	if err != nil {
		return nil, err
	}
	var out []Sample
	for _, l := range lines(answer) {
		s := Sample{}
		for i, name := range []string{"allocation", "unknown", "workflow", "correlation", "trace", "node", "instance", "from", "to", "word"} {
			s[name] = l[i]
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no allocation of a hundred records among those of %s", ours)
	}
	return out, nil
}

// Figure is what a question took of one contender: medians over the samples for counts; times over all rounds.
type Figure struct {
	Returned, Rows, Bytes uint64
	P50, P99              time.Duration
	Slowest, Fastest      time.Duration // median of the slowest, of the fastest round
}

// settings of every statement: what the engine remembers of the same condition asked before is no merit
// of a table.
var settings = map[string]string{"use_query_condition_cache": "0"}

// Measure puts a question about every sample, in several rounds, the first of which only warms up.
func (c Contender) Measure(ctx context.Context, e *Engine, q Question, samples []Sample, rounds int) (Figure, error) {
	counts := make([]Cost, 0, len(samples))
	var times, medians []time.Duration
	for round := range rounds + 1 {
		var these []time.Duration
		for _, s := range samples {
			var sum Cost
			for _, statement := range c.Questions[q] {
				_, cost, err := e.Ask(ctx, c.Database, s.in(statement), settings)
				if err != nil {
					return Figure{}, fmt.Errorf("%s, %s: %w", c.Name, q, err)
				}
				sum = sum.plus(cost)
			}
			if round == 0 {
				counts = append(counts, sum)
			} else {
				these = append(these, sum.Took)
			}
		}
		if round > 0 {
			slices.Sort(these)
			times, medians = append(times, these...), append(medians, these[len(these)/2])
		}
	}
	slices.Sort(times)
	f := Figure{
		Returned: median(counts, func(c Cost) uint64 { return c.Returned }), Rows: median(counts, func(c Cost) uint64 { return c.Rows }),
		Bytes: median(counts, func(c Cost) uint64 { return c.Bytes }),
	}
	if len(times) > 0 {
		f.P50, f.P99, f.Fastest, f.Slowest = times[len(times)/2], times[len(times)*99/100], slices.Min(medians), slices.Max(medians)
	}
	return f, nil
}

func median(of []Cost, by func(Cost) uint64) uint64 {
	all := make([]uint64, len(of))
	for i, c := range of {
		all[i] = by(c)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func (s Sample) in(statement string) string {
	pairs := make([]string, 0, 2*len(s))
	for name, value := range s {
		pairs = append(pairs, "{"+name+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(statement)
}
