package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/provisioner"
	"github.com/faultline-io/faultline/provisioner/access"
	"github.com/faultline-io/faultline/provisioner/rest"
)

// Environment of the commands that speak to a provisioner.
const (
	provisionerVariable = "FAULTLINE_PROVISIONER"
	tokenVariable       = "FAULTLINE_TOKEN"
	tokenFileVariable   = "FAULTLINE_TOKEN_FILE"
)

// sendings is how often a request is sent whose answer does not come: its key makes that harmless.
const sendings = 3

// provisionerClient is the way to a running provisioner.
type provisionerClient struct {
	server, tokenFile, caFile string
	json                      bool

	token  string
	client *http.Client
}

func (p *provisionerClient) flags(cmd *cobra.Command) {
	server := os.Getenv(provisionerVariable)
	if server == "" {
		server = "http://" + provisioner.DefaultConfig().Control
	}
	f := cmd.Flags()
	f.StringVar(&p.server, "server", server, "the provisioner's control API (environment: "+provisionerVariable+")")
	f.StringVar(&p.tokenFile, "token-file", os.Getenv(tokenFileVariable), "file that holds the bearer token (environment: "+tokenFileVariable+", or "+tokenVariable+" for the token itself)")
	f.StringVar(&p.caFile, "ca-file", "", "who vouches for the server's certificate, where this system does not")
	f.BoolVar(&p.json, "json", false, "print the answer as JSON")
}

// open reads the token and makes the client.
func (p *provisionerClient) open() error {
	u, err := url.Parse(p.server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("--server: %q is no http URL", p.server)
	}
	p.token = strings.TrimSpace(os.Getenv(tokenVariable))
	if p.tokenFile != "" {
		text, err := os.ReadFile(p.tokenFile)
		if err != nil {
			return fmt.Errorf("--token-file: %w", err)
		}
		p.token = strings.TrimSpace(string(text))
	}
	if strings.ContainsFunc(p.token, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return errors.New("the token has blanks or other characters that no token has")
	}
	if p.token != "" && u.Scheme == "http" && !access.Loopback(u.Host) {
		return fmt.Errorf("--server: a token is not sent over plain http to %s: use https, or a tunnel to this machine", u.Host)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if p.caFile != "" {
		text, err := os.ReadFile(p.caFile)
		if err != nil {
			return fmt.Errorf("--ca-file: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return fmt.Errorf("--ca-file: no certificate in %s", p.caFile)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	// A redirect would take the token, or turn a POST into a GET.
	p.client = &http.Client{Transport: transport, Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return nil
}

func (p *provisionerClient) get(ctx context.Context, path string, into any) error {
	if err := p.open(); err != nil {
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
	if p.token != "" {
		r.Header.Set("Authorization", "Bearer "+p.token)
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
