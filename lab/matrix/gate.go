package matrix

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/semconv"
)

// Gate stands between a platform and the Collector's OTLP/HTTP receiver, and can keep back what one layer says.
type Gate struct {
	profile *profile.Profile
	proxy   *httputil.ReverseProxy

	mu     sync.Mutex
	silent string // the layer that is kept back; "": none
	kept   int    // records kept back
}

// NewGate passes on to a Collector.
func NewGate(collector string, p *profile.Profile) (*Gate, error) {
	to, err := url.Parse(collector)
	if err != nil {
		return nil, fmt.Errorf("address of the Collector: %w", err)
	}
	return &Gate{profile: p, proxy: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}}, nil
}

// Silence keeps back what a layer says from now on; "" lets all through.
func (g *Gate) Silence(layer string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.silent = layer
}

// Kept counts the records that were kept back.
func (g *Gate) Kept() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.kept
}

// ServeHTTP implements http.Handler.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	silent := g.silent
	g.mu.Unlock()
	if silent != "" {
		body, err := read(r)
		if err == nil {
			body, err = g.without(silent, r.URL.Path, body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Header.Del("Content-Encoding")
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	g.proxy.ServeHTTP(w, r)
}

func read(r *http.Request) ([]byte, error) {
	var from io.Reader = r.Body
	switch encoding := r.Header.Get("Content-Encoding"); encoding {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, err
		}
		from = z
	default:
		return nil, errors.New("encoding " + encoding + " is not read here")
	}
	return io.ReadAll(from)
}

// without leaves out what a layer says.
func (g *Gate) without(layer, path string, body []byte) ([]byte, error) {
	of := func(resource pcommon.Resource, scope string, attrs pcommon.Map) bool {
		attr := func(name string) string {
			if v, ok := attrs.Get(name); ok {
				return v.AsString()
			}
			return ""
		}
		service, _ := resource.Attributes().Get(semconv.ServiceName)
		if g.profile.Layer(service.AsString(), scope, attr) != layer {
			return false
		}
		g.mu.Lock()
		g.kept++
		g.mu.Unlock()
		return true
	}
	switch path {
	case "/v1/logs":
		request := plogotlp.NewExportRequest()
		if err := request.UnmarshalProto(body); err != nil {
			return nil, err
		}
		request.Logs().ResourceLogs().RemoveIf(func(rl plog.ResourceLogs) bool {
			rl.ScopeLogs().RemoveIf(func(sl plog.ScopeLogs) bool {
				sl.LogRecords().RemoveIf(func(lr plog.LogRecord) bool { return of(rl.Resource(), sl.Scope().Name(), lr.Attributes()) })
				return sl.LogRecords().Len() == 0
			})
			return rl.ScopeLogs().Len() == 0
		})
		return request.MarshalProto()
	case "/v1/traces":
		request := ptraceotlp.NewExportRequest()
		if err := request.UnmarshalProto(body); err != nil {
			return nil, err
		}
		request.Traces().ResourceSpans().RemoveIf(func(rs ptrace.ResourceSpans) bool {
			rs.ScopeSpans().RemoveIf(func(ss ptrace.ScopeSpans) bool {
				ss.Spans().RemoveIf(func(s ptrace.Span) bool { return of(rs.Resource(), ss.Scope().Name(), s.Attributes()) })
				return ss.Spans().Len() == 0
			})
			return rs.ScopeSpans().Len() == 0
		})
		return request.MarshalProto()
	}
	return body, nil
}
