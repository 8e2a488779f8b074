package main

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/api"
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
	cmd.Flags().StringVar(&r.asOf, "as-of", "", "leave out what was ingested after this time (RFC 3339)")
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
			q := url.Values{}
			for kind, id := range of {
				if *id != "" {
					q.Set(kind.Attribute(), *id)
				}
			}
			if len(args) == 1 {
				q.Set(identity.Allocation.Attribute(), args[0])
			}
			if len(q) != 1 {
				return errors.New("events needs one identifier: an ALLOCATION, or one of --node, --node-instance, --workflow, --trace, --correlation")
			}
			id := ""
			for name := range q {
				id = q.Get(name)
			}
			printed, err := r.run(cmd, "/api/v1/events", q)
			if err == nil && printed == 0 && r.from.String() == "" && r.to.String() == "" && r.asOf == "" {
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

// run prints page after page, and says how many records that were.
func (r *reading) run(cmd *cobra.Command, path string, q url.Values) (printed int, err error) {
	if r.limit < 0 {
		return 0, errors.New("--limit: is negative")
	}
	for name, value := range map[string]string{"from": r.from.String(), "to": r.to.String(), "as_of": r.asOf} {
		if value != "" {
			q.Set(name, value)
		}
	}
	lines := newEventPrinter(cmd.OutOrStdout(), r.page(cmd.OutOrStdout(), r.screen(cmd), r.now()), r.ages)
	for left := r.limit; ; {
		most := eventsAtOnce
		if r.limit > 0 {
			most = min(most, left)
		}
		q.Set("limit", strconv.Itoa(most))
		var page api.Events
		if err := r.get(cmd.Context(), path+"?"+q.Encode(), &page); err != nil {
			return printed, err
		}
		if q.Get("cursor") == "" && page.Bounded {
			note(cmd.ErrOrStderr(), "more identifiers lead here than are followed: late-linked records may be missing")
		}
		for _, e := range page.Events {
			if err := lines.print(e); err != nil {
				return printed, err
			}
		}
		left, printed = left-len(page.Events), printed+len(page.Events)
		if page.Next == nil || r.limit > 0 && left <= 0 {
			return printed, lines.flush()
		}
		if err := lines.flush(); err != nil {
			return printed, err
		}
		q.Set("cursor", *page.Next)
	}
}

func note(w io.Writer, text string) { _, _ = fmt.Fprintln(w, "faultline: "+table.Clean(text)) }
