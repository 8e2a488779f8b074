package lab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab/hubsim"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// client is a tenant's command line: one allocation from the wish to its end.
type client struct {
	lab     *lab
	hop     hop
	emitter *telemetry.Emitter
	st      story
	id      string
}

// errOver is how waiting ends when the allocation has come to an end that wasn't hoped for.
var errOver = errors.New("allocation is over")

// live plays the story and tells how it ended: the allocation's last state, or the status with which a
// request was refused, "0" for no answer.
func (c *client) live(ctx context.Context) string {
	ctx = telemetry.With(ctx, semconv.AllocationID, c.id)
	asked := telemetry.With(ctx, semconv.CorrelationID, telemetry.NewID("c"))
	c.emitter.Log(asked, telemetry.Info, fmt.Sprintf("requesting %s from pool %s in region %s", c.id, c.st.pool, c.st.region))
	if err := c.create(asked); err != nil {
		return end(rest.Allocation{}, err)
	}
	if c.st.cancel {
		return end(c.cancel(ctx, asked))
	}
	a, err := c.await(asked, semconv.Active)
	if err != nil {
		return end(a, err)
	}
	c.emitter.Log(asked, telemetry.Info, fmt.Sprintf("%s is active on %s after %s", c.id, a.NodeID, a.Since.Sub(a.CreatedAt).Round(time.Millisecond)))
	pause(ctx, c.lab.config.scaled(useFor))
	c.lab.know(c.id, func(v *life) { v.givenUp = time.Now() })
	release := telemetry.With(ctx, semconv.CorrelationID, telemetry.NewID("c"))
	if err := c.insist(release, "release", c.path("/release"), rest.ActionRequest{Actor: c.st.subject, Reason: "done"}); err != nil {
		return end(a, err)
	}
	if a, err = c.await(release, semconv.Released); err == nil {
		c.emitter.Log(release, telemetry.Info, c.id+" is released")
	}
	return end(a, err)
}

func end(a rest.Allocation, err error) string {
	if err == nil || errors.Is(err, errOver) {
		return a.State
	}
	return strconv.Itoa(statusOf(err))
}

// create asks for the allocation.
func (c *client) create(ctx context.Context) error {
	image := nodeImage
	switch {
	case c.st.image != "":
		image = c.st.image
	case c.st.served:
		image = hubsim.Well
	}
	return c.insist(ctx, "create", "/"+c.st.region+"/api/v1/allocations",
		rest.AllocationRequest{AllocationID: c.id, NodePool: c.st.pool, Image: image, RequestedBy: c.st.subject})
}

// insist asks until it is told yes or no, or has asked often enough.
func (c *client) insist(ctx context.Context, verb, path string, in any) error {
	var err error
	for n := 1; n <= tries && ctx.Err() == nil; n++ {
		var status int
		if status, err = c.call(ctx, verb, http.MethodPost, path, in, nil); err == nil || status >= 400 && status < 500 {
			break
		}
		pause(ctx, c.lab.config.scaled(retryWait))
	}
	if err != nil && ctx.Err() == nil {
		c.emitter.Log(ctx, telemetry.Error, fmt.Sprintf("%s %s: gave up: %v", verb, c.id, err), slog.Int(semconv.HTTPStatusCode, statusOf(err)),
			slog.String(semconv.ErrorType, "gave_up"))
	}
	return err
}

// cancel waits until work has begun, and a moment longer, and takes the wish back.
func (c *client) cancel(ctx, asked context.Context) (a rest.Allocation, err error) {
	if a, err = c.await(asked, semconv.Provisioning); err != nil {
		return a, err
	}
	pause(ctx, c.lab.config.scaled(cancelWait))
	again := telemetry.With(ctx, semconv.CorrelationID, telemetry.NewID("c"))
	c.emitter.Log(again, telemetry.Info, "user cancels "+c.id)
	if err := c.insist(again, "cancel", c.path("/cancel"), rest.ActionRequest{Actor: c.st.subject, Reason: "no longer needed"}); err != nil {
		return a, err
	}
	if a, err = c.await(again, semconv.Canceled); err == nil {
		c.emitter.Log(again, telemetry.Info, c.id+" is canceled")
	}
	return a, err
}

// await asks for the state until it is the one that is wanted, or one after which it never will be.
func (c *client) await(ctx context.Context, want string) (a rest.Allocation, err error) {
	for {
		if pause(ctx, c.lab.config.scaled(pollEvery)); ctx.Err() != nil {
			return a, ctx.Err()
		}
		if status, err := c.call(ctx, "get", http.MethodGet, c.path(""), nil, &a); err != nil {
			if status >= 400 && status < 500 {
				return a, err
			}
			continue // told; tried again
		}
		c.lab.seen(a)
		switch a.State {
		case want:
			return a, nil
		case semconv.Failed, semconv.ReleaseFailed, semconv.Released, semconv.Canceled:
			c.emitter.Log(ctx, telemetry.Error, fmt.Sprintf("%s is %s: %s", c.id, a.State, a.Reason), slog.String(semconv.ErrorType, a.State))
			return a, errOver
		}
	}
}

// call is one request: a span of its own trace, and a line where it failed.
func (c *client) call(ctx context.Context, verb, method, path string, in, out any) (status int, err error) {
	ctx = telemetry.With(telemetry.Untraced(ctx), semconv.RequestID, telemetry.NewID("r"))
	ctx, span := c.emitter.Start(ctx, verb+" allocation", telemetry.Client, append(c.hop.server(), slog.String(semconv.HTTPRequestMethod, method), slog.String(semconv.URLPath, path))...)
	defer span.End()
	status, err = c.hop.do(ctx, method, path, in, out, http.Header{"Authorization": {"Bearer " + c.st.token}})
	if status != 0 {
		span.Set(slog.Int(semconv.HTTPStatusCode, status))
	}
	if err != nil && ctx.Err() == nil {
		c.lab.requestFailed(c.id)
		span.Fail(err, "request")
		attrs := []slog.Attr{slog.String(semconv.ErrorType, "request"), slog.String(semconv.URLPath, path)}
		if status != 0 {
			attrs = append(attrs, slog.Int(semconv.HTTPStatusCode, status))
		}
		c.emitter.Log(ctx, telemetry.Error, fmt.Sprintf("%s %s: %v", verb, c.id, err), attrs...)
	}
	return status, err
}

func (c *client) path(action string) string {
	return "/" + c.st.region + "/api/v1/allocations/" + c.id + action
}
