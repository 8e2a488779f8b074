// Package edasim is a rulebook activation with a webhook, as ansible.eda.webhook behaves: a POST to any
// path is queued and answered with 200 and the path; rules decide later, and what no rule matches is
// lost. An activation that stops drops what it was about to do and says so in its own log only.
package edasim

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab/hubsim"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Config says how an activation behaves.
type Config struct {
	Instance       string // name in provider_job
	Token          string
	Create, Delete string        // paths that rules match; empty: the operator's
	Queue          time.Duration // from the webhook's yes to the playbook's first task
	Takes          func(resource string, deletes bool) time.Duration
}

// Activation is safe for use by several goroutines. Close it: its playbooks run in the background.
type Activation struct {
	config  Config
	hub     *hubsim.Hub
	emitter *telemetry.Emitter
	ctx     context.Context
	stop    context.CancelFunc
	work    sync.WaitGroup

	mu      sync.Mutex
	fault   Fault
	matched map[string]int
	lost    int
}

// Fault is a way in which the activation fails.
type Fault string

// Faults.
const (
	None      Fault = ""
	Stopped   Fault = "stopped"    // events are accepted, actions are dropped
	LostReply Fault = "lost_reply" // the event is queued, and the connection breaks before the answer
	WrongPort Fault = "wrong_port" // another service answers: 405
	Down      Fault = "server_error"
)

// New makes an activation; says speaks for it, nil: silent.
func New(c Config, h *hubsim.Hub, emitter *telemetry.Emitter) *Activation {
	if c.Create == "" {
		c.Create, c.Delete = "/create-compute-instance", "/delete-compute-instance"
	}
	if c.Takes == nil {
		c.Takes = func(string, bool) time.Duration { return time.Millisecond }
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Activation{config: c, hub: h, emitter: emitter, ctx: ctx, stop: stop, matched: map[string]int{}}
}

// Close ends all playbooks and waits for them.
func (a *Activation) Close() {
	a.stop()
	a.work.Wait()
}

// Break has the activation fail from now on; None heals it.
func (a *Activation) Break(f Fault) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fault = f
}

// Matched counts the events that a rule has matched, for a resource.
func (a *Activation) Matched(resource string, deletes bool) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.matched[fmt.Sprint(resource, deletes)]
}

// Unmatched counts the events that no rule has matched.
func (a *Activation) Unmatched() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.lost
}

// Handler is the webhook.
func (a *Activation) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		fault := a.fault
		a.mu.Unlock()
		switch {
		case fault == WrongPort || r.Method != http.MethodPost:
			http.Error(w, "405: Method Not Allowed", http.StatusMethodNotAllowed)
			return
		case fault == Down:
			http.Error(w, "500 Internal Server Error", http.StatusInternalServerError)
			return
		case a.config.Token != "" && r.Header.Get("Authorization") != "Bearer "+a.config.Token:
			http.Error(w, "Invalid authorization token", http.StatusUnauthorized)
			return
		}
		var event struct {
			Metadata struct{ Name string }
		}
		if json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&event) != nil {
			http.Error(w, "Invalid JSON payload", http.StatusBadRequest)
			return
		}
		a.match(telemetry.Carry(telemetry.Extract(r.Context(), r.Header)), r.URL.Path, event.Metadata.Name, fault == Stopped)
		if fault == LostReply {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte(r.URL.Path))
	})
}

// match is the rulebook.
func (a *Activation) match(from telemetry.Carrier, path, resource string, stopped bool) {
	ctx := from.Resume(context.Background())
	deletes := path == a.config.Delete
	switch {
	case stopped:
		a.emitter.Log(ctx, telemetry.Info, "ansible_rulebook.engine: activation is shutting down, waiting actions are canceled")
		return
	case !deletes && path != a.config.Create:
		a.mu.Lock()
		a.lost++
		a.mu.Unlock()
		a.emitter.Log(ctx, telemetry.Debug, "ansible_rulebook.engine: event with endpoint "+path+" matched no rule")
		return
	}
	a.mu.Lock()
	a.matched[fmt.Sprint(resource, deletes)]++
	a.mu.Unlock()
	a.work.Go(func() { a.run(ctx, resource, deletes) })
}

// run is the action of the rule that matched.
func (a *Activation) run(ctx context.Context, resource string, deletes bool) {
	name := "create-compute-instance"
	if deletes {
		name = "delete-compute-instance"
	}
	t := time.NewTimer(a.config.Queue)
	defer t.Stop()
	select {
	case <-a.ctx.Done():
		return
	case <-t.C:
	}
	job := slog.String(semconv.ProviderJob, "eda/"+a.config.Instance+"/webhook/eda-webhook/"+telemetry.ID(ctx, semconv.AllocationID))
	a.emitter.Log(ctx, telemetry.Info, "ansible_rulebook.action: run_job_template "+name+" started", job)
	var err error
	if takes := a.config.Takes(resource, deletes); deletes {
		err = a.hub.Delete(a.ctx, resource, takes)
	} else {
		err = a.hub.Create(a.ctx, resource, takes)
	}
	if err != nil {
		a.emitter.Log(ctx, telemetry.Error, "ansible_rulebook.action: run_job_template "+name+" failed: "+err.Error(), job)
		return
	}
	a.emitter.Log(ctx, telemetry.Info, "ansible_rulebook.action: run_job_template "+name+" successful", job)
}
