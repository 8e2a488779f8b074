package lab

import (
	"context"
	"net/http"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

const operatorName = "operator-kim"

// repairAfter is how long a failed node waits for its operator.
const repairAfter = 4 * time.Second

// operator looks after nodes whose allocation has failed: after a moment, each is given back by
// hand, so that the story can be told again. And after allocations that were left behind. Looking makes
// no telemetry; what is done does.
func (l *lab) operator(ctx context.Context, left []string) {
	owed := map[string]time.Time{} // node → when its repair is due
	for ctx.Err() == nil {
		var nodes []rest.Node
		if _, err := l.control.do(ctx, http.MethodGet, "/v1/nodes", nil, &nodes, nil); err == nil {
			l.repair(ctx, nodes, owed)
		}
		left = l.reclaim(ctx, append(left, l.orphaned()...))
		pause(ctx, l.config.scaled(time.Second))
	}
}

func (l *lab) repair(ctx context.Context, nodes []rest.Node, owed map[string]time.Time) {
	for _, n := range nodes {
		if n.Occupancy != lifecycle.Cleanup && n.Occupancy != lifecycle.Fenced || n.AllocationID == "" || !l.hasFailed(ctx, n.AllocationID) {
			delete(owed, n.NodeID)
			continue
		}
		due, known := owed[n.NodeID]
		if !known {
			owed[n.NodeID] = time.Now().Add(l.config.scaled(repairAfter))
			continue
		}
		if time.Now().Before(due) {
			continue
		}
		action := telemetry.With(ctx, semconv.CorrelationID, telemetry.NewID("c"))
		_, err := l.control.do(action, http.MethodPost, "/v1/nodes/"+n.NodeID+"/repair", rest.RepairRequest{
			Actor: operatorName, Reason: "checked on the console, disk is empty", RuntimeVerifiedAbsent: true, Evidence: "console:" + n.NodeID,
		}, nil, nil)
		if err != nil && ctx.Err() == nil {
			l.log.Warn("repair node", "node_id", n.NodeID, "error", err)
		}
		delete(owed, n.NodeID)
	}
}

func (l *lab) hasFailed(ctx context.Context, allocation string) bool {
	var a rest.Allocation
	_, err := l.control.do(ctx, http.MethodGet, "/v1/allocations/"+allocation, nil, &a, nil)
	return err == nil && (a.State == semconv.Failed || a.State == semconv.ReleaseFailed)
}
