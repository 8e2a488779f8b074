package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/correlator/query"
)

// defaultServer is where `faultline up` lets the correlator listen.
const defaultServer = "http://127.0.0.1:8680"

// question is one request to a running correlator.
type question struct {
	server, asOf string
	json         bool
}

func (q *question) flags(cmd *cobra.Command) {
	server := os.Getenv("FAULTLINE_SERVER")
	if server == "" {
		server = defaultServer
	}
	cmd.Flags().StringVar(&q.server, "server", server, "the correlator's address (environment: FAULTLINE_SERVER)")
	cmd.Flags().BoolVar(&q.json, "json", false, "print the answer as JSON")
}

// pastFlag is for questions that can be asked as of a time.
func (q *question) pastFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&q.asOf, "as-of", "", "judge by what had been observed until this time (RFC 3339)")
}

func timelineCommand() *cobra.Command {
	return askCommand("timeline", "What happened to an allocation, in every layer; ID may be any identifier that leads to it",
		func(a correlator.Allocation) any {
			return api.Timeline{ID: a.ID, State: a.State, Since: a.Since, Timeline: a.Timeline}
		},
		func(w io.Writer, a correlator.Allocation) error { return showTimeline(w, a.Timeline, a.Verdict) })
}

// askCommand asks for one allocation and prints a part of it, as JSON or for people.
func askCommand(name, short string, part func(correlator.Allocation) any, show func(io.Writer, correlator.Allocation) error) *cobra.Command {
	q := question{}
	cmd := &cobra.Command{
		Use:   name + " ID",
		Short: short,
		Args:  oneID,
		RunE: func(cmd *cobra.Command, args []string) error {
			a, err := q.ask(cmd.Context(), args[0], cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if q.json {
				return printJSON(cmd.OutOrStdout(), part(a))
			}
			if err := showHead(cmd.OutOrStdout(), a); err != nil {
				return err
			}
			return show(cmd.OutOrStdout(), a)
		},
	}
	q.flags(cmd)
	q.pastFlag(cmd)
	return cmd
}

func listCommand() *cobra.Command {
	q := question{}
	state, limit := "", 0
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Allocations and their states, the most recently heard of first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var found struct {
				Allocations []query.Listed `json:"allocations"`
			}
			if err := q.get(cmd.Context(), fmt.Sprintf("/api/v1/allocations?state=%s&limit=%d", url.QueryEscape(state), limit), &found); err != nil {
				return err
			}
			if q.json {
				return printJSON(cmd.OutOrStdout(), found)
			}
			for _, a := range found.Allocations {
				in := "state unknown"
				if a.State != nil {
					in = *a.State + " since " + a.Since.String()
				}
				if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s  %s\n", a.ID, in); err != nil {
					return err
				}
			}
			switch len(found.Allocations) {
			case 0:
				_, _ = fmt.Fprintln(cmd.ErrOrStderr(), "no allocations")
			case limit:
				_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "the %d that were heard of last; --limit N shows more\n", limit)
			}
			return nil
		},
	}
	q.flags(cmd)
	cmd.Flags().IntVar(&limit, "limit", 100, "how many at most, 1 to 1000")
	cmd.Flags().StringVar(&state, "state", "", "only allocations in this state")
	return cmd
}

func oneID(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s needs one ID: of an allocation, workflow, task, claim, request, trace, correlation, node …", cmd.Name())
	}
	return nil
}

// ask gives the allocation that an identifier leads to, whole.
func (q *question) ask(ctx context.Context, id string, notes io.Writer) (correlator.Allocation, error) {
	var a correlator.Allocation
	chosen, err := q.resolve(ctx, id, notes)
	if err != nil {
		return a, err
	}
	path := "/api/v1/allocations/" + url.PathEscape(chosen)
	if q.asOf != "" {
		path += "?as_of=" + url.QueryEscape(q.asOf)
	}
	return a, q.get(ctx, path, &a)
}

// resolve gives the allocation that an identifier leads to. Where it leads to several, the most recent
// one, and says so.
func (q *question) resolve(ctx context.Context, id string, notes io.Writer) (string, error) {
	var found struct {
		Allocations []string `json:"allocations"`
	}
	if err := q.get(ctx, "/api/v1/resolve?id="+url.QueryEscape(id), &found); err != nil {
		return "", err
	}
	if len(found.Allocations) == 0 {
		return "", fmt.Errorf("nothing is known of %s", id)
	}
	chosen := found.Allocations[0]
	if n := len(found.Allocations); n > 1 {
		_, _ = fmt.Fprintf(notes, "%s leads to %d allocations; this is the most recent, %s. Others: %s\n", id, n, chosen, clipList(found.Allocations[1:], 8))
	}
	return chosen, nil
}

func (q *question) get(ctx context.Context, path string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(q.server, "/")+path, nil)
	if err != nil {
		return fmt.Errorf("--server: %w", err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("ask the correlator at %s: %w; is it running (faultline up), or is another --server meant?", q.server, err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		var p api.Problem
		if json.NewDecoder(io.LimitReader(answer.Body, 1<<16)).Decode(&p) != nil || p.Title == "" {
			return fmt.Errorf("the correlator at %s answered %s", q.server, answer.Status)
		}
		return refusal{answer.StatusCode, strings.TrimSuffix(p.Title+": "+p.Detail, ": ")}
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		return fmt.Errorf("read the answer of %s: %w", q.server, err)
	}
	return nil
}

// refusal is a problem that the correlator told of.
type refusal struct {
	status int
	words  string
}

func (r refusal) Error() string { return r.words }

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
