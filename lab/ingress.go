package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// route sends what begins with prefix to an upstream, with strip taken off.
type route struct {
	prefix, strip string
	upstream      *upstream
}

// ingress is a reverse proxy with TLS. It knows requests, not allocations: its lines carry what is in
// the headers that it forwards and the certificate that it has verified.
type ingress struct {
	proxy   *httputil.ReverseProxy
	emitter *telemetry.Emitter

	certificate atomic.Pointer[tls.Certificate]
	drain       atomic.Int64 // until when connections end after their request, in Unix nanoseconds
	anonymous   atomic.Bool  // client certificates are not passed on

	mu     sync.RWMutex
	routes []route
}

// exchange is what the ingress learns about one request on the way.
type exchange struct {
	upstream *upstream
	reached  string // address of the back end that answered or broke off, "" for none
	status   int
	flags    string // Envoy's response flags
	failure  error
	client   string // subject of the verified client certificate
}

type exchangeKey struct{}

func newIngress(routes []route, emitter *telemetry.Emitter) *ingress {
	g := &ingress{routes: routes, emitter: emitter}
	g.proxy = &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			x := p.In.Context().Value(exchangeKey{}).(*exchange)
			p.SetURL(&url.URL{Scheme: "http", Host: x.upstream.address})
			p.SetXForwarded()
			telemetry.Inject(p.In.Context(), p.Out.Header)
			p.Out.Header.Del(rest.HeaderCertSubject)
			p.Out.Header.Del(rest.HeaderClientCert)
			if x.client != "" && !g.anonymous.Load() {
				p.Out.Header.Set(rest.HeaderCertSubject, x.client)
				p.Out.Header.Set(rest.HeaderClientCert, forwarded(p.In.TLS))
			}
		},
		ModifyResponse: func(r *http.Response) error {
			x := r.Request.Context().Value(exchangeKey{}).(*exchange)
			x.reached, x.status = x.upstream.address, r.StatusCode
			return nil
		},
		ErrorHandler: failed,
		Transport:    &http.Transport{MaxIdleConnsPerHost: 32, IdleConnTimeout: time.Minute, ResponseHeaderTimeout: upstreamTime},
		ErrorLog:     slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // failed has said it
	}
	return g
}

// failed answers for a back end that could not.
func failed(w http.ResponseWriter, r *http.Request, err error) {
	x := r.Context().Value(exchangeKey{}).(*exchange)
	x.failure = err
	var op *net.OpError
	var slow net.Error
	switch {
	case r.Context().Err() != nil:
		x.status, x.flags, x.reached = 499, "DC", x.upstream.address
		return
	case errors.As(err, &op) && op.Op == "dial":
		x.status, x.flags = http.StatusServiceUnavailable, "UF"
	case errors.As(err, &slow) && slow.Timeout():
		x.status, x.flags, x.reached = http.StatusGatewayTimeout, "UT", x.upstream.address
	default:
		x.status, x.flags, x.reached = http.StatusBadGateway, "UC", x.upstream.address
	}
	http.Error(w, "upstream connect error or disconnect/reset before headers", x.status)
}

func (g *ingress) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	if g.drain.Load() > began.UnixNano() {
		w.Header().Set("Connection", "close")
	}
	ctx := telemetry.Extract(r.Context(), r.Header)
	if telemetry.ID(ctx, semconv.RequestID) == "" {
		ctx = telemetry.With(ctx, semconv.RequestID, telemetry.NewID("r"))
	}
	x := &exchange{}
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		x.client = r.TLS.PeerCertificates[0].Subject.String()
	}
	line := g.line(ctx) // what the proxy itself looks at: no baggage
	line, span := g.emitter.Start(line, "ingress "+r.Method, telemetry.Server)
	// Baggage travels on, under the proxy's own span.
	ctx = context.WithValue(telemetry.WithSpan(ctx, telemetry.SpanOf(line)), exchangeKey{}, x)
	g.forward(w, r.WithContext(ctx), x)
	attrs := []slog.Attr{
		slog.String(semconv.HTTPRequestMethod, r.Method), slog.String(semconv.URLPath, r.URL.Path), slog.Int(semconv.HTTPStatusCode, x.status),
		slog.String(semconv.UpstreamAddress, x.reached), slog.String(semconv.ProxyFlags, x.flags),
	}
	if x.upstream != nil {
		attrs = append(attrs, slog.String("upstream.cluster", x.upstream.name))
	}
	if x.client != "" {
		attrs = append(attrs, slog.String(semconv.TLSPeerSubject, x.client))
	}
	if x.failure != nil && x.status != 499 {
		attrs = append(attrs, slog.String("upstream.transport_failure_reason", x.failure.Error()))
	}
	span.Set(attrs...)
	severity := telemetry.Info
	switch {
	case x.status >= 500:
		severity = telemetry.Error
		span.Fail(fmt.Errorf("%d %s", x.status, x.flags), "proxy")
	case x.status >= 400:
		severity = telemetry.Warn
	}
	span.End()
	g.emitter.Log(line, severity, fmt.Sprintf("%s %s %d flags=%s upstream=%s %dms", r.Method, r.URL.Path, x.status, dash(x.flags), dash(x.reached),
		time.Since(began).Milliseconds()), attrs...)
}

// line keeps of a request's context what an access log has: trace, request id and correlation id.
func (g *ingress) line(ctx context.Context) context.Context {
	out := telemetry.WithSpan(context.Background(), telemetry.SpanOf(ctx))
	return telemetry.With(out, semconv.RequestID, telemetry.ID(ctx, semconv.RequestID), semconv.CorrelationID, telemetry.ID(ctx, semconv.CorrelationID))
}

// forward finds the route and passes the request on.
func (g *ingress) forward(w http.ResponseWriter, r *http.Request, x *exchange) {
	for _, rt := range g.table() {
		if !strings.HasPrefix(r.URL.Path, rt.prefix) {
			continue
		}
		x.upstream = rt.upstream
		if x.upstream.dead.Load() {
			x.status, x.flags = http.StatusServiceUnavailable, "UH"
			http.Error(w, "no healthy upstream", x.status)
			return
		}
		out := r.Clone(r.Context())
		out.URL.Path, out.URL.RawPath = strings.TrimPrefix(r.URL.Path, rt.strip), ""
		g.proxy.ServeHTTP(w, out)
		return
	}
	x.status, x.flags = http.StatusNotFound, "NR"
	http.Error(w, "no route", x.status)
}

// table is the routes as they are now.
func (g *ingress) table() []route {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.routes
}

// remove takes the route of a prefix away; put brings it back.
func (g *ingress) remove(prefix string) (put func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	was := g.routes
	g.routes = slices.DeleteFunc(slices.Clone(was), func(r route) bool { return r.prefix == prefix })
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, r := range was {
			if r.prefix == prefix {
				g.routes = append(slices.Clone(g.routes), r)
			}
		}
	}
}

// upstream is the one of a name.
func (g *ingress) upstream(name string) *upstream {
	for _, r := range g.table() {
		if r.upstream.name == name {
			return r.upstream
		}
	}
	return nil
}

// tlsConfig verifies a client certificate where one is presented; enrolment has none.
func (g *ingress) tlsConfig(p *pki) *tls.Config {
	g.certificate.CompareAndSwap(nil, &p.server)
	return &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return g.certificate.Load(), nil },
		ClientAuth:     tls.VerifyClientCertIfGiven, ClientCAs: p.ca.pool(), MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
	}
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
