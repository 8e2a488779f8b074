package main

import (
	"bufio"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
)

// across is a question over many allocations: of files where some are named, else of a running
// correlator.
type across[List any] struct {
	name, short, long, example string
	path                       string                         // of the REST API, with its parameters
	ofFiles                    func(*correlator.Dataset) List // the same answer, worked out here
	show                       func(io.Writer, List) error
	flags                      func(*cobra.Command)
}

// command makes the cobra command of a question.
func (a across[List]) command(parameters func() url.Values) *cobra.Command {
	q, in := question{}, input{}
	cmd := &cobra.Command{
		Use: a.name + " [FILE...]", Short: a.short, Example: a.example,
		Long: a.long + `

With FILEs (OTLP/JSON, as in faultline analyze) they are judged here; without, a running correlator is asked.
Exit status: 0 all read; 3 something was rejected (the answer is still whole); 1 usage or I/O error.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, files []string) error {
			if len(files) == 0 && in.profile != "" {
				return fmt.Errorf("--profile goes with FILEs: a running correlator has its own")
			}
			if len(files) > 0 && cmd.Flags().Changed("server") {
				return fmt.Errorf("--server and FILEs exclude each other")
			}
			var list List
			var rejected error
			if len(files) > 0 {
				in.asOf = q.asOf
				g, err := in.gather(files, cmd.InOrStdin(), cmd.ErrOrStderr())
				if err != nil {
					return err
				}
				if list = a.ofFiles(g); g.Stats.Rejected > 0 {
					rejected = errRejected
				}
			} else {
				values := parameters()
				if q.asOf != "" {
					values.Set("as_of", q.asOf)
				}
				if err := q.get(cmd.Context(), a.path+"?"+values.Encode(), &list); err != nil {
					return err
				}
			}
			out := bufio.NewWriter(cmd.OutOrStdout())
			var err error
			if q.json {
				err = printJSON(out, list)
			} else {
				err = a.show(out, list)
			}
			if err == nil {
				err = out.Flush()
			}
			if err != nil {
				return fmt.Errorf("write the answer: %w", err)
			}
			return rejected
		},
	}
	q.flags(cmd)
	q.pastFlag(cmd)
	cmd.Flags().StringVar(&in.profile, "profile", "", "built-in profile or profile file, for FILEs (default \"default\")")
	if a.flags != nil {
		a.flags(cmd)
	}
	return cmd
}

func stuckCommand() *cobra.Command {
	layer := ""
	return across[incident.StuckList]{
		name: "stuck", short: "Everything that sits in a state longer than it should, by whose move it is; and orphans",
		long: "Lists allocations whose next step is overdue: who owes it, since when, by how much, and whose trouble that is\n" +
			"where the evidence says so. Resources whose allocation is gone are listed as orphans.",
		example: "  faultline stuck\n  faultline stuck --layer node_agent --json export.jsonl",
		path:    "/api/v1/stuck",
		ofFiles: func(g *correlator.Dataset) incident.StuckList {
			list := incident.ListStuck(query.Assess(g, rules.All()), g.Now)
			list.Allocations = slices.DeleteFunc(list.Allocations, func(s incident.StuckAllocation) bool { return layer != "" && s.Layer != layer })
			return list
		},
		show:  showStuck,
		flags: func(cmd *cobra.Command) { cmd.Flags().StringVar(&layer, "layer", "", "only what is this layer's") },
	}.command(func() url.Values { return url.Values{"layer": {layer}} })
}

func showStuck(w io.Writer, list incident.StuckList) error {
	last := "\x00"
	for _, s := range list.Allocations {
		if s.Layer != last {
			last = s.Layer
			heading := strings.ToUpper(s.Layer)
			if heading == "" {
				heading = "NOBODY KNOWS WHOSE"
			}
			_, _ = fmt.Fprintf(w, "%s\n", strings.Join(nonEmpty(heading, s.LayerOwner.Team, s.LayerOwner.Contact, s.LayerOwner.Runbook), " · "))
		}
		state := "state unknown"
		if s.State != nil {
			state = *s.State + " since " + s.Since.String()
		}
		_, _ = fmt.Fprintf(w, "  %s  %s\n      %s; due %s, overdue by %s\n", s.ID, state, s.What, s.Deadline, time.Duration(s.OverdueSeconds)*time.Second)
		switch {
		case s.Cause != "":
			_, _ = fmt.Fprintf(w, "      because of %s\n", s.Cause)
		case s.Owes == "":
			_, _ = fmt.Fprintf(w, "      %s: nobody is known to owe the next move\n", s.Outcome)
		default:
			_, _ = fmt.Fprintf(w, "      %s: %s owes the next move%s\n", s.Outcome, s.Owes, lastSign(s.Stuck))
		}
	}
	for _, o := range list.Orphans {
		_, _ = fmt.Fprintf(w, "ORPHAN  %s %s of %s, which is gone\n", o.Kind, o.ResourceUID, o.AllocationID)
	}
	_, err := fmt.Fprintf(w, "%d stuck and %d orphans, of %d allocations, as of %s\n", len(list.Allocations), len(list.Orphans), list.Examined, list.AsOf)
	return err
}

// lastSign says whether the party that owes a step is heard of.
func lastSign(s correlator.Stuck) string {
	if s.SeenAt == nil {
		return ", and is silent since it was due"
	}
	return ", and was seen " + s.SeenAt.String()
}

func driftCommand() *cobra.Command {
	return across[incident.DriftList]{
		name: "drift", short: "Every view that shows something else than the truth, for longer than its grace",
		long:    "Compares what views showed when they were last looked at with what was true then.",
		example: "  faultline drift\n  faultline drift export.jsonl",
		path:    "/api/v1/drift",
		ofFiles: func(g *correlator.Dataset) incident.DriftList {
			return incident.ListDrift(query.Assess(g, rules.All()), g.Now)
		},
		show: func(w io.Writer, list incident.DriftList) error {
			for _, d := range list.Drift {
				_, _ = fmt.Fprintf(w, "%s  %s shows %s %s, truth is %s since %s\n", d.ID, d.Projection, d.Field, d.Shown, d.Truth, d.Since)
			}
			_, err := fmt.Fprintf(w, "%d views drift, of %d allocations, as of %s\n", len(list.Drift), list.Examined, list.AsOf)
			return err
		},
	}.command(func() url.Values { return url.Values{} })
}

func incidentsCommand() *cobra.Command {
	victims, open := 1, false
	keep := func(list incident.List) incident.List {
		list.Incidents = slices.DeleteFunc(list.Incidents, func(in incident.Incident) bool { return open && !in.Open })
		return list
	}
	return across[incident.List]{
		name: "incidents", short: "Allocations hit by one cause in one window, as one incident with its victims",
		long: "Groups the faults of all allocations by cause: the same layer, mechanism and subject (a node, a certificate, a\n" +
			"host, a provider, a component), with no longer than " + incident.Window.String() + " of quiet between them.",
		example: "  faultline incidents --open\n  faultline incidents --victims 2 export.jsonl",
		path:    "/api/v1/incidents",
		ofFiles: func(g *correlator.Dataset) incident.List {
			return keep(incident.NewList(query.Assess(g, rules.All()), incident.Window, victims))
		},
		show: showIncidents,
		flags: func(cmd *cobra.Command) {
			cmd.Flags().IntVar(&victims, "victims", 1, "only those with at least so many victims")
			cmd.Flags().BoolVar(&open, "open", false, "only those that are still open")
		},
	}.command(func() url.Values {
		return url.Values{"victims": {fmt.Sprint(victims)}, "open": {fmt.Sprint(open)}}
	})
}

func showIncidents(w io.Writer, list incident.List) error {
	for _, in := range list.Incidents {
		open := "over since " + in.LastSeen.String()
		if in.Open {
			open = "still open"
		}
		_, _ = fmt.Fprintf(w, "%s  %s.%s · %s %s · %s confidence · since %s, %s\n", in.ID, strings.ToUpper(in.Layer), in.Mechanism,
			in.Subject.Kind, clipList(in.Subject.IDs, 4), in.Confidence, in.FirstSeen, open)
		if in.Contested {
			_, _ = fmt.Fprintln(w, "      contested: another layer has equal evidence")
		}
		_, _ = fmt.Fprintf(w, "      %s\n", in.Summary)
		if in.Owner.Team != "" {
			_, _ = fmt.Fprintf(w, "      owner: %s\n", strings.Join(nonEmpty(in.Owner.Team, in.Owner.Contact, in.Owner.Runbook), " · "))
		}
		for _, line := range [][2]string{{"next check", in.NextCheck}, {"safe action", in.SafeAction}} {
			if line[1] != "" {
				_, _ = fmt.Fprintf(w, "      %s: %s\n", line[0], line[1])
			}
		}
		var ids []string
		for _, v := range in.Victims {
			ids = append(ids, v.ID)
		}
		noun := "victims"
		if len(ids) == 1 {
			noun = "victim"
		}
		_, _ = fmt.Fprintf(w, "      %d %s: %s\n", len(ids), noun, clipList(ids, 12))
	}
	_, err := fmt.Fprintf(w, "%d incidents, of %d allocations, as of %s\n", len(list.Incidents), list.Examined, list.AsOf)
	return err
}
