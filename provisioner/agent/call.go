package agent

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// maxAnswer bounds what is read of an answer.
const maxAnswer = 1 << 20

// Refused is an answer with a status that says no.
type Refused struct {
	Status int
	Reason string // package lifecycle lists them
	Detail string
	Ours   bool // the node API says so, not somebody on the way
}

func (e *Refused) Error() string {
	return fmt.Sprintf("%d %s: %s", e.Status, http.StatusText(e.Status), e.Detail)
}

// client is how the agent reaches the ingress: one transport, whose connections carry the certificate of the time
// at which they were made.
type client struct {
	transport *http.Transport
	http      http.Client
	base      string
	clock     *clock
}

// newClient presents certificate() whatever issuers the server asks for: an agent that kept it back would only
// ever be told that it has none.
func newClient(c Config, m Host, k *clock, certificate func() *tls.Certificate) *client {
	t := &http.Transport{
		TLSClientConfig: &tls.Config{
			RootCAs: c.Roots, MinVersion: tls.VersionTLS12, Time: k.now,
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				if own := certificate(); own != nil {
					return own, nil
				}
				return &tls.Certificate{}, nil // none: enrolment
			},
		},
		DialContext: m.Dial, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: c.Timeout,
	}
	return &client{t, http.Client{Transport: t}, c.URL, k}
}

// call sends in, where it isn't nil, and reads the answer into out, where that isn't nil and there is one.
func (w *client) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, w.base+path, body)
	if err != nil {
		return err
	}
	telemetry.Inject(ctx, r.Header)
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := w.http.Do(r)
	if err != nil {
		return w.clock.explain(err)
	}
	defer func() { _ = answer.Body.Close() }()
	w.clock.heard(answer.Header.Get("Date"))
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	if answer.StatusCode >= 400 {
		var p rest.Problem
		if json.Unmarshal(text, &p) == nil && p.Detail != "" {
			return &Refused{answer.StatusCode, p.Reason, p.Detail, true}
		}
		return &Refused{Status: answer.StatusCode, Detail: string(bytes.TrimSpace(text))}
	}
	if out == nil || len(text) == 0 {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("read answer: %w", err)
	}
	return nil
}

// settled reports whether an answer to a report is the last word: the claim does not count, or the report makes
// no sense. A refusal of the caller, and anything that was not said by the node API, may pass.
func settled(err error) bool {
	var r *Refused
	if !errors.As(err, &r) || !r.Ours {
		return false
	}
	switch r.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// status is that of a refusal, 0 where no answer came.
func status(err error) int {
	var r *Refused
	if errors.As(err, &r) {
		return r.Status
	}
	return 0
}
