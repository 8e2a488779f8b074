package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/bearer"
	"github.com/faultline-io/faultline/provisioner"
	"github.com/faultline-io/faultline/provisioner/rest"
)

// provisionerVariable is the environment of the commands that speak to a provisioner.
const provisionerVariable = "FAULTLINE_PROVISIONER"

// sendings is how often a request is sent whose answer does not come: its key makes that harmless.
const sendings = 3

// provisionerClient is the way to a running provisioner.
type provisionerClient struct {
	server, context string
	json            bool
	credentials
}

func (p *provisionerClient) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&p.server, "server", "", "the provisioner's control API (environment: "+provisionerVariable+"; default the current context's, else "+defaultProvisioner()+")")
	contextFlag(cmd, &p.context)
	f.BoolVar(&p.json, "json", false, "print the answer as JSON")
	p.credentials.flags(cmd)
}

func defaultProvisioner() string { return "http://" + provisioner.DefaultConfig().Control }

// choose finds out which provisioner is meant.
func (p *provisionerClient) choose() error {
	to, err := choose(p.server, "--server", os.Getenv(provisionerVariable), provisionerVariable, p.context)
	switch {
	case err != nil:
		return err
	case to.address != "":
		p.server = to.address
	case to.Name == "":
		p.server = defaultProvisioner()
	case to.Provisioner == "": // another one than the context's is not acted on by mistake
		return fmt.Errorf("context %s names no provisioner: faultline context set %s --provisioner URL, or --server URL", to.Name, to.Name)
	default:
		p.server = to.Provisioner
	}
	return nil
}

// connect finds out whom to ask, and how to show who asks.
func (p *provisionerClient) connect() error {
	if err := p.choose(); err != nil {
		return err
	}
	return p.open(p.server, "")
}

func (p *provisionerClient) get(ctx context.Context, path string, into any) error {
	if err := p.connect(); err != nil {
		return err
	}
	_, err := p.send(ctx, http.MethodGet, path, "", nil, into)
	return err
}

// post sends a request under a key, again where no answer comes.
func (p *provisionerClient) post(ctx context.Context, path, key string, body, into any) (h http.Header, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	for n := 1; ; n++ {
		h, err = p.send(ctx, http.MethodPost, path, key, text, into)
		var lost *url.Error
		var unreachable *net.OpError
		if err == nil || n == sendings || ctx.Err() != nil || !errors.As(err, &lost) || errors.As(err, &unreachable) && unreachable.Op == "dial" {
			return h, err
		}
	}
}

func (p *provisionerClient) send(ctx context.Context, method, path, key string, body []byte, into any) (http.Header, error) {
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(p.server, "/")+path, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("--server: %w", err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set(rest.HeaderIdempotencyKey, key)
	}
	if err := bearer.Authorize(r, p.token); err != nil {
		return nil, err
	}
	answer, err := p.client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("ask the provisioner at %s: %w; is it running, or is another --server meant?", p.server, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 8<<20))
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", p.server, err)
	}
	if answer.StatusCode != http.StatusOK {
		var problem rest.Problem
		if json.Unmarshal(text, &problem) != nil || problem.Title == "" {
			return nil, fmt.Errorf("%s answered %s, and not as a provisioner does", p.server, answer.Status)
		}
		return nil, explainRefusal(problem)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, fmt.Errorf("%s does not answer as a provisioner does: %w", p.server, err)
	}
	return answer.Header, nil
}
