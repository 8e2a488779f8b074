package provider_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab/aapsim"
	"github.com/faultline-io/faultline/lab/edasim"
	"github.com/faultline-io/faultline/lab/hubsim"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/provider/aap"
	"github.com/faultline-io/faultline/provisioner/provider/eda"
	"github.com/faultline-io/faultline/provisioner/provider/hub"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// requests keeps the headers of all requests to one server, by "METHOD /path".
type requests struct {
	mu   sync.Mutex
	seen map[string][]http.Header
}

func (q *requests) serve(t *testing.T, h http.Handler) string {
	t.Helper()
	q.seen = map[string][]http.Header{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q.mu.Lock()
		key := r.Method + " " + r.URL.Path
		q.seen[key] = append(q.seen[key], r.Header.Clone())
		q.mu.Unlock()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// want checks that each request carries the caller's trace under a span of its own, its baggage with the
// identifiers, and the correlation id; and that there was one of each kind.
func (q *requests) want(t *testing.T, caller context.Context, kinds ...string) {
	t.Helper()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, kind := range kinds {
		found := false
		for key := range q.seen {
			found = found || strings.HasPrefix(key, kind)
		}
		if !found {
			t.Errorf("no %s among %d kinds of requests", kind, len(q.seen))
		}
	}
	mine, spans := telemetry.SpanOf(caller), map[string]bool{}
	for key, all := range q.seen {
		for _, h := range all {
			got := telemetry.ParseTraceparent(h.Get("traceparent"))
			if got.Trace != mine.Trace || got.Span == mine.Span || spans[got.String()] {
				t.Errorf("%s: traceparent %q, of a caller in %s", key, h.Get("traceparent"), mine)
			}
			spans[got.String()] = true
			for _, member := range []string{"allocation_id=a-1", "workflow_id=w-1", "correlation_id=c-1", "tenant=blue"} {
				if !strings.Contains(","+h.Get("baggage")+",", ","+member+",") {
					t.Errorf("%s: baggage %q is without %s", key, h.Get("baggage"), member)
				}
			}
			if h.Get(semconv.HeaderCorrelationID) != "c-1" {
				t.Errorf("%s: correlation id %q", key, h.Get(semconv.HeaderCorrelationID))
			}
		}
	}
}

// Whatever is asked of a provider or its hub (launch, search, poll, cancel, webhook, view) says whose it is, so
// that what the other side writes can be found by allocation, workflow, correlation and trace.
func TestRequestsCarryTheirContext(t *testing.T) {
	config := telemetry.DefaultConfig()
	config.Endpoint = ""
	exporter, err := telemetry.Open(config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = exporter.Close(context.Background()) })
	emitter := exporter.Emitter("provisioner")
	caller := telemetry.WithRemoteBaggage(telemetry.WithSpan(telemetry.With(t.Context(),
		semconv.AllocationID, "a-1", semconv.WorkflowID, "w-1", semconv.CorrelationID, "c-1"), telemetry.NewTrace()), "tenant=blue")
	version := provider.ConfigVersion("ocp_virt_vm", "p")
	wish := func(operation string) provider.Request {
		return provider.Request{Key: "k/" + operation, AllocationID: "a-1", Operation: operation, ConfigVersion: version, Pool: "p", Template: "ocp_virt_vm"}
	}
	whole := func(t *testing.T, p provider.Provider, h *hubsim.Hub, cancels bool) {
		t.Helper()
		for _, operation := range []string{provider.Provision, provider.Deprovision} {
			for end := time.Now().Add(30 * time.Second); operation == provider.Deprovision && !cancels; time.Sleep(time.Millisecond) {
				if r, there := h.Resource("a-1"); there && r.Metadata.Has(hub.PlaybookFinalizer) {
					break // the playbook has begun: its removal is no longer skipped
				} else if time.Now().After(end) {
					t.Fatal("no playbook has begun")
				}
			}
			l, err := p.Launch(caller, wish(operation))
			if err != nil {
				t.Fatal(err)
			}
			j := provider.Job{Request: wish(operation), ID: l.ID, Kind: l.Kind}
			if _, _, _, err := p.Adopt(caller, wish(operation), time.Now()); err != nil {
				t.Fatal(err)
			}
			s, err := p.Poll(caller, j)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := p.Project(caller, j, s); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Cancel(caller, j); cancels && err != nil {
				t.Fatal(err)
			}
		}
	}

	t.Run("aap", func(t *testing.T) {
		var asked, viewed requests
		h := hubsim.New("")
		sim := aapsim.New(aapsim.Config{Instance: "lab", Queue: time.Minute}, h, nil)
		t.Cleanup(sim.Close)
		c := aap.DefaultConfig()
		c.API = provider.Endpoint{URL: asked.serve(t, sim.Handler()) + "/api/controller", Timeout: 5 * time.Second}
		c.Hub = provider.Endpoint{URL: viewed.serve(t, h.Handler()), Timeout: 5 * time.Second}
		p, err := aap.Open(c, emitter)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		whole(t, p, h, true)
		const v2 = "/api/controller/v2"
		asked.want(t, caller, "GET "+v2+"/job_templates/", "POST "+v2+"/job_templates/11/launch/", "POST "+v2+"/job_templates/12/launch/",
			"GET "+v2+"/jobs/", "GET "+v2+"/jobs/101/", "POST "+v2+"/jobs/101/cancel/", "POST "+v2+"/jobs/102/cancel/")
		viewed.want(t, caller, "POST /", "GET /", "PATCH /", "DELETE /")
	})
	t.Run("eda", func(t *testing.T) {
		var posted, viewed requests
		h := hubsim.New("")
		sim := edasim.New(edasim.Config{Instance: "lab", Takes: func(string, bool) time.Duration { return time.Minute }}, h, nil)
		t.Cleanup(sim.Close)
		c := eda.DefaultConfig()
		c.Webhook = provider.Endpoint{URL: posted.serve(t, sim.Handler()), Timeout: 5 * time.Second}
		c.Hub = provider.Endpoint{URL: viewed.serve(t, h.Handler()), Timeout: 5 * time.Second}
		p, err := eda.Open(c, emitter)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		whole(t, p, h, false)
		posted.want(t, caller, "POST /create-compute-instance", "POST /delete-compute-instance")
		viewed.want(t, caller, "POST /", "GET /", "PATCH /")
	})
}
