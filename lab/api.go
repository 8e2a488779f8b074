package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// api is the tenants' API: it asks the authorization service, then the provisioner.
type api struct {
	auth, control hop
	emitter       *telemetry.Emitter
	mux           *http.ServeMux
	slow          atomic.Int64 // how much later than it could it answers, in nanoseconds
	mishap        atomic.Pointer[func(http.ResponseWriter, *http.Request) (status int, err error)]
}

func newAPI(auth, control hop, emitter *telemetry.Emitter) *api {
	a := &api{auth: auth, control: control, emitter: emitter, mux: http.NewServeMux()}
	a.mux.HandleFunc("POST /api/v1/allocations", a.handle("create", "/v1/allocations"))
	a.mux.HandleFunc("GET /api/v1/allocations/{id}", a.handle("read", "/v1/allocations/{id}"))
	a.mux.HandleFunc("POST /api/v1/allocations/{id}/cancel", a.handle("cancel", "/v1/allocations/{id}/cancel"))
	a.mux.HandleFunc("POST /api/v1/allocations/{id}/release", a.handle("release", "/v1/allocations/{id}/release"))
	return a
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) { a.mux.ServeHTTP(w, r) }

// handle makes the handler of one action, which is the provisioner's at path.
func (a *api) handle(action, path string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		ctx := telemetry.With(telemetry.Extract(r.Context(), r.Header), semconv.AllocationID, id)
		ctx, span := a.emitter.Start(ctx, r.Method+" "+pathOf(r.Pattern), telemetry.Server,
			slog.String(semconv.HTTPRequestMethod, r.Method), slog.String(semconv.URLPath, r.URL.Path))
		defer span.End()
		pause(ctx, time.Duration(a.slow.Load()))
		status, body, err := 0, []byte(nil), error(nil)
		if m := a.mishap.Load(); m != nil {
			status, err = (*m)(w, r.WithContext(ctx))
		}
		if status == 0 {
			status, body, err = a.answer(ctx, r, action, strings.Replace(path, "{id}", id, 1))
		}
		span.Set(slog.Int(semconv.HTTPStatusCode, status))
		a.log(ctx, r, action, status, err)
		if status >= 500 {
			span.Fail(err, "upstream")
		}
		w.Header().Set("Content-Type", "application/json")
		if err != nil {
			w.Header().Set("Content-Type", "application/problem+json")
			body, _ = json.Marshal(rest.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: err.Error(),
				RequestID: telemetry.ID(ctx, semconv.RequestID)})
		}
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}
}

// answer does the work. The error's text is what the caller gets to see: as so often, not the reason.
func (a *api) answer(ctx context.Context, r *http.Request, action, path string) (status int, body []byte, err error) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch status, err := a.auth.do(ctx, http.MethodPost, "/check", check{Token: token, Action: action}, nil, nil); {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return status, nil, errors.New("permission denied")
	case err != nil:
		a.emitter.Log(ctx, telemetry.Error, "authorization service: "+err.Error(), slog.String(semconv.ErrorType, "auth_unavailable"))
		return http.StatusInternalServerError, nil, errors.New("failed to check permissions")
	}
	var in, out json.RawMessage
	if r.Method != http.MethodGet {
		if in, err = io.ReadAll(http.MaxBytesReader(nil, r.Body, 64<<10)); err != nil {
			return http.StatusRequestEntityTooLarge, nil, errors.New("body is too large")
		}
		if !json.Valid(in) {
			return http.StatusBadRequest, nil, errors.New("body is no JSON")
		}
		status, err = a.control.do(ctx, r.Method, path, in, &out, nil)
	} else {
		status, err = a.control.do(ctx, r.Method, path, nil, &out, nil)
	}
	switch {
	case err == nil:
		return status, out, nil
	case status >= 400 && status < 500:
		return status, nil, err
	case ctx.Err() == nil:
		a.emitter.Log(ctx, telemetry.Error, "provisioner: "+err.Error(), slog.String(semconv.ErrorType, "provisioner_unavailable"))
	}
	return http.StatusBadGateway, nil, errors.New("provisioning service is unavailable")
}

// log has a line for what changes something and for what was refused; reads are spans only.
func (a *api) log(ctx context.Context, r *http.Request, action string, status int, err error) {
	if err == nil && r.Method == http.MethodGet || ctx.Err() != nil {
		return
	}
	severity, text := telemetry.Info, fmt.Sprintf("%s allocation: %d", action, status)
	if err != nil {
		severity, text = telemetry.Warn, text+" "+err.Error()
	}
	if status >= 500 {
		severity = telemetry.Error
	}
	a.emitter.Log(ctx, severity, text, slog.String(semconv.HTTPRequestMethod, r.Method), slog.String(semconv.URLPath, r.URL.Path),
		slog.Int(semconv.HTTPStatusCode, status))
}

// pathOf is the path of a mux pattern, which may begin with a method.
func pathOf(pattern string) string {
	if _, path, ok := strings.Cut(pattern, " "); ok {
		return path
	}
	return pattern
}
