package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// ioError is the code of a task that failed because the node's disk takes nothing.
const ioError = "io_error"

// context is that of a task's work: its identifiers, its span.
func (a *Agent) context(ctx context.Context, t rest.Task) context.Context {
	ctx = telemetry.With(ctx, semconv.AllocationID, t.AllocationID, semconv.WorkflowID, t.WorkflowID, semconv.CorrelationID, t.CorrelationID,
		semconv.TaskID, t.TaskID, semconv.ClaimID, t.ClaimID)
	return telemetry.WithSpan(ctx, telemetry.ParseTraceparent(t.Traceparent))
}

// do brings a task from where it is to its end while its claim holds. Its records belong to the task's
// trace. An error is the folder's.
func (a *Agent) do(ctx context.Context, w *claimedWork) error {
	t := w.Task
	ctx, span := a.emitter.Start(a.context(ctx, t), t.Type, telemetry.Consumer, slog.String(semconv.TaskType, t.Type), slog.Int64(semconv.Fence, t.Fence))
	defer span.End()
	if w.Result == nil {
		if w.Done == 0 {
			a.emitter.Log(ctx, telemetry.Info, fmt.Sprintf("task %s claimed, fence %d", t.Type, t.Fence))
		}
		lost := a.steps(ctx, w)
		if ctx.Err() != nil { // the agent is ending, the task goes on later
			return nil
		}
		if lost != nil {
			span.Set(slog.String(semconv.Reason, lost.Error()))
			a.emitter.Log(ctx, telemetry.Info, fmt.Sprintf("task %s stopped: %v", t.Type, lost))
			return a.folder.remove(workFile)
		}
	}
	if !w.Result.OK {
		a.emitter.Log(ctx, telemetry.Error, fmt.Sprintf("task %s: %s", w.Task.Type, w.Result.Message))
	}
	if !a.report(ctx, w) {
		return nil
	}
	return a.folder.remove(workFile)
}

// steps works on a task from its first unfinished step on, and settles its result. lost says why the claim no
// longer counts. A panic of the worker goes through, with nothing left running.
func (a *Agent) steps(ctx context.Context, w *claimedWork) (lost error) {
	held, lose := context.WithCancelCause(ctx)
	renewing := make(chan struct{})
	go func() {
		defer close(renewing)
		a.renewClaim(held, w.Task, lose)
	}()
	defer func() { <-renewing }()
	defer lose(nil)
	for {
		last, failed := a.worker.Step(held, w.Task, w.Done, a.emitter)
		if held.Err() != nil {
			return context.Cause(held)
		}
		if failed == nil {
			w.Done++
		}
		if failed != nil || last {
			w.Result = a.result(w.Task, failed)
		}
		if err := a.folder.put(workFile, w); err != nil && (w.Result == nil || w.Result.OK) {
			w.Result = a.result(w.Task, Failure{ioError, err.Error()})
		}
		if w.Result != nil {
			return nil
		}
	}
}

func (a *Agent) result(t rest.Task, failed error) *rest.ResultRequest {
	r := &rest.ResultRequest{ClaimID: t.ClaimID, Fence: t.Fence, OK: failed == nil}
	var f Failure
	switch {
	case failed == nil:
		r.Observed = a.worker.Observe(t)
	case errors.As(failed, &f):
		r.Code, r.Message = f.Code, f.Message
	default:
		r.Code, r.Message = "agent_error", failed.Error()
	}
	return r
}

// renewClaim keeps the claim until ctx ends; a claim that no longer counts ends the work.
func (a *Agent) renewClaim(ctx context.Context, t rest.Task, lose context.CancelCauseFunc) {
	path := fmt.Sprintf("/internal/v1/nodes/%s/tasks/%s/renew", a.self.NodeID, t.TaskID)
	for {
		if pause(ctx, a.config.Renew); ctx.Err() != nil {
			return
		}
		err := a.request(ctx, "renew", 0, http.MethodPost, path, rest.ClaimRequest{ClaimID: t.ClaimID, Fence: t.Fence}, nil)
		switch {
		case err == nil || ctx.Err() != nil:
		case status(err) == http.StatusConflict:
			lose(errors.New("the claim no longer counts: " + err.Error()))
		default:
			a.emitter.Log(ctx, telemetry.Warn, "renew claim: "+err.Error())
		}
	}
}

// report sends the result until somebody takes it or refuses it; false where the agent ended before.
func (a *Agent) report(ctx context.Context, w *claimedWork) bool {
	path := fmt.Sprintf("/internal/v1/nodes/%s/tasks/%s/result", a.self.NodeID, w.Task.TaskID)
	for ctx.Err() == nil {
		err := a.request(ctx, "result", 0, http.MethodPost, path, w.Result, nil)
		switch {
		case err == nil:
			if w.Result.OK {
				a.emitter.Log(ctx, telemetry.Info, fmt.Sprintf("task %s done", w.Task.Type))
			}
			return true
		case ctx.Err() != nil:
			return false
		case settled(err):
			a.emitter.Log(ctx, telemetry.Warn, "result refused: "+err.Error())
			return true
		}
		a.emitter.Log(ctx, telemetry.Warn, "report result: "+err.Error())
		pause(ctx, a.config.Retry)
	}
	return false
}
