package main

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
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

// listFilters are the flags of list that narrow it, each sent as the parameter of its name.
var listFilters = []struct{ name, does string }{
	{"state", "only allocations in this state"},
	{"layer", "only those whose trouble is this layer's"},
	{"outcome", "only those whose verdict is none, attributed, contested or undetermined"},
	{"owner", "only those whose trouble is this team's"},
	{"provider", "only those that this provider works on"},
	{"text", "only those whose verdict says this"},
	{"tenant", "only those of this tenant"},
}

func listCommand() *cobra.Command {
	q := question{}
	filters := map[string]*string{}
	limit, stuck, since := 0, false, moment{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Allocations, their states and whose trouble they are, the most recently heard of first",
		Example: `  faultline list --stuck
  faultline list --layer provider --since 2h
  faultline list --state failed -o id | xargs -n1 faultline verdict`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ask := url.Values{"limit": {strconv.Itoa(limit)}}
			for name, value := range filters {
				if *value != "" {
					ask.Set(name, *value)
				}
			}
			if cmd.Flags().Changed("stuck") {
				ask.Set("stuck", strconv.FormatBool(stuck))
			}
			if since.String() != "" {
				ask.Set("from", since.String())
			}
			var found allocationList
			if err := q.get(cmd.Context(), "/api/v1/allocations?"+ask.Encode(), &found); err != nil {
				return err
			}
			now := time.Now()
			if err := q.show(cmd, now, found, func() view { return viewList(&q.look, found, now) }); err != nil {
				return err
			}
			switch n := len(found.Allocations); {
			case n > 0 && len(ask) > 1 && !found.judged() && (len(ask) > 2 || !ask.Has("state")):
				note(cmd.ErrOrStderr(), "none of these has a verdict: a correlator older than this command knows no filter but --state")
			case q.json:
			case n == 0:
				note(cmd.ErrOrStderr(), "no allocations")
			case n == limit:
				note(cmd.ErrOrStderr(), "the "+strconv.Itoa(limit)+" that were heard of last; --limit N shows more")
			}
			return nil
		},
	}
	q.flags(cmd)
	f := cmd.Flags()
	f.IntVar(&limit, "limit", 100, "how many at most, 1 to 1000")
	f.BoolVar(&stuck, "stuck", false, "only those whose next step is overdue; --stuck=false: only the others")
	f.Var(&since, "since", "only those heard of since this time (RFC 3339), or so long ago (90m, 24h)")
	for _, filter := range listFilters {
		filters[filter.name] = f.String(filter.name, "", filter.does)
	}
	complete(cmd, "state", states()...)
	complete(cmd, "layer", layers()...)
	complete(cmd, "outcome", correlator.None, correlator.Attributed, correlator.Contested, correlator.Undetermined)
	return cmd
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
