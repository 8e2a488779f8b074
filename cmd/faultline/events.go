package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/api/client"
	"github.com/faultline-io/faultline/internal/identity"
	"github.com/faultline-io/faultline/internal/table"
)

// eventsAtOnce is how many records one request of a long reading brings.
const eventsAtOnce = 1000

// reading is a question whose answer comes in pages.
type reading struct {
	question
	from, to moment
	limit    int
	ages     bool // people are told how old records are
}

func (r *reading) flags(cmd *cobra.Command, limit int, whole string) {
	r.question.flags(cmd)
	cmd.Flags().Var(&r.asOf, "as-of", "leave out what was ingested after this time (RFC 3339), or so long ago (90m, 24h)")
	cmd.Flags().Lookup("json").Usage = "print one JSON object a line"
	cmd.Flags().Var(&r.from, "from", "stamped at or after this time (RFC 3339), or so long ago (90m, 24h)")
	cmd.Flags().Var(&r.to, "to", "stamped before this time (RFC 3339), or so long ago")
	cmd.Flags().IntVar(&r.limit, "limit", limit, "print at most so many records"+whole)
}

func eventsCommand() *cobra.Command {
	r := reading{}
	of := map[identity.Kind]*string{}
	cmd := &cobra.Command{
		Use:   "events [ALLOCATION]",
		Short: "The records of an allocation, node, workflow, trace or correlation, one by one, whole",
		Example: `  faultline events a-1
  faultline events --node n-7 --from 24h --json | jq .body`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: completeIDs(&r.question),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				of[identity.Allocation] = &args[0]
			}
			p, id := client.ListEventsParams{}, ""
			for kind, place := range map[identity.Kind]**string{
				identity.Allocation: &p.AllocationID, identity.Node: &p.NodeID, identity.NodeInstance: &p.NodeInstanceID,
				identity.Workflow: &p.WorkflowID, identity.Trace: &p.TraceID, identity.Correlation: &p.CorrelationID,
			} {
				if named := of[kind]; named != nil && *named != "" {
					if id != "" {
						return errOneIdentifier
					}
					*place, id = named, *named
				}
			}
			if id == "" {
				return errOneIdentifier
			}
			printed, err := r.run(cmd, func(limit int, cursor *string) request {
				p.From, p.To, p.AsOf, p.Limit, p.Cursor = r.from.time(), r.to.time(), r.asOf.time(), &limit, cursor
				return func(ctx context.Context, c client.ClientInterface) (*http.Response, error) {
					return c.ListEvents(ctx, &p)
				}
			})
			if err == nil && printed == 0 && r.from.String() == "" && r.to.String() == "" && r.asOf.String() == "" {
				note(cmd.ErrOrStderr(), r.unknown(cmd.Context(), id).Error())
			}
			return err
		},
	}
	for _, kind := range []identity.Kind{identity.Node, identity.NodeInstance, identity.Workflow, identity.Trace, identity.Correlation} {
		name := strings.ReplaceAll(kind.String(), "_", "-")
		of[kind] = cmd.Flags().String(name, "", "the records of this "+strings.ReplaceAll(name, "-", " "))
	}
	r.flags(cmd, 0, "; 0 prints all")
	return cmd
}

var errOneIdentifier = errors.New("events needs one identifier: an ALLOCATION, or one of --node, --node-instance, --workflow, --trace, --correlation")

// run prints page after page, and says how many records that were.
func (r *reading) run(cmd *cobra.Command, page func(limit int, cursor *string) request) (printed int, err error) {
	if r.limit < 0 {
		return 0, errors.New("--limit: is negative")
	}
	var cursor *string
	lines := newEventPrinter(cmd.OutOrStdout(), r.page(cmd.OutOrStdout(), r.screen(cmd), r.now()), r.ages)
	for left := r.limit; ; {
		most := eventsAtOnce
		if r.limit > 0 {
			most = min(most, left)
		}
		var found api.Events
		if err := r.get(cmd.Context(), page(most, cursor), &found); err != nil {
			return printed, err
		}
		if cursor == nil && found.Bounded {
			note(cmd.ErrOrStderr(), "more identifiers lead here than are followed: late-linked records may be missing")
		}
		for _, e := range found.Events {
			if err := lines.print(e); err != nil {
				return printed, err
			}
		}
		left, printed = left-len(found.Events), printed+len(found.Events)
		if found.Next == nil || r.limit > 0 && left <= 0 {
			return printed, lines.flush()
		}
		if err := lines.flush(); err != nil {
			return printed, err
		}
		cursor = found.Next
	}
}

func note(w io.Writer, text string) { _, _ = fmt.Fprintln(w, "faultline: "+table.Clean(text)) }
