package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/api/client"
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/table"
)

func driftCommand() *cobra.Command {
	return across[incident.DriftList]{
		name: "drift", short: "Every view that shows something else than the truth, for longer than its grace",
		long:    "Compares what views showed when they were last looked at with what was true then.",
		example: "  faultline drift\n  faultline drift export.jsonl",
		ofFiles: func(g *correlator.Dataset) incident.DriftList {
			return incident.ListDrift(query.Assess(g, rules.All()), g.Now)
		},
		view: viewDrift,
		asOf: func(list incident.DriftList) correlator.Time { return list.AsOf },
		request: func(asOf *time.Time) request {
			return func(ctx context.Context, c client.ClientInterface) (*http.Response, error) {
				return c.ListDrift(ctx, &client.ListDriftParams{AsOf: asOf})
			}
		},
	}.command()
}

func viewDrift(l *look, list incident.DriftList, now time.Time) view {
	v := view{table: &table.Table{Columns: []table.Column{
		{Name: "ID"}, {Name: "STATE", Wide: true}, {Name: "VIEW"}, {Name: "FIELD", Rank: 1}, {Name: "SHOWN", Free: true}, {Name: "TRUTH", Free: true},
		{Name: "SINCE", Right: !l.utc, Ages: !l.utc, Rank: 2}, {Name: "VERDICT", Wide: true},
	}}}
	for _, d := range list.Drift {
		row := plain(d.ID, text(d.State), d.Projection, d.Field, d.Shown, d.Truth, l.since(d.Since, now), d.Outcome)
		row[0].Style, row[4].Style, row[5].Style = table.Strong, table.Bad, table.Good
		v.table.Add(row...)
		v.ids = append(v.ids, d.ID)
	}
	v.foot = fmt.Sprintf("%d views drift, of %d allocations, as of %s", len(list.Drift), list.Examined, list.AsOf)
	return v
}
