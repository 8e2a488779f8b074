package main

import (
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/table"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/rest"
)

func recoverStuckCommand() *cobra.Command {
	var p provisionerClient
	kind, older := "", time.Duration(0)
	cmd := &cobra.Command{
		Use:   "stuck",
		Short: "What is stuck: its state, since when, who owns the next move, and what is legal now",
		Long: `Lists what the provisioner itself holds to be stuck: failed releases, fenced nodes, dead and failing messages of the
outbox, views that cannot be written, provider jobs that cannot be polled, and allocations, workflows and tasks that
have been on their way for too long. (faultline stuck says from telemetry whose trouble it is.)`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ask := url.Values{}
			if kind != "" {
				ask.Set("kind", kind)
			}
			if older != 0 {
				ask.Set("older", older.String())
			}
			var all recovery.Stuck
			if err := p.get(cmd.Context(), "/v1/recovery/stuck?"+ask.Encode(), &all); err != nil {
				return err
			}
			if p.json {
				return printJSON(cmd.OutOrStdout(), all)
			}
			return showStuckItems(table.Safe(cmd.OutOrStdout()), all)
		},
	}
	p.flags(cmd)
	cmd.Flags().StringVar(&kind, "kind", "", "only allocation, workflow, task, provider_job, message, node or projection")
	cmd.Flags().DurationVar(&older, "older", 0, "how long something may be on its way (default the provisioner's recovery.stuck_after)")
	return cmd
}

func showStuckItems(w io.Writer, all recovery.Stuck) error {
	for _, i := range all.Items {
		_, _ = fmt.Fprintf(w, "%s %s  %s since %s (%s) · next move: %s\n", i.Kind, i.ID, i.State, i.Since.Format(time.RFC3339),
			all.AsOf.Sub(i.Since).Round(time.Second), i.Owner)
		if i.Why != "" {
			_, _ = fmt.Fprintf(w, "    %s\n", i.Why)
		}
		for _, l := range i.Actions {
			_, _ = fmt.Fprintf(w, "    faultline recover %s %s   (%s)\n", l.Action, l.ID, l.Role)
		}
	}
	more := ""
	if all.Truncated {
		more = ", and more than are listed"
	}
	_, err := fmt.Fprintf(w, "%d stuck%s, as of %s\n", len(all.Items), more, all.AsOf.Format(time.RFC3339))
	return err
}

func recoverActionsCommand() *cobra.Command {
	var p provisionerClient
	cmd := &cobra.Command{
		Use:   "actions",
		Short: "The table of actions, as the provisioner has it: role, guards, moves",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var all rest.RecoveryActions
			if err := p.get(cmd.Context(), "/v1/recovery/actions", &all); err != nil {
				return err
			}
			if p.json {
				return printJSON(cmd.OutOrStdout(), all)
			}
			for _, a := range all.Actions {
				var guards []string
				for _, g := range a.Guards {
					guards = append(guards, g.Guard)
				}
				_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s %s  (%s)\n    %s\n    guards: %s\n", a.Name, strings.ToUpper(a.Of.One()), a.Role, a.Does, strings.Join(guards, ", "))
			}
			return nil
		},
	}
	p.flags(cmd)
	return cmd
}

func recoverAuditCommand() *cobra.Command {
	var p provisionerClient
	limit := 50
	ask := map[string]*string{}
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Who did what by hand, and what was refused or denied; newest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			values := url.Values{"limit": {strconv.Itoa(limit)}}
			for key, value := range ask {
				if *value != "" {
					values.Set(key, *value)
				}
			}
			var page rest.AuditLog
			if err := p.get(cmd.Context(), "/v1/audit?"+values.Encode(), &page); err != nil {
				return err
			}
			if p.json {
				return printJSON(cmd.OutOrStdout(), page)
			}
			return showAudit(table.Safe(cmd.OutOrStdout()), page)
		},
	}
	p.flags(cmd)
	cmd.Flags().IntVar(&limit, "limit", limit, "rows of one page, up to 500")
	for _, f := range []struct{ flag, key, does string }{
		{"allocation", "allocation_id", "only what was done to this allocation"}, {"node", "node_id", "only what was done to this node"},
		{"actor", "actor", "only what this one did"}, {"action", "action", "only this action, such as force_release"},
		{"outcome", "outcome", "only done, refused or denied"}, {"after", "after", "the page that follows this audit id"},
	} {
		ask[f.key] = cmd.Flags().String(f.flag, "", f.does)
	}
	return cmd
}

func showAudit(w io.Writer, page rest.AuditLog) error {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, e := range page.Entries {
		_, _ = fmt.Fprintf(columns, "%s\t%s\t%s\t%s\t%s\n", e.At.Format(time.RFC3339), e.Actor, e.Action, e.Outcome,
			strings.Join(nonEmpty(e.AllocationID, e.NodeID, e.Subject), " "))
		detail := e.Detail
		if e.Outcome == "done" && e.Before != e.After {
			detail = e.Before + " → " + e.After
		}
		for _, line := range nonEmpty(e.Reason, detail, after("evidence: ", e.Evidence)) {
			_, _ = fmt.Fprintf(columns, "\t  %s\n", strings.Join(strings.Fields(line), " "))
		}
	}
	if err := columns.Flush(); err != nil {
		return err
	}
	if page.Next != "" {
		_, err := fmt.Fprintf(w, "more: --after %s\n", page.Next)
		return err
	}
	return nil
}
