package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/bearer"
)

// credentials are how a command shows who asks, and how it knows whom it asks.
type credentials struct {
	tokenFile, caFile string

	token  string
	client *http.Client // nil until the first request
}

func (c *credentials) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.tokenFile, "token-file", os.Getenv(bearer.FileVariable), "file that holds the bearer token (environment: "+bearer.FileVariable+", or "+bearer.Variable+" for the token itself)")
	f.StringVar(&c.caFile, "ca-file", "", "who vouches for the server's certificate, where this system does not")
}

// open finds the token for a server and makes the client for it, once. kept is the token file of the context that named the
// server, "" where there is none.
func (c *credentials) open(server, kept string) error {
	if c.client != nil {
		return nil
	}
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("--server: %q is no http URL", server)
	}
	if c.tokenFile == "" && os.Getenv(bearer.Variable) == "" {
		if _, err := os.Stat(kept); err == nil { // where it is gone, whoever is asked says what is lacking
			c.tokenFile = kept
		}
	}
	if c.token, err = bearer.Token(server, c.tokenFile); err != nil {
		return fmt.Errorf("--token-file: %w", err)
	}
	if c.token != "" {
		if err := bearer.Safe(u); err != nil {
			return fmt.Errorf("--server: %w", err)
		}
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if c.caFile != "" {
		text, err := os.ReadFile(c.caFile)
		if err != nil {
			return fmt.Errorf("--ca-file: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return fmt.Errorf("--ca-file: no certificate in %s", c.caFile)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	// A redirect would take the token, or turn a POST into a GET.
	c.client = &http.Client{Transport: transport, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return nil
}

// send sends a question to a correlator, with the token for it.
func (c *credentials) send(r *http.Request, to destination) (*http.Response, error) {
	if err := c.open(to.address, to.TokenFile); err != nil {
		return nil, err
	}
	if err := bearer.Authorize(r, c.token); err != nil {
		return nil, err
	}
	answer, err := c.client.Do(r)
	if err != nil {
		return nil, to.unreachable(err)
	}
	return answer, nil
}
