package lab

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/telemetry"

	"log/slog"
)

func crashFaults() []Fault {
	return []Fault{
		{
			Name: "agent_panic", Layer: "node_agent", Mechanism: "crash", Expected: expectAttributed, ShowsIn: []string{"node_agent", "node", "workflow"}, meets: byNode,
			Description: "the agent of one node has a bug that ends it in the middle of a task",
			inject: func(l *lab, t target) (func() error, error) {
				return l.onNodes(t, func(_ string, n *nodeState) (func() error, error) {
					n.change(func(n *nodeState) { n.panics = true })
					return n.undo(func(n *nodeState) { n.panics = false }), nil
				})
			},
		},
		{
			Name: "node_panic", Layer: "node", Mechanism: "kernel", Expected: expectAttributed, ShowsIn: []string{"node", "workflow"}, meets: byNode,
			Description: "the kernel of one node panics whenever there is work, and the node boots again",
			inject:      atWork(func(ctx context.Context, _ *lab, n *node) error { return n.crash(ctx) }),
		},
		{
			Name: "node_reimage", Layer: "provider", Mechanism: "reimage", Expected: expectAttributed, ShowsIn: []string{"provider", "node_agent", "workflow"}, meets: byNode,
			Description: "the provider of nodes redeploys one in the middle of its work, and nobody has asked it to",
			inject: atWork(func(ctx context.Context, l *lab, n *node) error {
				maas := l.exporter.Emitter("maas", slog.String(semconv.NodeID, n.id))
				maas.Log(ctx, telemetry.Info, "node "+n.id+": status changed from Deployed to Deploying by policy auto-redeploy, power cycle requested")
				return n.reimage(ctx)
			}),
		},
	}
}

// atWork does something to a node each time that it has had an allocation for a moment.
func atWork(do func(context.Context, *lab, *node) error) func(*lab, target) (func() error, error) {
	return func(l *lab, t target) (func() error, error) {
		ctx, stop := context.WithCancel(context.Background())
		var work sync.WaitGroup
		for _, id := range t.nodes {
			work.Go(func() {
				for ctx.Err() == nil {
					if l.works(id) {
						if err := do(ctx, l, l.nodes[id]); err != nil && ctx.Err() == nil {
							l.log.Error("inject", "node_id", id, "error", err)
						}
						pause(ctx, l.config.scaled(time.Second))
					}
					pause(ctx, l.config.scaled(200*time.Millisecond))
				}
			})
		}
		return func() error { stop(); work.Wait(); return nil }, nil
	}
}

// works tells whether a node is being provisioned, as the tenants' clients have seen.
func (l *lab) works(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.open(), func(v *life) bool { return v.node == id && v.activeAt.IsZero() })
}

// open lists the lives that go on.
func (l *lab) open() (all []*life) {
	for _, v := range l.lives {
		if v.ended.IsZero() {
			all = append(all, v)
		}
	}
	return all
}

func (l *lab) opens() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open())
}
