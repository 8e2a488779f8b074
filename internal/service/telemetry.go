package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/faultline-io/faultline/internal/semconv"
)

// TelemetryConfig is the `telemetry` section: what a service says of itself by OTLP. It is off by
// default: a service that reports its own requests to the Collector that it answers for feeds itself.
type TelemetryConfig struct {
	Endpoint string `yaml:"endpoint"` // base URL of an OTLP/HTTP receiver; empty: off
}

// Validate names the key that is wrong.
func (c TelemetryConfig) Validate() error {
	if c.Endpoint == "" {
		return nil
	}
	if u, err := url.Parse(c.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("telemetry.endpoint: %q is no http or https URL", c.Endpoint)
	}
	return nil
}

// Tracing wraps a service's handler so that each request is a span, and ends with what is left sent.
type Tracing struct {
	name     string
	provider *sdktrace.TracerProvider // nil: off
}

// StartTracing prepares the spans of a service of that name. It does not wait for the receiver; what
// cannot be sent is dropped, a service never waits for its own telemetry.
func StartTracing(ctx context.Context, c TelemetryConfig, name string) (*Tracing, error) {
	if c.Endpoint == "" {
		return &Tracing{name: name}, nil
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(c.Endpoint+"/v1/traces"))
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	return &Tracing{name: name, provider: sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter, sdktrace.WithBatchTimeout(time.Second)),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String(semconv.ServiceName, name))),
	)}, nil
}

// Wrap makes a span of every request that goes through h, but for the operational pages.
func (t *Tracing) Wrap(h http.Handler) http.Handler {
	if t.provider == nil {
		return h
	}
	return otelhttp.NewHandler(h, t.name, otelhttp.WithTracerProvider(t.provider), otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string { return r.Method + " " + r.URL.Path }),
		otelhttp.WithFilter(func(r *http.Request) bool {
			return r.URL.Path != "/healthz" && r.URL.Path != "/readyz" && r.URL.Path != "/metrics"
		}))
}

// Close sends what is left, within a few seconds.
func (t *Tracing) Close(ctx context.Context) error {
	if t.provider == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("send the last spans: %w", err)
	}
	return nil
}
