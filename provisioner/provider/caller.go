package provider

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// maxReply bounds what is read of an answer, in bytes; maxDetail what is kept of an error's words;
// maxRetryAfter how long a provider may have us wait, in seconds.
const (
	maxReply      = 4 << 20
	maxDetail     = 300
	maxRetryAfter = 300
)

// Endpoint is where a provider's HTTP interface is and how to be let in.
type Endpoint struct {
	URL     string        `yaml:"url"`
	Token   string        `yaml:"token"`   // bearer token; empty: none is sent
	CAFile  string        `yaml:"ca_file"` // PEM bundle to trust instead of the system's; empty: the system's
	Timeout time.Duration `yaml:"timeout"` // of one request
}

// Validate names the key, below the given one, that is wrong.
func (e Endpoint) Validate(key string) error {
	if u, err := url.Parse(e.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("%s.url: %q is no http or https URL", key, e.URL)
	}
	if e.Timeout <= 0 {
		return fmt.Errorf("%s.timeout: must be positive", key)
	}
	return nil
}

// Caller makes requests to one endpoint: each is a span, carries trace context and baggage, and either
// gives the answer that was asked for or a *Failure that says what was wrong.
type Caller struct {
	endpoint Endpoint
	client   *http.Client
	emitter  *telemetry.Emitter
}

// NewCaller makes a caller: emitter has the spans of its requests.
func NewCaller(e Endpoint, emitter *telemetry.Emitter) (*Caller, error) {
	t := &http.Transport{
		Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute,
		DialContext:     (&net.Dialer{Timeout: e.Timeout / 2}).DialContext, // before the request's time is over: the error names the dial
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: e.Timeout, ForceAttemptHTTP2: true,
	}
	if e.CAFile != "" {
		bundle, err := os.ReadFile(e.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read ca_file: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(bundle) {
			return nil, fmt.Errorf("ca_file %s: holds no certificate", e.CAFile)
		}
		t.TLSClientConfig.RootCAs = pool
	}
	e.URL = strings.TrimSuffix(e.URL, "/")
	// A redirect would take the token elsewhere, and turn a POST into a GET.
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Caller{e, &http.Client{Transport: t, Timeout: e.Timeout, CheckRedirect: stay}, emitter}, nil
}

// Timeout is that of one request.
func (c *Caller) Timeout() time.Duration { return c.endpoint.Timeout }

// Close ends idle connections.
func (c *Caller) Close() { c.client.CloseIdleConnections() }

// Call sends in as JSON, if it isn't nil, and reads the answer into out, if that isn't nil. op says in
// errors what was asked.
func (c *Caller) Call(ctx context.Context, op, method, path string, in, out any, header ...string) error {
	plain, _, _ := strings.Cut(path, "?")
	attrs := []slog.Attr{slog.String(semconv.HTTPRequestMethod, method), slog.String(semconv.URLPath, plain)}
	if u, err := url.Parse(c.endpoint.URL); err == nil {
		attrs = append(attrs, slog.String(semconv.ServerAddress, u.Host))
	}
	ctx, span := c.emitter.Start(ctx, op, telemetry.Client, attrs...)
	defer span.End()
	status, f := c.call(ctx, method, path, in, out, header)
	if status != 0 {
		span.Set(slog.Int(semconv.HTTPStatusCode, status))
	}
	if f == nil {
		return nil
	}
	f.Op, f.Status = op, status
	span.Fail(f, string(f.Kind))
	return f
}

func (c *Caller) call(ctx context.Context, method, path string, in, out any, header []string) (int, *Failure) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return 0, &Failure{Kind: Refused, Err: err}
		}
		body = bytes.NewReader(text)
	}
	var sent atomic.Bool // a connection stood: from then on the request may have arrived
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }})
	r, err := http.NewRequestWithContext(ctx, method, c.endpoint.URL+path, body)
	if err != nil {
		return 0, &Failure{Kind: Refused, Err: err}
	}
	telemetry.Inject(ctx, r.Header)
	r.Header.Set("Accept", "application/json")
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.endpoint.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.endpoint.Token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := c.client.Do(r)
	if err != nil {
		return 0, broken(err, sent.Load())
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxReply+1))
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return answer.StatusCode, refused(answer, text)
	}
	switch {
	case err != nil:
		return answer.StatusCode, broken(err, true)
	case len(text) > maxReply:
		return answer.StatusCode, &Failure{Kind: TooLarge, Sent: true, Detail: fmt.Sprintf("more than %d bytes", maxReply)}
	case out == nil:
		return answer.StatusCode, nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return answer.StatusCode, &Failure{Kind: BadReply, Sent: true, Detail: answer.Header.Get("Content-Type") + " where JSON was due", Err: err}
	}
	return answer.StatusCode, nil
}

// broken is a call without a whole answer.
func broken(err error, sent bool) *Failure {
	f := &Failure{Kind: Unreachable, Sent: sent, Err: err}
	var timeout interface{ Timeout() bool }
	switch {
	case sent && errors.As(err, &timeout) && timeout.Timeout():
		f.Kind = TimedOut
	case sent:
		f.Kind = Cut
	}
	return f
}

// refused is an answer that says no.
func refused(a *http.Response, text []byte) *Failure {
	f := &Failure{Kind: Refused, Sent: true, Detail: words(text)}
	if after, err := strconv.Atoi(a.Header.Get("Retry-After")); err == nil && after >= 0 {
		f.RetryAfter = time.Duration(min(after, maxRetryAfter)) * time.Second
	}
	switch s := a.StatusCode; {
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		f.Kind = Unauthorized
	case s == http.StatusTooManyRequests, s == http.StatusServiceUnavailable && f.RetryAfter > 0:
		f.Kind = RateLimited
	case s == http.StatusNotFound:
		f.Kind = NotFound
	case s == http.StatusMethodNotAllowed:
		f.Kind = NotAllowed
	case s >= 500:
		f.Kind = ServerError
	}
	return f
}

// words are what an error's body says for people. Bodies in other forms are left out: they may repeat
// what was sent.
func words(text []byte) string {
	var e struct{ Detail, Error, Message any }
	if json.Unmarshal(text, &e) != nil {
		return ""
	}
	for _, v := range []any{e.Detail, e.Error, e.Message} {
		if s, ok := v.(string); ok && s != "" {
			return Clip(s, maxDetail)
		}
	}
	return ""
}
