package lab

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// agent is the process on a machine that enrols, claims tasks and does them, one at a time.
type agent struct {
	machine  *machine
	open     hop // without a client certificate: enrolment
	own      hop // with the machine's certificate
	says     *telemetry.Source
	instance string
	lab      *lab
	state    *nodeState
}

// newAgent gives an agent its two ways to the ingress. It presents its certificate whatever issuers
// the server asks for: an agent that kept it back would only ever be told that it has none.
func newAgent(l *lab, m *machine) *agent {
	cert, state := l.pki.nodes[m.id], l.nodes[m.id]
	own := l.transport()
	own.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return state.certificate(&cert), nil
	}
	own.TLSClientConfig.Time, own.DialContext = state.now, state.dial
	l.keep(own)
	open := l.transport()
	open.TLSClientConfig.Time, open.DialContext = state.now, state.dial
	l.keep(open)
	base := l.front()
	return &agent{
		machine: m, lab: l, state: state,
		open: hop{&http.Client{Transport: open, Timeout: 10 * time.Second}, base},
		own:  hop{&http.Client{Transport: own, Timeout: 40 * time.Second}, base},
	}
}

// run is the agent's life: each time that it is started, it goes on as whoever it enrolled as.
func (a *agent) run(ctx context.Context, token string) {
	a.state.whileRuns(ctx, func(ctx context.Context) {
		if a.instance == "" && !a.enrol(ctx, token) {
			return
		}
		a.live(ctx)
	})
}

// live claims and does tasks until somebody kills the agent.
func (a *agent) live(ctx context.Context) {
	if a.machine.agentStops { // killed: no last word, and no heartbeat
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, a.lab.config.scaled(3*time.Second))
		defer cancel()
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.says.Beat(ctx, "", a.lab.config.Telemetry.Heartbeat)
	}()
	defer func() { <-done }()
	for wait := time.Second; ctx.Err() == nil; {
		task, err := a.claim(ctx)
		if err != nil {
			pause(ctx, a.lab.config.scaled(wait))
			wait = min(2*wait, 2*time.Second)
			continue
		}
		if wait = time.Second; task.TaskID != "" {
			a.do(ctx, task)
		}
	}
}

func (a *agent) enrol(ctx context.Context, token string) bool {
	m := a.machine
	resource := []slog.Attr{slog.String(semconv.HostName, m.id), slog.String(semconv.NodeID, m.id), slog.String(semconv.BootID, m.boot)}
	says := a.lab.emitter.Source("node-agent", resource...)
	for ctx.Err() == nil {
		opCtx, span := says.Start(ctx, "enrol", telemetry.Client)
		var e rest.Enrolled
		_, err := a.open.do(opCtx, http.MethodPost, "/internal/v1/nodes/enroll", rest.EnrolRequest{Token: token, BootID: m.boot, HostName: m.id}, &e, nil)
		if err == nil {
			a.instance = e.NodeInstanceID
			a.says = a.lab.emitter.Source("node-agent", append(resource, slog.String(semconv.NodeInstanceID, a.instance))...)
			a.says.Log(opCtx, telemetry.Info, "enrolled as "+a.instance)
			span.End()
			return true
		}
		span.Fail(err, "enrol")
		span.End()
		if ctx.Err() == nil {
			says.Log(opCtx, telemetry.Error, "enrol: "+err.Error())
		}
		pause(ctx, a.lab.config.scaled(time.Second))
	}
	return false
}

func (a *agent) header() http.Header { return http.Header{rest.HeaderInstance: {a.instance}} }

// claim asks for a task; the zero task is none. The poll's trace is nobody's: it begins before there is a
// task, maybe while the node still is another allocation's.
func (a *agent) claim(ctx context.Context) (task rest.Task, err error) {
	opCtx, span := a.says.Start(telemetry.With(ctx, semconv.RequestID, telemetry.NewID("r")), "claim", telemetry.Client)
	defer span.End()
	path := fmt.Sprintf("/internal/v1/nodes/%s/tasks/wait?timeout=%s", a.machine.id, a.lab.config.scaled(5*time.Second))
	if _, err = a.own.do(opCtx, http.MethodGet, path, nil, &task, a.header()); err != nil {
		if ctx.Err() == nil {
			span.Fail(err, "claim")
			a.says.Log(opCtx, telemetry.Error, "claim task: "+err.Error(), slog.String(semconv.ErrorType, "claim"))
		}
		return task, err
	}
	return task, nil
}

// do works on a task while its claim holds. Its records belong to the task's trace.
func (a *agent) do(ctx context.Context, t rest.Task) {
	ctx = telemetry.With(ctx, semconv.AllocationID, t.AllocationID, semconv.WorkflowID, t.WorkflowID, semconv.CorrelationID, t.CorrelationID,
		semconv.TaskID, t.TaskID, semconv.ClaimID, t.ClaimID)
	ctx = telemetry.WithSpan(ctx, telemetry.ParseTraceparent(t.Traceparent))
	ctx, span := a.says.Start(ctx, t.Type, telemetry.Consumer, slog.String(semconv.TaskType, t.Type), slog.Int64(semconv.Fence, t.Fence))
	defer span.End()
	held, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	renewing := make(chan struct{})
	go func() {
		defer close(renewing)
		a.renew(held, t, lose)
	}()
	a.says.Log(ctx, telemetry.Info, fmt.Sprintf("task %s claimed, fence %d", t.Type, t.Fence))
	failure := a.perform(held, t)
	cause := context.Cause(held)
	lose(nil)
	<-renewing
	if ctx.Err() != nil { // the agent is ending: the claim will be lost
		return
	}
	if cause != nil {
		span.Set(slog.String(semconv.Reason, cause.Error()))
		a.says.Log(ctx, telemetry.Info, fmt.Sprintf("task %s stopped: %v", t.Type, cause))
		return
	}
	a.report(ctx, t, failure)
}

// perform plays the task's acts. The error is one of the machine's.
func (a *agent) perform(ctx context.Context, t rest.Task) error {
	pace := 1.1 + 0.7*rand.Float64() //nolint:gosec // no two machines are equally fast
	if t.Type == workflow.TaskProvision {
		pace *= float64(a.lab.slowness(t.AllocationID))
	}
	for _, step := range works()[t.Type] {
		if pause(ctx, time.Duration(pace*float64(a.lab.config.scaled(step.after)))); ctx.Err() != nil {
			return nil
		}
		if err := a.state.write(step.text); err != nil {
			a.says.Log(ctx, telemetry.Error, fmt.Sprintf("task %s: %v", t.Type, err))
			return err
		}
		switch step.who {
		case "kernel":
			a.machine.kernel.Log(context.Background(), telemetry.Info, step.text)
		case "journald":
			a.machine.journald.Log(context.Background(), telemetry.Info, step.text)
		default:
			a.says.Log(ctx, telemetry.Info, step.text)
		}
	}
	return nil
}

// renew keeps the claim until ctx ends; a claim that no longer counts ends the work.
func (a *agent) renew(ctx context.Context, t rest.Task, lose context.CancelCauseFunc) {
	path := fmt.Sprintf("/internal/v1/nodes/%s/tasks/%s/renew", a.machine.id, t.TaskID)
	for {
		if pause(ctx, a.lab.config.scaled(time.Second)); ctx.Err() != nil {
			return
		}
		opCtx, span := a.says.Start(telemetry.With(ctx, semconv.RequestID, telemetry.NewID("r")), "renew", telemetry.Client)
		_, err := a.own.do(opCtx, http.MethodPost, path, rest.ClaimRequest{ClaimID: t.ClaimID, Fence: t.Fence}, nil, a.header())
		if err != nil && ctx.Err() == nil {
			if statusOf(err) == http.StatusConflict {
				lose(errors.New("the claim no longer counts: " + err.Error()))
			} else {
				span.Fail(err, "renew")
				a.says.Log(opCtx, telemetry.Warn, "renew claim: "+err.Error())
			}
		}
		span.End()
	}
}

// report sends the result until somebody takes it or refuses it.
func (a *agent) report(ctx context.Context, t rest.Task, failure error) {
	path := fmt.Sprintf("/internal/v1/nodes/%s/tasks/%s/result", a.machine.id, t.TaskID)
	result := rest.ResultRequest{ClaimID: t.ClaimID, Fence: t.Fence, OK: true, Observed: observed(t.Type)}
	if failure != nil {
		result.OK, result.Observed, result.Code, result.Message = false, "", "io_error", failure.Error()
	}
	for ctx.Err() == nil {
		opCtx, span := a.says.Start(telemetry.With(ctx, semconv.RequestID, telemetry.NewID("r")), "result", telemetry.Client)
		_, err := a.own.do(opCtx, http.MethodPost, path, result, nil, a.header())
		span.Fail(err, "result")
		span.End()
		switch status := statusOf(err); {
		case err == nil:
			if failure == nil {
				a.says.Log(ctx, telemetry.Info, fmt.Sprintf("task %s done", t.Type))
			}
			return
		case ctx.Err() != nil:
			return
		case status >= 400 && status < 500:
			a.says.Log(opCtx, telemetry.Warn, "result refused: "+err.Error())
			return
		}
		a.says.Log(opCtx, telemetry.Warn, "report result: "+err.Error())
		pause(ctx, a.lab.config.scaled(500*time.Millisecond))
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
