package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
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

func stuckCommand() *cobra.Command {
	layer := ""
	return across[incident.StuckList]{
		name: "stuck", short: "Everything that sits in a state longer than it should, by whose move it is; and orphans",
		long: "Lists allocations whose next step is overdue: who owes it, since when, by how much, and whose trouble that is\n" +
			"where the evidence says so. Resources whose allocation is gone are listed as orphans.",
		example: "  faultline stuck\n  faultline stuck --layer node_agent --json export.jsonl\n  faultline stuck -o id | xargs -n1 faultline verdict",
		ofFiles: func(g *correlator.Dataset) incident.StuckList {
			list := incident.ListStuck(query.Assess(g, rules.All()), g.Now)
			list.Allocations = slices.DeleteFunc(list.Allocations, func(s incident.StuckAllocation) bool { return layer != "" && s.Layer != layer })
			return list
		},
		view:    viewStuck,
		asOf:    func(list incident.StuckList) correlator.Time { return list.AsOf },
		details: detailStuck,
		found:   func(list incident.StuckList) int { return len(list.Allocations) + len(list.Orphans) },
		flags: func(cmd *cobra.Command) {
			cmd.Flags().StringVar(&layer, "layer", "", "only what is this layer's")
			complete(cmd, "layer", layers()...)
		},
		request: func(asOf *time.Time) request {
			return func(ctx context.Context, c client.ClientInterface) (*http.Response, error) {
				return c.ListStuck(ctx, &client.ListStuckParams{Layer: ifSaid(layer), AsOf: asOf})
			}
		},
	}.command()
}

func viewStuck(l *look, list incident.StuckList, now time.Time) view {
	v := view{table: &table.Table{Columns: []table.Column{
		{Name: "ID"}, {Name: "STATE", Rank: 2}, {Name: "FOR", Wide: true, Ages: true}, {Name: "OVERDUE", Right: !l.utc, Ages: !l.utc}, {Name: "OWNER"}, {Name: "CAUSE", Rank: 1},
		{Name: "TEAM", Wide: true}, {Name: "CONTACT", Wide: true}, {Name: "OWES", Wide: true}, {Name: "LAST SIGN", Wide: true, Ages: true}, {Name: "WHAT", Free: true, Rank: 3},
	}}}
	for _, s := range list.Allocations {
		overdue := table.Age(time.Duration(s.OverdueSeconds) * time.Second)
		if l.utc {
			overdue = s.Deadline.String()
		}
		row := plain(s.ID, text(s.State), l.sinceIf(s.Since, now), overdue, s.Layer, orText(s.Cause, s.Outcome),
			s.LayerOwner.Team, s.LayerOwner.Contact, s.Owes, l.sinceIf(s.SeenAt, now), s.What)
		row[0].Style, row[3].Style, row[4].Style = table.Strong, table.Bad, table.Strong
		v.table.Add(row...)
		v.ids = append(v.ids, s.ID)
	}
	v.foot = fmt.Sprintf("%d stuck and %d orphans, of %d allocations, as of %s", len(list.Allocations), len(list.Orphans), list.Examined, list.AsOf)
	if len(list.Orphans) == 0 {
		return v
	}
	for _, o := range list.Orphans {
		v.table.Across(fmt.Sprintf("ORPHAN  %s %s of %s, which is gone", o.Kind, o.ResourceUID, o.AllocationID))
	}
	return v
}

// detailStuck says of everything that is stuck who owes what, by owner.
func detailStuck(p *page, list incident.StuckList) {
	last := "\x00"
	for _, s := range list.Allocations {
		if s.Layer != last {
			last = s.Layer
			p.styled("", strings.Join(nonEmpty(orText(strings.ToUpper(s.Layer), "NOBODY KNOWS WHOSE"), s.LayerOwner.Team, s.LayerOwner.Contact, s.LayerOwner.Runbook), " · "), table.Strong)
		}
		p.line("  ", s.ID+"  "+p.state(s.State, s.Since))
		p.line("      ", fmt.Sprintf("%s; due %s, overdue by %s", s.What, p.clock(s.Deadline), table.Age(time.Duration(s.OverdueSeconds)*time.Second)))
		switch {
		case s.Cause != "":
			p.line("      ", "because of "+s.Cause)
		case s.Owes == "":
			p.line("      ", s.Outcome+": nobody is known to owe the next move")
		default:
			p.line("      ", fmt.Sprintf("%s: %s owes the next move%s", s.Outcome, s.Owes, lastSign(p, s.Stuck)))
		}
	}
	for _, o := range list.Orphans {
		p.line("", fmt.Sprintf("ORPHAN  %s %s of %s, which is gone", o.Kind, o.ResourceUID, o.AllocationID))
	}
}

// lastSign says whether the party that owes a step is heard of.
func lastSign(p *page, s correlator.Stuck) string {
	if s.SeenAt == nil {
		return ", and is silent since it was due"
	}
	return ", and was seen " + p.clock(*s.SeenAt)
}

// text is what a pointer points to, "" for none.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// ifSaid is a parameter that is left out where the flag says nothing.
func ifSaid[T ~string](s T) *T {
	if s == "" {
		return nil
	}
	return &s
}

// orText is the first text that says something.
func orText(all ...string) string {
	for _, s := range all {
		if s != "" {
			return s
		}
	}
	return ""
}
