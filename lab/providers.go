package lab

import (
	"context"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/internal/service"
	"github.com/faultline-io/faultline/lab/aapsim"
	"github.com/faultline-io/faultline/lab/edasim"
	"github.com/faultline-io/faultline/lab/hubsim"
	"github.com/faultline-io/faultline/provisioner"
	"github.com/faultline-io/faultline/provisioner/provider"
	"github.com/faultline-io/faultline/provisioner/provider/aap"
	"github.com/faultline-io/faultline/provisioner/provider/eda"
)

// Pools that providers serve.
const (
	poolAAP = "virt"
	poolEDA = "virt-eda"
)

// Tokens of the simulated providers: anyone may read them here.
const (
	tokenHub = "lab-hub"
	tokenAAP = "lab-aap"
	tokenEDA = "lab-eda"
)

// Pace of providers, before scaling.
const (
	playbookTime = 3 * time.Second
	statusPoll   = 2 * time.Second
)

// providers is how the provisioner reaches the lab's providers: over plain HTTP, as it starts before the
// lab has made its certificates.
func (c Config) providers() provisioner.Providers {
	hub := provider.Endpoint{URL: "http://" + c.Hub, Token: tokenHub, Timeout: 10 * time.Second}
	a, e := aap.DefaultConfig(), eda.DefaultConfig()
	a.Instance, a.Hub, a.Poll = "lab", hub, c.scaled(statusPoll)
	a.API.URL, a.API.Token = "http://"+c.AAP+"/api/controller", tokenAAP
	e.Instance, e.Hub, e.Watch, e.Settle = "lab", hub, c.scaled(time.Second), c.scaled(10*time.Second)
	e.Webhook.URL, e.Webhook.Token = "http://"+c.EDA, tokenEDA
	return provisioner.Providers{
		AAP: []provisioner.Served[aap.Config]{{Pools: []string{poolAAP}, Config: a}}, EDA: []provisioner.Served[eda.Config]{{Pools: []string{poolEDA}, Config: e}},
	}
}

// serveProviders starts a hub, an automation controller and a rulebook activation. done ends their
// playbooks.
func (l *lab) serveProviders(ctx context.Context, work *errgroup.Group) (done func()) {
	takes := func(string, bool) time.Duration { return l.config.scaled(playbookTime) }
	at := &l.listeners
	at.hub, at.aap, at.eda = newToggleListener(l.sockets.hub), newToggleListener(l.sockets.aap), newToggleListener(l.sockets.eda)
	hub := hubsim.New(tokenHub)
	controller := aapsim.New(aapsim.Config{Instance: "lab", Token: tokenAAP, Takes: takes}, hub, l.source(ctx, work, "aap", at.aap))
	activation := edasim.New(edasim.Config{Instance: "lab", Token: tokenEDA, Takes: takes}, hub, l.source(ctx, work, "eda", at.eda))
	l.hub, l.aap, l.eda = hub, controller, activation
	for _, p := range []struct {
		listener net.Listener
		handler  http.Handler
	}{{at.hub, hub.Handler()}, {at.aap, controller.Handler()}, {at.eda, activation.Handler()}} {
		work.Go(func() error { return service.ServeOn(ctx, p.listener, p.handler, grace) })
	}
	return func() {
		controller.Close()
		activation.Close()
	}
}
