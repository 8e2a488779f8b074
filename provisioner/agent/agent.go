package agent

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// Agent is one process on one node.
type Agent struct {
	config     Config
	emitter    Emitter
	newEmitter func(...slog.Attr) Emitter
	worker     Worker
	write      func(string, []byte) error
	clock      *clock
	client     *client
	folder     *folder
	self       identity
	cert       atomic.Pointer[tls.Certificate]
}

// New makes an agent that has not started.
func New(c Config, m Host, w Worker) (*Agent, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if m.NewEmitter == nil {
		m.NewEmitter = func(...slog.Attr) Emitter { return (*telemetry.Emitter)(nil) }
	}
	a := &Agent{config: c, newEmitter: m.NewEmitter, worker: w, write: m.Write, clock: newClock(m.Now)}
	a.emitter = a.currentEmitter()
	present := a.cert.Load
	if m.Certificate != nil {
		present = func() *tls.Certificate { return m.Certificate(a.cert.Load()) }
	}
	a.client = newClient(c, m, a.clock, present)
	return a, nil
}

// currentEmitter has what is known of the agent in its resource.
func (a *Agent) currentEmitter() Emitter {
	attrs := []slog.Attr{slog.String(semconv.HostName, a.config.Name), slog.String(semconv.NodeID, a.config.Name), slog.String(semconv.BootID, a.config.BootID)}
	if a.self.InstanceID != "" {
		attrs[1] = slog.String(semconv.NodeID, a.self.NodeID)
		attrs = append(attrs, slog.String(semconv.NodeInstanceID, a.self.InstanceID))
	}
	return a.newEmitter(attrs...)
}

// Run is the agent's life. It ends with ctx, then without an error, or when its folder cannot be read. An agent
// that cannot write down what it does must not do it: the task fails and says why.
func (a *Agent) Run(ctx context.Context) (err error) {
	if a.folder, err = openFolder(a.config.Folder, a.write); err != nil {
		return err
	}
	defer func() { _ = a.folder.close() }()
	defer a.client.transport.CloseIdleConnections()
	if err := a.identify(ctx); err != nil || a.self.InstanceID == "" {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	defer beside.Wait()
	defer stop()
	beside.Go(func() { a.emitter.Heartbeat(ctx, "", a.config.Heartbeat) })
	beside.Go(func() { a.heartbeats(ctx) })
	beside.Go(func() { a.renewals(ctx) })
	return a.serve(ctx)
}

// serve claims tasks and does them, one at a time, first the one that an earlier run left.
func (a *Agent) serve(ctx context.Context) error {
	var w claimedWork
	left, err := a.folder.read(workFile, &w)
	if err != nil {
		return err
	}
	if left {
		a.emitter.Log(a.context(ctx, w.Task), telemetry.Info, fmt.Sprintf("task %s goes on after %d finished steps, fence %d", w.Task.Type, w.Done, w.Task.Fence))
	}
	for wait := a.config.Retry; ctx.Err() == nil; {
		if !left {
			t, err := a.claim(ctx)
			if err != nil {
				pause(ctx, wait)
				wait = min(2*wait, 8*a.config.Retry)
				continue
			}
			if wait = a.config.Retry; t.TaskID == "" {
				continue
			}
			w = claimedWork{Task: t}
			if err := a.folder.put(workFile, w); err != nil {
				w.Result = a.result(t, Failure{ioError, err.Error()})
			}
		}
		left = false
		if err := a.do(ctx, &w); err != nil {
			return err
		}
	}
	return nil
}

// claim asks for a task; the zero task is none. The poll's trace is nobody's: it begins before there is a
// task, maybe while the node still is another allocation's. A claim whose answer was lost is given again.
func (a *Agent) claim(ctx context.Context) (t rest.Task, err error) {
	path := fmt.Sprintf("/internal/v1/nodes/%s/tasks/wait?resume=true&timeout=%s", a.self.NodeID, a.config.Poll)
	err = a.request(ctx, "claim", a.config.Poll, http.MethodGet, path, nil, &t)
	if err != nil && ctx.Err() == nil {
		a.emitter.Log(ctx, telemetry.Error, "claim task: "+err.Error(), slog.String(semconv.ErrorType, "claim"))
	}
	return t, err
}

// request is one call with a span and a request id of its own.
func (a *Agent) request(ctx context.Context, name string, longer time.Duration, method, path string, in, out any) error {
	opCtx, span := a.emitter.Start(telemetry.With(ctx, semconv.RequestID, telemetry.NewID("r")), name, telemetry.Client)
	defer span.End()
	opCtx, cancel := context.WithTimeout(opCtx, a.config.Timeout+longer)
	defer cancel()
	err := a.client.call(opCtx, method, path, in, out)
	if ctx.Err() == nil && status(err) != http.StatusConflict {
		span.Fail(err, name)
	}
	return err
}

// heartbeats tell the node API that the agent is there, and in which boot of its node.
func (a *Agent) heartbeats(ctx context.Context) {
	warned := ""
	for ctx.Err() == nil {
		path := "/internal/v1/nodes/" + a.self.NodeID + "/heartbeat"
		callCtx, cancel := context.WithTimeout(telemetry.Detached(ctx), a.config.Timeout)
		err := a.client.call(callCtx, http.MethodPost, path, rest.HeartbeatRequest{BootID: a.config.BootID}, nil)
		cancel()
		if err != nil && ctx.Err() == nil {
			// Nobody's record, as the claim's is: what keeps it from reporting an old task keeps it from the next one's.
			a.emitter.Log(ctx, telemetry.Warn, "heartbeat: "+err.Error())
		}
		if said := a.clock.apart(); err == nil && said != "" && warned == "" {
			a.emitter.Log(ctx, telemetry.Warn, "clock: "+said)
			warned = said
		} else if err == nil && said == "" {
			warned = ""
		}
		pause(ctx, a.config.Heartbeat)
	}
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
