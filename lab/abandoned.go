package lab

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

// abandoned lists what clients of an earlier run hold or wait for. Their processes are gone, nobody
// else would give it back, and before long no node would be free. What waits for a node that
// can't work ends by itself.
func (l *lab) abandoned(ctx context.Context) (ids []string, err error) {
	for after := ""; ; {
		var page rest.Allocations
		if _, err := l.control.do(ctx, http.MethodGet, "/v1/allocations?live=true&limit=500&after="+after, nil, &page, nil); err != nil {
			return nil, fmt.Errorf("list allocations: %w", err)
		}
		for _, a := range page.Allocations {
			if a.NodePool == poolGeneral && slices.ContainsFunc(stories(), func(s story) bool { return s.subject == a.RequestedBy }) {
				ids = append(ids, a.AllocationID)
			}
		}
		if after = page.Next; after == "" {
			return ids, nil
		}
	}
}

// leave hands an allocation to the operator whose client has given up on it: nobody else would give it back, and
// whoever comes next would wait for its node.
func (l *lab) leave(ctx context.Context, id, end string) {
	switch end {
	case semconv.Released, semconv.Canceled, semconv.Failed, semconv.ReleaseFailed:
		return
	}
	pause(ctx, l.config.scaled(2*repairAfter))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left = append(l.left, id)
}

// orphaned are those left since it was last asked.
func (l *lab) orphaned() (ids []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	ids, l.left = l.left, nil
	return ids
}

// reclaim ends abandoned allocations, and returns those that have to be looked at again.
func (l *lab) reclaim(ctx context.Context, ids []string) (left []string) {
	for _, id := range ids {
		var a rest.Allocation
		if status, err := l.control.do(ctx, http.MethodGet, "/v1/allocations/"+id, nil, &a, nil); err != nil {
			if status != http.StatusNotFound {
				left = append(left, id)
			}
			continue
		}
		var verb string
		switch a.State {
		case semconv.Active, semconv.Degraded:
			verb = "/release"
		case semconv.Requested, semconv.Reserved, semconv.Provisioning:
			verb = "/cancel"
		default:
			continue
		}
		action := telemetry.With(ctx, semconv.CorrelationID, telemetry.NewID("c"))
		_, err := l.control.do(action, http.MethodPost, "/v1/allocations/"+id+verb,
			rest.ActionRequest{Actor: operatorName, ActorType: "admin", Reason: "its client is gone"}, nil, nil)
		if err != nil { // it moved meanwhile, or nobody answers
			left = append(left, id)
		}
	}
	return left
}
