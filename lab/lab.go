package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/internal/service"
	"github.com/faultline-io/faultline/lab/aapsim"
	"github.com/faultline-io/faultline/lab/edasim"
	"github.com/faultline-io/faultline/lab/hubsim"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// grace is what is left to requests and telemetry at the end.
const grace = 3 * time.Second

// startTime is how long the provisioner may take to come up.
const startTime = time.Minute

// lab is everything that its parts share.
type lab struct {
	config    Config
	log       *slog.Logger
	exporter  *telemetry.Exporter
	pki       *pki
	control   hop // the provisioner's control API
	sockets   *sockets
	truths    *truths
	specs     []nodeSpec
	states    map[string]*nodeState // by node
	nodes     map[string]*node      // complete before any of them runs
	ingress   *ingress
	api       *api
	auth      *auth
	listeners listeners
	hub       *hubsim.Hub // the simulated providers; nil where there are none
	aap       *aapsim.Controller
	eda       *edasim.Activation

	viewStopped atomic.Bool // nothing refreshes the user interface's view

	injecting   sync.Mutex     // held while a fault is turned on or off
	interrupted []func() error // ends what Interrupt began

	mu         sync.Mutex
	faults     faultRegistry
	lives      map[string]*life
	slow       map[string]int  // allocation → factor on its provisioning
	busy       map[string]bool // pools of stories that are alone in theirs
	left       []string        // allocations whose client is gone
	transports []*http.Transport
}

// Run plays stories until ctx ends, or until the configured number or time is up and the last one is
// over. It needs a provisioner, for which it waits a minute.
func Run(ctx context.Context, c Config, log *slog.Logger) (err error) {
	if err := os.MkdirAll(c.Data, 0o755); err != nil {
		return fmt.Errorf("make data folder: %w", err)
	}
	if err := writeSettings(c.Data); err != nil {
		return fmt.Errorf("write %s: %w", settingsFile, err)
	}
	out := c.Telemetry
	if c.Export != "" {
		out.File = c.Export
	}
	l := &lab{config: c, log: log, lives: map[string]*life{}, slow: map[string]int{}, busy: map[string]bool{}}
	if l.exporter, err = telemetry.Open(out, log); err != nil {
		return err
	}
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		err = errors.Join(err, l.exporter.Close(last))
	}()
	if l.truths, err = openTruths(c.Data); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.truths.close()) }()
	if l.sockets, err = c.open(ctx); err != nil {
		return fmt.Errorf("open listeners: %w", err)
	}
	defer l.sockets.close()
	specs := inventory(c.Nodes)
	for i := range specs {
		specs[i].id = c.Name + specs[i].id
	}
	l.specs = specs
	l.states = map[string]*nodeState{}
	for _, s := range specs {
		l.states[s.id] = newNodeState()
	}
	if l.pki, err = newPKI(c.Data, specs, time.Now()); err != nil {
		return err
	}
	if err := l.joinNetworks(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.leaveNetworks()) }()
	plain := &http.Transport{MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute}
	l.keep(plain)
	defer l.closeIdle()
	l.control = hop{&http.Client{Transport: plain, Timeout: 15 * time.Second}, c.Provisioner}
	tokens, err := l.register(ctx, specs)
	var left []string
	if err == nil {
		left, err = l.abandoned(ctx)
	}
	if ctx.Err() != nil {
		return nil // told to stop while it waited
	}
	if err != nil {
		return err
	}
	return l.play(ctx, specs, tokens, left)
}

// play starts every part and waits for all of them. What was left by an earlier run is reclaimed.
func (l *lab) play(ctx context.Context, specs []nodeSpec, tokens map[string]string, left []string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	work, ctx := errgroup.WithContext(ctx)
	takeOrders, err := l.takeOrders(ctx)
	if err != nil {
		return err
	}
	part := func(f func()) { work.Go(func() error { f(); return nil }) }
	beat := l.config.Telemetry.Heartbeat
	source := func(name string) *telemetry.Emitter {
		s := l.exporter.Emitter(name)
		part(func() { s.Heartbeat(ctx, "", beat) })
		return s
	}
	l.serve(ctx, work)
	work.Go(takeOrders)
	defer l.healAtEnd(ctx)
	if l.config.Providers {
		defer l.serveProviders(ctx, work)()
	}
	l.nodes = map[string]*node{}
	for _, spec := range specs {
		l.nodes[spec.id] = newNode(l, spec, tokens[spec.id])
	}
	if l.config.started != nil {
		l.config.started(l)
	}
	for _, m := range l.nodes {
		part(func() { m.run(ctx, beat, l.config.scaled(4*time.Second)) })
		part(func() { m.runAgent(ctx) })
	}
	view, clients := source("ui-projection"), source("cli")
	part(func() { l.projection(ctx, view) })
	part(func() { l.operator(ctx, left) })
	part(func() {
		l.clients(ctx, clients)
		stop() // the last story is over
	})
	l.log.Info("lab started", "ingress", l.front(), "nodes", len(specs), "abandoned", len(left), "data", l.config.Data)
	err = work.Wait()
	l.log.Info("lab stopped")
	return err
}

// front is the base URL of the ingress.
func (l *lab) front() string { return "https://" + l.sockets.ingress.Addr().String() }

// listeners are what listens, each a process that can end.
type listeners struct {
	auth, api, hub, aap, eda *toggleListener
	ingress                  []*toggleListener // in every network
}

// serves tells whether the ingress runs.
func (l listeners) serves() bool { return l.ingress[0].runs() }

// serve starts what listens: authorization, API, ingress.
func (l *lab) serve(ctx context.Context, work *errgroup.Group) {
	at, proxy := l.sockets, l.exporter.Emitter("ingress-proxy")
	for _, listener := range append([]net.Listener{at.ingress}, at.gateways...) {
		l.listeners.ingress = append(l.listeners.ingress, newToggleListener(listener))
	}
	serves := l.listeners.serves
	work.Go(func() error {
		proxy.HeartbeatWhile(ctx, "", l.config.Telemetry.Heartbeat, func(context.Context) bool { return serves() })
		return nil
	})
	l.listeners.auth, l.listeners.api = newToggleListener(at.auth), newToggleListener(at.api)
	l.auth = newAuth(l.source(ctx, work, "auth-service", l.listeners.auth))
	l.api = newAPI(hop{l.control.client, "http://" + at.auth.Addr().String()}, l.control, l.source(ctx, work, "fulfillment-api", l.listeners.api))
	east := newUpstream("fulfillment-api-east", at.api.Addr().String())
	west := newUpstream("fulfillment-api-west", at.dead)
	nodes := newUpstream("node-api", l.config.NodeAPI)
	l.ingress = newIngress([]route{{"/east/api/", "/east", east}, {"/west/api/", "/west", west}, {"/internal/v1/nodes/", "", nodes}}, proxy)
	l.ingress.proxy.Transport.(*http.Transport).DialContext = l.pki.towards(l.config.NodeAPI)
	l.keep(l.ingress.proxy.Transport.(*http.Transport))
	for _, p := range []struct {
		listener net.Listener
		handler  http.Handler
	}{
		{l.listeners.auth, l.auth}, {l.listeners.api, l.api},
	} {
		work.Go(func() error { return service.ServeOn(ctx, p.listener, p.handler, grace) })
	}
	for _, listener := range l.listeners.ingress {
		work.Go(func() error {
			return service.ServeOn(ctx, newHandshakes(listener, l.ingress.tlsConfig(l.pki), proxy), l.ingress, grace)
		})
	}
	for _, u := range []*upstream{east, west, nodes} {
		work.Go(func() error { u.watch(ctx, time.Second, proxy, serves); return nil })
	}
}

// source speaks for a process that listens: while it does not, it says nothing.
func (l *lab) source(ctx context.Context, work *errgroup.Group, name string, t *toggleListener) *telemetry.Emitter {
	s := l.exporter.Emitter(name)
	work.Go(func() error {
		s.HeartbeatWhile(ctx, "", l.config.Telemetry.Heartbeat, func(context.Context) bool { return t.runs() })
		return nil
	})
	return s
}

// register waits for the provisioner and adds the nodes to its inventory.
func (l *lab) register(ctx context.Context, specs []nodeSpec) (tokens map[string]string, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	tokens = map[string]string{}
	waiting := false
	for _, s := range specs {
		for {
			var t rest.NodeToken
			status, err := l.control.do(ctx, http.MethodPost, "/v1/nodes", rest.NodeRequest{NodeID: s.id, NodePool: s.pool}, &t, nil)
			if err == nil {
				tokens[s.id] = t.Token
				break
			}
			if status != 0 {
				return nil, fmt.Errorf("register %s: %w", s.id, err)
			}
			if ctx.Err() != nil {
				return nil, fmt.Errorf("no provisioner answers at %s within %s: %w", l.config.Provisioner, startTime, err)
			}
			if !waiting {
				waiting = true
				l.log.Info("waiting for the provisioner", "url", l.config.Provisioner, "error", err)
			}
			pause(ctx, 250*time.Millisecond)
		}
	}
	return tokens, nil
}

// clients starts a story every so often and waits for the last one.
func (l *lab) clients(ctx context.Context, emitter *telemetry.Emitter) {
	transport := l.transport()
	l.keep(transport)
	way := hop{&http.Client{Transport: transport, Timeout: 15 * time.Second}, l.front()}
	plan := newSchedule(l.config.Seed, l.config.Stories, l.config.Providers)
	var playing sync.WaitGroup
	defer playing.Wait()
	pause(ctx, l.config.scaled(4*time.Second)) // agents enrol, and one of them dies
	began, every := time.Now(), l.config.scaled(l.config.Every)
	for n := 0; ctx.Err() == nil; pause(ctx, every) {
		if l.config.Count > 0 && n == l.config.Count || l.config.Duration > 0 && time.Since(began) > l.config.Duration {
			return
		}
		if l.config.Open > 0 && l.opens() >= l.config.Open {
			continue // whoever waits for a node that others hold would only wait longer
		}
		st, ok := plan.next(l.free)
		if !ok {
			continue
		}
		n++
		c := &client{lab: l, hop: way, emitter: emitter, st: st, id: telemetry.NewID("a")}
		l.begin(c.id, st)
		playing.Go(func() {
			life, over := context.WithTimeout(ctx, l.config.scaled(longestLife))
			defer over()
			end := c.live(life)
			l.tell(ctx, c.id, st, end)
			l.end(ctx, c.id, st)
			l.leave(ctx, c.id, end)
		})
	}
}

// tell writes down the truth of a story that went as it is written. Of one that didn't, nobody here
// knows the truth.
func (l *lab) tell(ctx context.Context, id string, st story, end string) {
	l.mu.Lock()
	i, cost, met := (*injection)(nil), false, 0
	if v := l.lives[id]; v != nil {
		v.ended, v.end = time.Now(), end
		i, cost, met = l.injected(v)
	}
	l.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case met == 1 && cost && st.layer == "":
		if err := l.truths.writeFault(id, st, i.fault); err != nil {
			l.log.Error("write truth", "error", err)
		}
	case met > 0: // two causes, or one that cost nothing that we know of
	case end != st.end:
		l.log.Warn("story went otherwise, no truth is written", "story", st.name, "allocation_id", id, "end", end, "want", st.end)
	default:
		if err := l.truths.write(id, st); err != nil {
			l.log.Error("write truth", "error", err)
		}
	}
}

func (l *lab) free(st story) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !st.alone || !l.busy[st.pool]
}

func (l *lab) begin(id string, st story) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lives[id] = &life{id: id, story: st, began: time.Now()}
	l.busy[st.pool] = st.alone
	l.slow[id] = max(1, st.slow)
}

// end forgets a story; a node that is used alone stays so until its operator has been there.
func (l *lab) end(ctx context.Context, id string, st story) {
	if st.alone {
		pause(ctx, l.config.scaled(2*repairAfter))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.slow, id)
	delete(l.busy, st.pool)
}

// slowness is the factor on the provisioning of an allocation.
func (l *lab) slowness(allocation string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(1, l.slow[allocation])
}

// transport trusts the lab's authority; callers may add a client certificate.
func (l *lab) transport() *http.Transport {
	return &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: l.pki.ca.pool(), MinVersion: tls.VersionTLS12},
		MaxIdleConnsPerHost: 16, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: handshakeTime,
	}
}

// keep remembers a transport whose idle connections are closed at the end.
func (l *lab) keep(t *http.Transport) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.transports = append(l.transports, t)
}

func (l *lab) closeIdle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.transports {
		t.CloseIdleConnections()
	}
}
