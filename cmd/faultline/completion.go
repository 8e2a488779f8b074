package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/semconv"
)

// completionPatience is how long somebody who pressed Tab waits for a server.
const completionPatience = time.Second

// complete offers the values of a flag.
func complete(cmd *cobra.Command, flag string, values ...string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeIDs offers the identifiers that lately were heard of; nothing, and not a word, where the server is away.
func completeIDs(q *question) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []string
		for _, id := range q.known(context.WithValue(cmd.Context(), quietKey{}, true), completionPatience) {
			if strings.HasPrefix(id, begun) && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// completeContexts offers the names of contexts.
func completeContexts(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	f, _, err := loadContexts()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return f.names(), cobra.ShellCompDirectiveNoFileComp
}

// layers are those of the default profile: what a server's own profile has beside them can be typed all the same.
func layers() []string {
	p, err := profile.Load("")
	if err != nil {
		return nil
	}
	return p.Layers
}

// states are those of an allocation, in the order of its life.
func states() []string {
	return []string{
		semconv.Requested, semconv.Reserved, semconv.Provisioning, semconv.Active, semconv.Degraded, semconv.Canceling, semconv.Canceled,
		semconv.Failed, semconv.Releasing, semconv.ReleaseFailed, semconv.Released,
	}
}
