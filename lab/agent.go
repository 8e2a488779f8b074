package lab

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/faultline-io/faultline/provisioner/agent"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/telemetry"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// runAgent is the node's service manager, as far as the node agent is concerned: it starts the agent, and
// starts it again when it ends by itself.
func (n *node) runAgent(ctx context.Context) {
	if err := n.disk.format(); err != nil {
		n.lab.log.Error("node has no disk", "node_id", n.id, "error", err)
		return
	}
	n.state.whileRuns(ctx, func(ctx context.Context) {
		n.running.Lock()
		defer n.running.Unlock()
		if n.agentStops { // killed: no last word, and nobody starts it again
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, n.lab.config.scaled(3*time.Second))
			defer cancel()
		}
		for ctx.Err() == nil {
			err := n.live(ctx)
			if ctx.Err() != nil {
				return
			}
			n.said(ctx, "journald", "systemd[1]: node-agent.service: Main process exited, code=exited, status=2/INVALIDARGUMENT")
			n.said(ctx, "journald", "systemd[1]: node-agent.service: Failed with result 'exit-code'.")
			n.lab.log.Warn("node agent ended", "node_id", n.id, "error", err)
			pause(ctx, n.lab.config.scaled(2*time.Second))
		}
	})
}

// How an agent asks again: after a while that doubles up to longestRetry times agentRetry, and each time for agentTime.
const (
	agentRetry   = time.Second // before scaling
	longestRetry = 8
	agentTime    = 10 * time.Second
)

// live is one life of the agent. A panic ends it as it would end its process.
func (n *node) live(ctx context.Context) (err error) {
	defer func() {
		if died := recover(); died != nil {
			err = fmt.Errorf("panic: %v", died)
			n.service("journald").Log(ctx, telemetry.Error, fmt.Sprintf("node-agent[%d]: panic: %v", 1000+rand.IntN(9000), died)) //nolint:gosec // a process id
		}
	}()
	c := n.lab.config
	n.mu.Lock()
	token, boot := n.token, n.boot
	n.mu.Unlock()
	a, err := agent.New(agent.Config{
		URL: n.lab.front(), Roots: n.lab.pki.ca.pool(), Name: n.id, Folder: n.disk.agent(), Token: token, BootID: boot,
		Poll: c.scaled(5 * time.Second), Retry: c.scaled(agentRetry), Renew: c.scaled(time.Second), Heartbeat: c.Telemetry.Heartbeat,
		Timeout: agentTime,
	}, agent.Host{
		Now: n.state.now, Dial: n.state.dial, Write: n.disk.write, Certificate: n.presents,
		NewEmitter: func(identity ...slog.Attr) agent.Emitter { return n.logger("node-agent", identity...) },
	}, taskWork{n})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// presents is the certificate that the node's TLS shows: its own, unless a bad one lies in its place.
func (n *node) presents(own *tls.Certificate) *tls.Certificate {
	if own == nil {
		return nil
	}
	if bad := n.lab.pki.nodes[n.id]; bad != nil {
		own = bad
	}
	return n.state.certificate(own)
}

// taskWork is what the agent does to its node for a task.
type taskWork struct{ node *node }

// Step plays one act of a task: the one at an index.
func (w taskWork) Step(ctx context.Context, t rest.Task, at int, emitter agent.Emitter) (last bool, err error) {
	n, acts := w.node, works()[t.Type]
	if at >= len(acts) {
		return true, nil
	}
	pace := 1.1 + 0.7*rand.Float64() //nolint:gosec // no two nodes are equally fast
	if t.Type == workflow.TaskProvision {
		pace *= float64(n.lab.slowness(t.AllocationID))
	}
	if pause(ctx, time.Duration(pace*float64(n.lab.config.scaled(acts[at].after)))); ctx.Err() != nil {
		return false, ctx.Err()
	}
	n.state.mayPanic()
	switch who := acts[at].who; who {
	case "kernel", "journald":
		n.said(context.Background(), who, acts[at].text)
	default:
		emitter.Log(ctx, telemetry.Info, acts[at].text)
	}
	return at == len(acts)-1, nil
}

// Observe is what the agent sees at the end of a task.
func (w taskWork) Observe(t rest.Task) string { return observed(t.Type) }

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
