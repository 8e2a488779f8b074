// Package provided is a platform in one process whose allocations are served by providers: a provisioner
// with its store and outbox, an automation controller over HTTPS, a rulebook activation and a hub over
// HTTP. Experiments are made on it, and judged by its telemetry.
package provided

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab/aapsim"
	"github.com/faultline-io/faultline/lab/edasim"
	"github.com/faultline-io/faultline/lab/hubsim"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/outbox"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/provider/aap"
	"github.com/faultline-io/faultline/provisioner/provider/eda"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// Pools, by the provider that serves them.
const (
	PoolAAP = "pool-aap"
	PoolEDA = "pool-eda"
)

// Config says how fast and how well the platform works.
type Config struct {
	Dir      string // for the database, the telemetry and the certificate
	AAP      aapsim.Config
	EDA      edasim.Config
	Poll     time.Duration // of AAP jobs
	Watch    time.Duration // of marks
	Begin    time.Duration // after which a create that EDA accepted and nobody began was lost; 0: never
	Timeout  time.Duration // of one request to a provider
	Workflow workflow.Config
	Log      *slog.Logger

	// Through is put before each adapter, by experiments with one that has a bug; nil: nothing is.
	Through func(provider.Provider) provider.Provider
	// Patience is how long an experiment waits for one thing.
	Patience time.Duration
}

// DefaultConfig is quick: for tests and demonstrations.
func DefaultConfig(dir string) Config {
	w := workflow.DefaultConfig()
	w.Tick, w.RetryWait, w.JobLease = 20*time.Millisecond, 20*time.Millisecond, 2*time.Second
	w.JobTime, w.CancelTime = 20*time.Second, 5*time.Second
	return Config{
		Dir: dir, Poll: 30 * time.Millisecond, Watch: 10 * time.Millisecond, Timeout: 2 * time.Second, Workflow: w, Log: slog.New(slog.DiscardHandler),
		Patience: time.Minute,
	}
}

// Platform is running from Start to Close.
type Platform struct {
	Hub     *hubsim.Hub
	AAP     *aapsim.Controller
	EDA     *edasim.Activation
	Control *control.Control
	Store   *store.Store

	config  Config
	emitter *telemetry.Exporter
	servers []*httptest.Server
	cleanup []func()
	halt    func()

	// Restart ends the provisioner and starts another one on its database.
	Restart func(ctx context.Context) error
}

// TelemetryFile is where the platform's telemetry lies, as OTLP/JSON lines.
func (p *Platform) TelemetryFile() string { return filepath.Join(p.config.Dir, "telemetry.jsonl") }

// Start starts all parts.
func Start(ctx context.Context, c Config) (p *Platform, err error) {
	p = &Platform{config: c, Hub: hubsim.New("hub-token"), halt: func() {}}
	defer func() {
		if err != nil {
			_ = p.Close(ctx)
		}
	}()
	said := telemetry.DefaultConfig()
	said.Endpoint, said.File = "", p.TelemetryFile()
	if p.emitter, err = telemetry.Open(said, c.Log); err != nil {
		return p, err
	}
	c.AAP.Instance, c.AAP.Token, c.EDA.Instance, c.EDA.Token = "lab", "aap-token", "lab", "eda-token"
	p.AAP = aapsim.New(c.AAP, p.Hub, p.emitter.Emitter("aap"))
	p.EDA = edasim.New(c.EDA, p.Hub, p.emitter.Emitter("eda"))
	quiet := slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug)
	serve := func(h http.Handler, secure bool) *httptest.Server {
		s := httptest.NewUnstartedServer(h)
		s.Config.ErrorLog = quiet
		if secure {
			s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
			s.StartTLS()
		} else {
			s.Start()
		}
		p.servers = append(p.servers, s)
		return s
	}
	hubAPI, api, webhook := serve(p.Hub.Handler(), false), serve(p.AAP.Handler(), true), serve(p.EDA.Handler(), false)
	ca := filepath.Join(c.Dir, "aap-ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: api.Certificate().Raw}), 0o600); err != nil {
		return p, err
	}
	p.config.AAP, p.config.EDA = c.AAP, c.EDA
	return p, p.startProvisioner(ctx, hubAPI.URL, api.URL+"/api/controller", ca, webhook.URL)
}

func (p *Platform) startProvisioner(ctx context.Context, hubURL, apiURL, ca, webhookURL string) (err error) {
	c := p.config
	emitter := p.emitter.Emitter("provisioner")
	ac := aap.DefaultConfig()
	ac.Instance, ac.Poll = "lab", c.Poll
	ac.API = provider.Endpoint{URL: apiURL, Token: c.AAP.Token, CAFile: ca, Timeout: c.Timeout}
	ac.Hub = provider.Endpoint{URL: hubURL, Token: "hub-token", Timeout: c.Timeout}
	controller, err := aap.Open(ac, emitter)
	if err != nil {
		return err
	}
	ec := eda.DefaultConfig()
	ec.Instance, ec.Watch, ec.Settle, ec.BeginTime = "lab", c.Watch, min(c.Timeout, cmp.Or(c.Begin, c.Timeout)), c.Begin
	ec.Webhook, ec.Hub = provider.Endpoint{URL: webhookURL, Token: c.EDA.Token, Timeout: c.Timeout}, ac.Hub
	activation, err := eda.Open(ec, emitter)
	if err != nil {
		return err
	}
	p.cleanup = append(p.cleanup, controller.Close, activation.Close)
	through := c.Through
	if through == nil {
		through = func(p provider.Provider) provider.Provider { return p }
	}
	p.halt, err = p.run(ctx, emitter, through(controller), through(activation))
	return err
}

// run opens the store and sets engine and relay to work.
func (p *Platform) run(ctx context.Context, emitter *telemetry.Emitter, controller, activation provider.Provider) (halt func(), err error) {
	s, err := store.Open(ctx, filepath.Join(p.config.Dir, "provisioner.db"), store.Options{
		DB: p.emitter.Emitter("db"), Emitter: emitter, Relay: p.emitter.Emitter("outbox-relay"),
	})
	if err != nil {
		return func() {}, err
	}
	p.Store, p.Control = s, control.New(s, time.Minute).Offering(control.Catalog{Pools: []string{PoolAAP, PoolEDA}, Templates: hubsim.Templates()})
	engine := workflow.New(s, p.config.Workflow, emitter, p.config.Log)
	engine.Use(controller, PoolAAP)
	engine.Use(activation, PoolEDA)
	relay := outbox.New(s, engine, outbox.DefaultConfig(), p.emitter.Emitter("outbox-relay"), p.config.Log)
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	work.Go(func() { _ = engine.Run(ctx) })
	work.Go(func() { _ = relay.Run(ctx) })
	var once sync.Once
	halt = func() {
		once.Do(func() {
			stop()
			work.Wait()
			_ = s.Close()
		})
	}
	p.Restart = func(ctx context.Context) (err error) {
		p.halt()
		p.halt, err = p.run(ctx, emitter, controller, activation)
		return err
	}
	return halt, nil
}

// Close ends all parts and writes what telemetry waits.
func (p *Platform) Close(ctx context.Context) error {
	p.halt()
	if p.AAP != nil {
		p.AAP.Close()
		p.EDA.Close()
	}
	for _, f := range p.cleanup {
		f()
	}
	for _, s := range p.servers {
		s.Close()
	}
	if p.emitter == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return p.emitter.Close(ctx)
}

// Create asks for an allocation as a tenant would: with a correlation of its own.
func (p *Platform) Create(ctx context.Context, id, pool, image string) error {
	ctx = telemetry.With(ctx, semconv.CorrelationID, telemetry.NewID("c"))
	_, _, err := p.Control.Create(ctx, control.Request{ID: id, Pool: pool, Image: image, RequestedBy: "alice"})
	return err
}

// Job reads the newest job of an operation; ok is false where there is none.
func (p *Platform) Job(ctx context.Context, allocation, operation string) (j store.ProviderJob, ok bool, err error) {
	err = p.Store.View(ctx, "read jobs", func(t *store.Tx) error {
		all, err := t.ProviderJobs(allocation)
		for _, one := range all {
			if one.Operation == operation {
				j, ok = one, true
			}
		}
		return err
	})
	return j, ok, err
}

// Until waits until ok, for as long as patience lasts.
func Until(ctx context.Context, patience time.Duration, what string, ok func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		done, err := ok()
		if done || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: not within %s", what, patience)
		case <-time.After(min(100*time.Millisecond, max(5*time.Millisecond, patience/4000))):
		}
	}
}

// Reaches waits until the allocation is in a state.
func (p *Platform) Reaches(ctx context.Context, id, state string, patience time.Duration) error {
	var last store.Allocation
	err := Until(ctx, patience, id+" is "+state, func() (bool, error) {
		a, err := p.Control.Get(ctx, id)
		last = a
		return a.State == state, err
	})
	if err != nil {
		return fmt.Errorf("%w: it is %s (%s)", err, last.State, last.Reason)
	}
	return nil
}
