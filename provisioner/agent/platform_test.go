package agent_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/faultline-io/faultline/provisioner/agent"
	"github.com/faultline-io/faultline/provisioner/authority"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/fleet"
	"github.com/faultline-io/faultline/provisioner/outbox"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// testPlatform is a provisioner behind an ingress with mTLS.
type testPlatform struct {
	t         *testing.T
	store     *store.Store
	control   *control.Control
	authority *authority.Authority
	front     *httptest.Server
	dir       string

	mu      sync.Mutex
	before  func(w http.ResponseWriter, r *http.Request) bool // true: it has answered
	clients []*x509.Certificate                               // of requests, as they came
}

func newTestPlatform(t *testing.T, life time.Duration) *testPlatform {
	t.Helper()
	p := &testPlatform{t: t, dir: t.TempDir()}
	var err error
	if p.store, err = store.Open(context.Background(), filepath.Join(p.dir, "p.db"), store.Options{}); err != nil {
		t.Fatal(err)
	}
	if p.authority, err = authority.New("ca", time.Now()); err != nil {
		t.Fatal(err)
	}
	p.control = control.New(p.store, time.Minute)
	f := fleet.New(p.store, fleet.Config{Lease: time.Minute, LongestWait: 5 * time.Second, TokenLife: time.Minute}, nil)
	f.Certify(p.authority, life)
	c := workflow.DefaultConfig()
	c.Tick, c.RetryWait, c.CapacityRetry = 10*time.Millisecond, 5*time.Millisecond, 10*time.Millisecond
	quiet := slog.New(slog.DiscardHandler)
	engine := workflow.New(p.store, c, nil, quiet)
	relay := outbox.New(p.store, engine, outbox.DefaultConfig(), nil, quiet)
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	work.Go(func() { _ = engine.Run(ctx) })
	work.Go(func() { _ = relay.Run(ctx) })
	now := time.Now()
	own, err := p.authority.Pair(authority.Identity{Service: authority.Ingress}, now.Add(-time.Hour), now.Add(time.Hour), "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	p.front = httptest.NewUnstartedServer(p.ingress(own.Leaf, rest.NewNode(f, nil, quiet)))
	p.front.TLS = &tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: p.authority.Pool(), MinVersion: tls.VersionTLS12}
	p.front.Config.ErrorLog = log.New(io.Discard, "", 0)
	p.front.StartTLS()
	t.Cleanup(func() {
		p.front.CloseClientConnections()
		p.front.Close()
		cancel()
		work.Wait()
		if err := p.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// ingress passes requests on to the node API in one process, with whose certificate came and with its own.
func (p *testPlatform) ingress(own *x509.Certificate, node http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del(rest.HeaderClientCert)
		p.mu.Lock()
		before := p.before
		if peers := r.TLS.PeerCertificates; len(peers) > 0 {
			p.clients = append(p.clients, peers[0])
			c := rest.ClientCert{Hash: hex.EncodeToString(peers[0].SubjectKeyId), Subject: peers[0].Subject.String(), URI: peers[0].URIs[0].String()}
			r.Header.Set(rest.HeaderClientCert, c.String())
		}
		p.mu.Unlock()
		if before != nil && before(w, r) {
			return
		}
		r.TLS = &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{own}}}
		node.ServeHTTP(w, r)
	})
}

func (p *testPlatform) intercept(f func(w http.ResponseWriter, r *http.Request) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.before = f
}

func (p *testPlatform) token(node string) string {
	p.t.Helper()
	token, _, err := p.control.RegisterNode(context.Background(), node, "p")
	if err != nil {
		p.t.Fatal(err)
	}
	return token
}

func (p *testPlatform) config(node string) agent.Config {
	return agent.Config{
		URL: p.front.URL, Roots: p.authority.Pool(), Name: node, Folder: filepath.Join(p.dir, node), Token: p.token(node), BootID: "b-1",
		Poll: time.Second, Retry: 20 * time.Millisecond, Renew: 200 * time.Millisecond, Heartbeat: 100 * time.Millisecond, Timeout: 10 * time.Second,
	}
}

// start runs an agent until stop is called, or the test ends.
func (p *testPlatform) start(c agent.Config, m agent.Host, w agent.Worker) (stop func()) {
	p.t.Helper()
	a, err := agent.New(c, m, w)
	if err != nil {
		p.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			p.t.Error(err)
		}
	})
	p.t.Cleanup(stop)
	return stop
}

func (p *testPlatform) create(id string) {
	p.t.Helper()
	if _, _, err := p.control.Create(context.Background(), control.Request{ID: id, Pool: "p", Image: "i", RequestedBy: "alice"}); err != nil {
		p.t.Fatal(err)
	}
}

// state is the allocation's.
func (p *testPlatform) state(id string) string {
	p.t.Helper()
	a, err := p.control.Get(context.Background(), id)
	if err != nil {
		p.t.Fatal(err)
	}
	return a.State
}

// until waits for a condition; it is generous, for computers are busy.
func (p *testPlatform) until(what string, ok func() bool) {
	p.t.Helper()
	for end := time.Now().Add(60 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("not until now: %s", what)
		}
	}
}

// instance is the node's live instance.
func (p *testPlatform) instance(node string) string {
	p.t.Helper()
	all, err := p.control.Nodes(context.Background())
	if err != nil {
		p.t.Fatal(err)
	}
	for _, n := range all {
		if n.ID == node {
			return n.InstanceID
		}
	}
	return ""
}

func (p *testPlatform) rootsFile() string {
	path := filepath.Join(p.dir, "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.authority.Certificate().Raw})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		p.t.Fatal(err)
	}
	return path
}
