package soak

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/rest"
)

// Pools that providers serve.
const (
	poolAAP = "virt"
	poolEDA = "event"
)

// tenant wants one allocation after another.
type tenant struct {
	caller
	name     string
	first    int // kind of its first allocation
	ended    map[string]int
	provided map[string][]string // by pool
}

// live goes on until enough, and sees its last allocation to its end.
func (t *tenant) live(ctx, enough context.Context) error {
	for i := 0; enough.Err() == nil; i++ {
		id, pool := fmt.Sprintf("a-%s-%04d", t.name, i), "p"
		switch (t.first + i) % 4 {
		case 2:
			pool = poolAAP
		case 3:
			pool = poolEDA
		}
		t.provided[pool] = append(t.provided[pool], id)
		state, err := t.one(ctx, id, pool, i%5 == 4)
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		t.ended[state]++
	}
	return nil
}

// one is the whole life of an allocation; hasty cancels it at some moment of its provisioning.
func (t *tenant) one(ctx context.Context, id, pool string, hasty bool) (state string, err error) {
	var a rest.Allocation
	defer func() {
		if cause := context.Cause(ctx); err != nil && cause != nil {
			err = fmt.Errorf("%w: %w, last seen %s for %s", cause, err, a.State, time.Since(a.Since).Round(time.Second))
		}
	}()
	want := rest.AllocationRequest{AllocationID: id, NodePool: pool, Image: "ocp_virt_vm", RequestedBy: "alice"}
	if _, err := t.insist(ctx, http.MethodPost, "/v1/allocations", want, nil); err != nil {
		return "", err
	}
	if hasty {
		pause(ctx, 150*time.Millisecond)
		_, _ = t.insist(ctx, http.MethodPost, "/v1/allocations/"+id+"/cancel", rest.ActionRequest{Actor: "alice"}, nil) // refused once it is active
	}
	for ctx.Err() == nil {
		if _, err := t.insist(ctx, http.MethodGet, "/v1/allocations/"+id, nil, &a); err != nil {
			return "", err
		}
		switch a.State {
		case semconv.Released, semconv.Canceled, semconv.Failed, semconv.ReleaseFailed:
			return a.State, nil
		case semconv.Active:
			if _, err := t.insist(ctx, http.MethodPost, "/v1/allocations/"+id+"/release", rest.ActionRequest{Actor: "alice"}, nil); err != nil {
				return "", err
			}
		}
		pause(ctx, 30*time.Millisecond)
	}
	return "", ctx.Err()
}
