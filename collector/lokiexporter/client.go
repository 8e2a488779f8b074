package lokiexporter

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
)

// pushPath is where Loki takes pushes.
const pushPath = "/loki/api/v1/push"

const tenantHeader = "X-Scope-OrgID"

// maxAnswer is how much of an answer is read; Loki groups equal refusals, each of which names its stream.
const maxAnswer = 256 << 10

// client sends pushes.
type client struct {
	http   *http.Client
	url    string
	header http.Header
}

func newClient(ctx context.Context, cfg *Config, host component.Host, set component.TelemetrySettings, agent string) (*client, error) {
	made, err := cfg.Client.ToClient(ctx, host.GetExtensions(), set)
	if err != nil {
		return nil, fmt.Errorf("make the client of %s: %w", cfg.Client.Endpoint, err)
	}
	h := http.Header{"Content-Type": {"application/x-protobuf"}, "Content-Encoding": {"snappy"}, "User-Agent": {agent}}
	if cfg.TenantID != "" {
		h.Set(tenantHeader, cfg.TenantID)
	}
	return &client{http: made, url: pushURL(cfg.Client.Endpoint), header: h}, nil
}

// pushURL completes a base address; one with the path of the push API stays.
func pushURL(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil || strings.HasSuffix(u.Path, "/push") {
		return endpoint
	}
	return u.JoinPath(pushPath).String()
}

// answer is what Loki said to a push.
type answer struct {
	status int
	text   string
	after  time.Duration // Retry-After; 0 where it says nothing
}

// post sends one push. An error is one of the way there or back.
func (c *client) post(ctx context.Context, plain []byte) (a answer, sent int, err error) {
	b := compress(plain)
	defer b.release()
	sent = len(b.text)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, b.reader())
	if err != nil {
		return a, 0, fmt.Errorf("make a push: %w", err)
	}
	req.Header = c.header.Clone()
	req.ContentLength = int64(sent)
	req.GetBody = func() (io.ReadCloser, error) { return b.reader(), nil }
	r, err := c.http.Do(req)
	if err != nil {
		return a, sent, fmt.Errorf("push: %w", err)
	}
	defer func() {
		_, _ = io.CopyN(io.Discard, r.Body, maxAnswer) // so that the connection is used again
		_ = r.Body.Close()
	}()
	a.status = r.StatusCode
	if r.StatusCode == http.StatusNoContent {
		return a, sent, nil
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	if err != nil {
		return a, sent, fmt.Errorf("read the answer to a push: %w", err)
	}
	a.text = strings.TrimSpace(string(text))
	a.after = retryAfter(r.Header.Get("Retry-After"), time.Now())
	return a, sent, nil
}

// retryAfter reads the header in both of its forms.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return max(0, time.Duration(seconds)*time.Second)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
