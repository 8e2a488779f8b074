package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// hop is one party's way to another over HTTP and JSON.
type hop struct {
	client *http.Client
	base   string
}

// server is whom the way leads to, as attributes of a client's span.
func (h hop) server() []slog.Attr {
	u, err := url.Parse(h.base)
	if err != nil {
		return nil
	}
	return []slog.Attr{slog.String(semconv.ServerAddress, u.Hostname()), slog.String(semconv.ServerPort, u.Port())}
}

// refusal is an answer with a status that says no.
type refusal struct {
	status int
	text   string
}

func (e *refusal) Error() string {
	return fmt.Sprintf("%d %s: %s", e.status, http.StatusText(e.status), e.text)
}

func statusOf(err error) int {
	var r *refusal
	if errors.As(err, &r) {
		return r.status
	}
	return 0
}

// do sends in, if it isn't nil, and reads the answer into out, if that isn't nil; the headers carry
// ctx's trace and identifiers, and what more gives. The status is 0 where no answer came.
func (h hop) do(ctx context.Context, method, path string, in, out any, more http.Header) (status int, err error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return 0, err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, h.base+path, body)
	if err != nil {
		return 0, err
	}
	telemetry.Inject(ctx, r.Header)
	for key, values := range more {
		r.Header[key] = values
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := h.client.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		return answer.StatusCode, fmt.Errorf("read answer: %w", err)
	}
	if answer.StatusCode >= 400 {
		var p rest.Problem
		if json.Unmarshal(text, &p) == nil && p.Detail != "" {
			return answer.StatusCode, &refusal{answer.StatusCode, p.Detail}
		}
		return answer.StatusCode, &refusal{answer.StatusCode, string(bytes.TrimSpace(text))}
	}
	if out != nil && len(text) > 0 {
		if err := json.Unmarshal(text, out); err != nil {
			return answer.StatusCode, fmt.Errorf("read answer: %w", err)
		}
	}
	return answer.StatusCode, nil
}
