package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/faultline-io/faultline/api/client"
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/incident"
	"github.com/faultline-io/faultline/internal/near"
)

// didYouMean asks about candidates, after what is wrong; "" where there are none.
func didYouMean(candidates []string) string {
	if len(candidates) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(candidates, ", ") + "?"
}

// unknown says that nothing is known of an identifier, and what was meant perhaps.
func (q *question) unknown(ctx context.Context, id string) error {
	return fmt.Errorf("nothing is known of %s%s", id, didYouMean(near.Words(id, q.known(ctx, 3*time.Second), 3)))
}

// known lists the identifiers that lately were heard of: allocations, and the nodes that incidents name. None where they
// cannot be had in time.
func (q *question) known(ctx context.Context, within time.Duration) []string {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var out []string
	var list allocationList
	if q.get(ctx, theNewest, &list) == nil {
		for _, a := range list.Allocations {
			out = append(append(out, a.ID), a.Nodes...)
		}
	}
	var incidents incident.List
	if ctx.Err() == nil && q.get(ctx, everyIncident, &incidents) == nil {
		for _, in := range incidents.Incidents {
			if in.Subject.Kind == correlator.SubjectNode {
				out = append(out, in.Subject.IDs...)
			}
		}
	}
	return out
}

func theNewest(ctx context.Context, c client.ClientInterface) (*http.Response, error) {
	most := 1000
	return c.ListAllocations(ctx, &client.ListAllocationsParams{Limit: &most})
}

func everyIncident(ctx context.Context, c client.ClientInterface) (*http.Response, error) {
	return c.ListIncidents(ctx, &client.ListIncidentsParams{})
}

// nearFlag adds to the error of an unknown flag what was meant perhaps.
func nearFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	meant := near.Words(unknown.GetSpecifiedName(), names, 3)
	for i, name := range meant {
		meant[i] = "--" + name
	}
	if len(meant) == 0 {
		return fmt.Errorf("%w; %s --help lists what there is", err, cmd.CommandPath())
	}
	return fmt.Errorf("%w%s", err, didYouMean(meant))
}

// group is a command that only holds others: a name that none of them has is an error.
func group(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: oneOfThese, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		// A slip in the name is more use to know of than that its flags are not this command's.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
	}
}

func oneOfThese(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	text := fmt.Sprintf("there is no %q in %s", args[0], cmd.CommandPath())
	if meant := near.Words(args[0], names, 3); len(meant) > 0 {
		return errors.New(text + didYouMean(meant))
	}
	return fmt.Errorf("%s; %s --help lists what there is", text, cmd.CommandPath())
}
