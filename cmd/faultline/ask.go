package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/api/client"
	"github.com/faultline-io/faultline/correlator"
	"github.com/faultline-io/faultline/internal/table"
	"github.com/faultline-io/faultline/internal/terminal"
)

// defaultServer is where `faultline up` lets the correlator listen.
const defaultServer = "http://127.0.0.1:8680"

// serverVariable names the correlator, where no flag does.
const serverVariable = "FAULTLINE_SERVER"

// question is one request to a running correlator.
type question struct {
	look
	credentials
	server, context string
	asOf            moment
	cmd             *cobra.Command // that asks; nil for tests
	to              *destination   // whom, once that is known
}

// destination is whom a question goes to, and what says so.
type destination struct {
	serverContext    // its name is empty where no context says so
	address, because string
}

func (q *question) flags(cmd *cobra.Command) {
	q.whomFlags(cmd)
	q.credentials.flags(cmd)
	q.look.flags(cmd)
}

func (q *question) whomFlags(cmd *cobra.Command) {
	q.cmd = cmd
	cmd.Flags().StringVar(&q.server, "server", "", "the correlator's address (environment: "+serverVariable+"; default the current context's, else "+defaultServer+")")
	contextFlag(cmd, &q.context)
}

func contextFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "context", "", "ask the server of this context (environment: "+contextVariable+")")
	_ = cmd.RegisterFlagCompletionFunc("context", completeContexts)
}

// pastFlag is for questions that can be asked as of a time.
func (q *question) pastFlag(cmd *cobra.Command) {
	cmd.Flags().Var(&q.asOf, "as-of", "judge by what had been observed until this time (RFC 3339), or so long ago (90m, 24h)")
}

// now is the time that ages are told as of.
func (q *question) now() time.Time {
	if at := q.asOf.time(); at != nil {
		return *at
	}
	return time.Now()
}

func (q *question) screen(cmd *cobra.Command) terminal.Screen {
	return terminal.From(cmd.Context(), cmd.OutOrStdout())
}

// destination finds out whom to ask.
func (q *question) destination() (destination, error) {
	if q.to != nil {
		return *q.to, nil
	}
	to, err := choose(q.server, "--server", os.Getenv(serverVariable), serverVariable, q.context)
	if err != nil {
		return to, err
	}
	if to.address == "" {
		to.address = to.Server
	}
	if to.address == "" {
		to.address, to.because = defaultServer, "nothing says otherwise"
	}
	if err := checkAddress(to.address); err != nil {
		return to, fmt.Errorf("%s: %w", to.because, err)
	}
	q.to = &to
	return to, nil
}

// choose gives the address that a flag names, else the context that a flag names, else the address of the environment,
// else the context of the environment, else the current context. It is empty where none of them is.
func choose(flag, flagName, variable, variableName, contextName string) (destination, error) {
	switch {
	case flag != "":
		return destination{address: flag, because: flagName}, nil
	case contextName == "" && variable != "":
		return destination{address: variable, because: variableName}, nil
	}
	f, path, err := loadContexts()
	if err != nil {
		return destination{}, err
	}
	name, because := contextName, "--context"
	if name == "" {
		name, because = os.Getenv(contextVariable), contextVariable
	}
	if name == "" {
		name, because = f.Current, "current in "+path
	}
	if name == "" {
		return destination{}, nil
	}
	c, err := f.find(name)
	if err != nil {
		return destination{}, fmt.Errorf("%s: %w", because, err)
	}
	return destination{serverContext: c, because: because}, nil
}

// contextTokenFile is the token file of the context that says whom to ask, "" where something else does: a token goes to
// nobody but the server that it is kept for.
func (q *question) contextTokenFile() string {
	to, err := q.destination()
	if err != nil {
		return ""
	}
	return to.TokenFile
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
	return a, q.get(ctx, whole(chosen, q.asOf.time()), &a)
}

// whole asks for an allocation with its timeline and verdict.
func whole(id string, asOf *time.Time) request {
	return func(ctx context.Context, c client.ClientInterface) (*http.Response, error) {
		return c.GetAllocation(ctx, id, &client.GetAllocationParams{AsOf: asOf})
	}
}

// resolve gives the allocation that an identifier leads to. Where it leads to several, the most recent
// one, and says so.
func (q *question) resolve(ctx context.Context, id string, notes io.Writer) (string, error) {
	var found struct {
		Allocations []string `json:"allocations"`
	}
	err := q.get(ctx, func(ctx context.Context, c client.ClientInterface) (*http.Response, error) {
		return c.Resolve(ctx, &client.ResolveParams{ID: id})
	}, &found)
	if err != nil {
		return "", err
	}
	if len(found.Allocations) == 0 {
		return "", q.unknown(ctx, id)
	}
	chosen := found.Allocations[0]
	if n := len(found.Allocations); n > 1 {
		_, _ = fmt.Fprintf(table.Safe(notes), "%s leads to %d allocations; this is the most recent, %s. Others: %s\n", id, n, chosen, clipList(found.Allocations[1:], 8))
	}
	return chosen, nil
}

// patience is how long an answer may take.
const patience = 30 * time.Second

// request is one question of the API.
type request func(ctx context.Context, c client.ClientInterface) (*http.Response, error)

// asker sends the requests of a client to the destination, as who asks.
type asker struct {
	q  *question
	to destination
}

// Do implements client.HttpRequestDoer.
func (a asker) Do(r *http.Request) (*http.Response, error) { return a.q.send(r, a.to) }

func (q *question) get(ctx context.Context, send request, into any) error {
	to, err := q.destination()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := client.NewClient(to.address, client.WithHTTPClient(asker{q, to}))
	if err != nil {
		return fmt.Errorf("%s: %w", to.because, err)
	}
	defer q.progress("asking " + to.shown())()
	answer, err := send(ctx, c)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return to.refused(answer)
	}
	if !isJSON(answer) {
		return to.somethingElse(answer)
	}
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		return fmt.Errorf("read the answer of %s: %w", to.shown(), err)
	}
	return nil
}

// progress says on a terminal what is waited for.
func (q *question) progress(what string) (done func()) {
	if q.cmd == nil || q.cmd.Context() == nil || q.cmd.Context().Value(quietKey{}) != nil {
		return func() {}
	}
	return terminal.Progress(q.cmd.ErrOrStderr(), func() string { return what })
}

// quietKey marks a context in which nobody is told that something takes long: what is drawn over, or completed.
type quietKey struct{}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
