// Package provisioner is the reference controller: it takes requests for nodes, works on them with
// durable workflows, and tells what it does in lifecycle events, spans and logs that share their
// identifiers.
//
//	control API ─▶ control ─┐                     ┌─▶ outbox ─▶ workflow ─┐
//	                        ├─▶ store (SQL) ──────┤                       ├─▶ store
//	node API ────▶ fleet ───┘                     └─▶ journal ─▶ OTLP     ┘
package provisioner

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"

	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/service"
	"github.com/faultline-io/faultline/provisioner/chaos"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/fleet"
	"github.com/faultline-io/faultline/provisioner/journal"
	"github.com/faultline-io/faultline/provisioner/outbox"
	"github.com/faultline-io/faultline/provisioner/recovery"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/telemetry"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// Services that the provisioner speaks for.
const (
	serviceProvisioner = "provisioner"
	serviceDB          = "db"
	serviceRelay       = "outbox-relay"
)

// Run is a provisioner until ctx ends: then requests in flight are answered, the step at hand is
// finished, and telemetry is sent off.
func Run(ctx context.Context, c Config, log *slog.Logger) (err error) {
	exporter, err := telemetry.Open(c.Telemetry, log)
	if err != nil {
		return err
	}
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Grace)
		defer cancel()
		err = errors.Join(err, exporter.Close(last))
	}()
	emitter, db, relayEmitter := exporter.Emitter(serviceProvisioner), exporter.Emitter(serviceDB), exporter.Emitter(serviceRelay)

	s, err := store.Open(ctx, c.Database, store.Options{DB: db, Emitter: emitter, Relay: relayEmitter, Journal: exporter.HasReceiver(), Slow: c.Slow, PoolWait: c.PoolWait})
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	shipper := journal.New(s, exporter, c.Telemetry, log)

	engine := workflow.New(s, c.Workflow, emitter, log)
	closeProviders, err := c.Providers.use(engine, emitter)
	defer closeProviders()
	if err != nil {
		return fmt.Errorf("open providers: %w", err)
	}
	var faults *chaos.Switches
	if c.Faults != "" {
		faults = chaos.New(s.ExhaustPool)
		engine.BeforeStep = func(ctx context.Context) { faults.Block(ctx, chaos.Stuck) }
		engine.ExpireTasks = func() bool { return faults.On(chaos.Timeout) }
	}
	relay := outbox.New(s, faults.Publisher(engine), c.Outbox, relayEmitter, log)
	agents := fleet.New(s, c.Fleet, emitter)
	certificates := service.NewCertificates()
	certificates.Add("control", c.Access.TLS.NotAfter)
	nodes, err := c.listenForNodes(ctx, agents, certificates)
	if err != nil {
		return err
	}
	defer func() { _ = nodes.Close() }()
	proxies, err := c.Authority.Networks()
	if err != nil {
		return err
	}
	gate, err := access.Open(c.Access, nil)
	if err != nil {
		return err
	}
	tenants := control.New(s, c.Fleet.TokenLife).Offering(c.Catalog)
	ops := service.NewOps()
	ops.Ready("store", s.Ping)
	ops.Registry.MustRegister(append(metrics(s, exporter), certificates)...)

	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Control)
		if err != nil {
			return fmt.Errorf("listen on %s: %w", c.Control, err)
		}
		if l, err = c.Access.TLS.Secure(l); err != nil {
			return err
		}
		return service.ServeOn(ctx, l, rest.NewControl(tenants, recovery.New(s, c.Recovery, c.Fleet.TokenLife), gate, emitter, log), c.Grace)
	})
	work.Go(func() error {
		return service.ServeOn(ctx, nodes, interruptible(ctx, rest.NewNode(agents, emitter, log, proxies...)), c.Grace)
	})
	work.Go(func() error { return service.Serve(ctx, c.Ops, ops.Handler(), c.Grace) })
	work.Go(func() error { return faults.Run(ctx, chaos.Worker, engine.Run) })
	work.Go(func() error { return engine.Watch(ctx) })
	work.Go(func() error {
		return faults.Run(ctx, chaos.Gone, func(ctx context.Context) error { return faults.Run(ctx, chaos.Relay, relay.Run) })
	})
	work.Go(func() error { return relay.Forget(ctx) })
	if faults != nil {
		work.Go(func() error { faults.Expire(ctx); return nil })
		work.Go(func() error { return service.Serve(ctx, c.Faults, faults.Handler(), c.Grace) })
		log.Warn("a lab may make faults here", "faults", c.Faults)
	}
	if exporter.HasReceiver() {
		work.Go(func() error { return shipper.Run(ctx) })
	}
	work.Go(func() error { emitter.Heartbeat(ctx, "", c.Telemetry.Heartbeat); return nil })
	work.Go(func() error {
		relayEmitter.HeartbeatWhile(ctx, "", c.Telemetry.Heartbeat, func(context.Context) bool { return !faults.On(chaos.Gone) })
		return nil
	})
	work.Go(func() error {
		db.HeartbeatWhile(ctx, "", c.Telemetry.Heartbeat, func(ctx context.Context) bool { return s.Ping(ctx) == nil })
		return nil
	})
	log.Info("provisioner started", "control", c.Control, "node", c.Node, "ops", c.Ops, "database", store.Redacted(c.Database))
	err = work.Wait()
	if exporter.HasReceiver() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Grace)
		defer cancel()
		if err := shipper.Drain(last); err != nil { // it stays where it is, for the next start
			log.Warn("the rest of the journal is shipped by the next start", "error", err)
		}
	}
	log.Info("provisioner stopped")
	return err
}
