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
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/table"
)

func incidentsCommand() *cobra.Command {
	victims, open, layer := 1, false, ""
	return across[incident.List]{
		name: "incidents", short: "Allocations hit by one cause in one window, as one incident with its victims",
		long: "Groups the faults of all allocations by cause: the same layer, mechanism and subject (a node, a certificate, a\n" +
			"host, a provider, a component), with no longer than " + incident.Window.String() + " of quiet between them.",
		example: "  faultline incidents --open\n  faultline incidents --details\n  faultline incidents --victims 2 export.jsonl",
		ofFiles: func(g *correlator.Dataset) incident.List {
			list := incident.NewList(query.Assess(g, rules.All()), 0, incident.Window, victims)
			list.Incidents = slices.DeleteFunc(list.Incidents, func(in incident.Incident) bool { return open && !in.Open || layer != "" && in.Layer != layer })
			return list
		},
		view:    viewIncidents,
		asOf:    func(list incident.List) correlator.Time { return list.AsOf },
		details: detailIncidents,
		found:   func(list incident.List) int { return len(list.Incidents) },
		flags: func(cmd *cobra.Command) {
			cmd.Flags().IntVar(&victims, "victims", 1, "only those with at least so many victims")
			cmd.Flags().BoolVar(&open, "open", false, "only those that are still open")
			cmd.Flags().StringVar(&layer, "layer", "", "only what is this layer's")
			complete(cmd, "layer", layers()...)
		},
		request: func(asOf *time.Time) request {
			return func(ctx context.Context, c client.ClientInterface) (*http.Response, error) {
				return c.ListIncidents(ctx, &client.ListIncidentsParams{Layer: ifSaid(layer), AsOf: asOf, Victims: &victims, Open: &open})
			}
		},
	}.command()
}

func viewIncidents(l *look, list incident.List, now time.Time) view {
	v := view{table: &table.Table{Columns: []table.Column{
		{Name: "ID"}, {Name: "OWNER"}, {Name: "SINCE", Right: !l.utc, Ages: !l.utc, Rank: 2}, {Name: "STATE", Rank: 3}, {Name: "VICTIMS", Right: true},
		{Name: "CAUSE", Wide: true}, {Name: "SUBJECT", Wide: true}, {Name: "CONFIDENCE", Wide: true}, {Name: "TEAM", Wide: true}, {Name: "CONTACT", Wide: true}, {Name: "WHAT", Free: true},
		{Name: "NEXT CHECK", Wide: true}, {Name: "SAFE ACTION", Wide: true},
	}}}
	for _, in := range list.Incidents {
		state, style := "over", table.Faint
		if in.Open {
			state, style = "open", table.Bad
		}
		owner := in.Layer
		if in.Contested {
			owner += "?"
		}
		row := plain(in.ID, owner, l.since(in.FirstSeen, now), state, strconv.Itoa(len(in.Victims)), in.Layer+"."+in.Mechanism,
			in.Subject.Kind+" "+clipList(in.Subject.IDs, 4), in.Confidence, in.Owner.Team, in.Owner.Contact, in.Summary, in.NextCheck, in.SafeAction)
		row[1].Style, row[3].Style = table.Strong, style
		v.table.Add(row...)
		v.ids = append(v.ids, in.ID)
	}
	v.foot = fmt.Sprintf("%d incidents, of %d allocations, as of %s", len(list.Incidents), list.Examined, list.AsOf)
	return v
}

// detailIncidents says of every incident who owns it, what to check and to do, and whom it hit.
func detailIncidents(p *page, list incident.List) {
	for _, in := range list.Incidents {
		until := &in.LastSeen
		if in.Open {
			until = nil
		}
		p.styled("", fmt.Sprintf("%s  %s.%s · %s %s · %s confidence · %s", in.ID, strings.ToUpper(in.Layer), in.Mechanism,
			in.Subject.Kind, clipList(in.Subject.IDs, 4), in.Confidence, p.lasted(in.FirstSeen, until)), table.Strong)
		if in.Contested {
			p.field("contested", "another layer has equal evidence")
		}
		p.field("owner", strings.Join(nonEmpty(in.Layer, in.Owner.Team, in.Owner.Contact, in.Owner.Runbook), " · "))
		p.field("why", in.Summary)
		p.field("next check", in.NextCheck)
		p.field("safe action", in.SafeAction)
		var ids []string
		for _, v := range in.Victims {
			ids = append(ids, v.ID)
		}
		p.field(plural(len(ids), "victim"), clipList(ids, 12))
		p.blank()
	}
}

// plural counts a noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
