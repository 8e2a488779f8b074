package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/api/client"
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/internal/near"
	"github.com/faultline-io/faultline/internal/table"
)

// allocationList is the answer of /api/v1/allocations.
type allocationList struct {
	Allocations []listed `json:"allocations"`
}

// listed is one allocation in a list, with what a correlator may tell of its verdict.
type listed struct {
	query.Listed
	Outcome        *string  `json:"outcome,omitempty"`
	Layer          *string  `json:"layer,omitempty"` // of the strongest fault
	Team           *string  `json:"team,omitempty"`
	Confidence     *string  `json:"confidence,omitempty"`
	Summary        *string  `json:"summary,omitempty"`
	Tenant         *string  `json:"tenant,omitempty"`
	Stuck          *bool    `json:"stuck,omitempty"`
	OverdueSeconds *int64   `json:"overdue_seconds,omitempty"`
	Nodes          []string `json:"nodes,omitempty"`
}

// judged says whether the correlator told of any verdict.
func (l allocationList) judged() bool {
	return slices.ContainsFunc(l.Allocations, func(a listed) bool { return a.Outcome != nil })
}

// listFilters are the flags of list that narrow it, and the parameters that they are sent as.
type listFilters struct {
	state, layer, outcome, owner, provider, text, tenant string
	stuck                                                bool
	since                                                moment
	limit                                                int
}

func (f *listFilters) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.state, "state", "", "only allocations in this state")
	flags.StringVar(&f.layer, "layer", "", "only those whose trouble is this layer's")
	flags.StringVar(&f.outcome, "outcome", "", "only those whose verdict is none, attributed, contested or undetermined")
	flags.StringVar(&f.owner, "owner", "", "only those whose trouble is this team's")
	flags.StringVar(&f.provider, "provider", "", "only those that this provider works on")
	flags.StringVar(&f.text, "text", "", "only those whose verdict says this")
	flags.StringVar(&f.tenant, "tenant", "", "only those of this tenant")
	flags.IntVar(&f.limit, "limit", 100, "how many at most, 1 to 1000")
	flags.BoolVar(&f.stuck, "stuck", false, "only those whose next step is overdue; --stuck=false: only the others")
	flags.Var(&f.since, "since", "only those heard of since this time (RFC 3339), or so long ago (90m, 24h)")
	complete(cmd, "state", states()...)
	complete(cmd, "layer", layers()...)
	complete(cmd, "outcome", correlator.None, correlator.Attributed, correlator.Contested, correlator.Undetermined)
}

// check says what can't be meant: a state that there is none of would be an empty list, as if all were well.
func (f *listFilters) check() error {
	if known := states(); f.state != "" && !slices.Contains(known, f.state) {
		return fmt.Errorf("--state: %q is none of %s%s", f.state, strings.Join(known, ", "), didYouMean(near.Words(f.state, known, 1)))
	}
	return nil
}

func (f *listFilters) request(cmd *cobra.Command) request {
	p := client.ListAllocationsParams{
		State: ifSaid(f.state), Layer: ifSaid(f.layer), Outcome: ifSaid(client.ListAllocationsParamsOutcome(f.outcome)), Owner: ifSaid(f.owner),
		Provider: ifSaid(f.provider), Text: ifSaid(f.text), Tenant: ifSaid(f.tenant), From: f.since.time(), Limit: &f.limit,
	}
	if cmd.Flags().Changed("stuck") {
		p.Stuck = &f.stuck
	}
	return func(ctx context.Context, c client.ClientInterface) (*http.Response, error) {
		return c.ListAllocations(ctx, &p)
	}
}

func listCommand() *cobra.Command {
	q, f := question{}, listFilters{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Allocations, their states and whose trouble they are, the most recently heard of first",
		Example: `  faultline list --stuck
  faultline list --layer provider --since 2h
  faultline list --state failed -o id | xargs -n1 faultline verdict`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			var found allocationList
			if err := q.get(cmd.Context(), f.request(cmd), &found); err != nil {
				return err
			}
			now := time.Now()
			if err := q.show(cmd, now, found, func() view { return viewList(&q.look, found, now) }); err != nil {
				return err
			}
			switch n := len(found.Allocations); {
			case n > 0 && f.narrows(cmd) && !found.judged():
				note(cmd.ErrOrStderr(), "none of these has a verdict: a correlator older than this command knows no filter but --state")
			case q.json:
			case n == 0:
				note(cmd.ErrOrStderr(), "no allocations")
			case n == f.limit:
				note(cmd.ErrOrStderr(), "the "+strconv.Itoa(f.limit)+" that were heard of last; --limit N shows more")
			}
			return nil
		},
	}
	q.flags(cmd)
	f.flags(cmd)
	return cmd
}

// narrows says whether anything but a state is asked for.
func (f *listFilters) narrows(cmd *cobra.Command) bool {
	return cmd.Flags().Changed("stuck") || f.since.String() != "" || f.layer+f.outcome+f.owner+f.provider+f.text+f.tenant != ""
}

func viewList(l *look, found allocationList, now time.Time) view {
	v := view{table: &table.Table{Columns: []table.Column{
		{Name: "ID"}, {Name: "TENANT", Wide: true}, {Name: "STATE"}, {Name: ifUTC(l, "SINCE", "FOR"), Right: !l.utc, Ages: !l.utc, Rank: 1}, {Name: "OVERDUE", Wide: true, Ages: true},
		{Name: "OWNER"}, {Name: "TEAM", Wide: true}, {Name: "CONFIDENCE", Wide: true}, {Name: ifUTC(l, "LAST SEEN", "HEARD OF"), Wide: true, Ages: true}, {Name: "VERDICT", Free: true},
	}}}
	for _, a := range found.Allocations {
		overdue := ""
		if a.OverdueSeconds != nil {
			overdue = table.Age(time.Duration(*a.OverdueSeconds) * time.Second)
		}
		row := plain(a.ID, text(a.Tenant), text(a.State), l.sinceIf(a.Since, now), overdue, text(a.Layer), text(a.Team), text(a.Confidence), l.since(a.LastSeen, now),
			strings.Join(nonEmpty(text(a.Outcome), text(a.Summary)), ": "))
		row[0].Style, row[5].Style, row[9].Style = table.Strong, table.Strong, outcomeStyle(text(a.Outcome))
		if a.Stuck != nil && *a.Stuck {
			row[3].Style = table.Bad
		}
		v.table.Add(row...)
		v.ids = append(v.ids, a.ID)
	}
	return v
}

func ifUTC(l *look, yes, no string) string {
	if l.utc {
		return yes
	}
	return no
}

func outcomeStyle(outcome string) table.Style {
	switch outcome {
	case correlator.None:
		return table.Faint
	case correlator.Attributed:
		return table.Bad
	case correlator.Contested, correlator.Undetermined:
		return table.Caution
	}
	return table.Plain
}
