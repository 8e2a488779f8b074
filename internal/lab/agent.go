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

// runAgent is the machine's service manager, as far as the node agent is concerned: it starts the agent, and
// starts it again when it ends by itself.
func (m *machine) runAgent(ctx context.Context) {
	if err := m.disk.format(); err != nil {
		m.lab.log.Error("machine has no disk", "node_id", m.id, "error", err)
		return
	}
	m.state.whileRuns(ctx, func(ctx context.Context) {
		m.running.Lock()
		defer m.running.Unlock()
		if m.agentStops { // killed: no last word, and nobody starts it again
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, m.lab.config.scaled(3*time.Second))
			defer cancel()
		}
		for ctx.Err() == nil {
			err := m.live(ctx)
			if ctx.Err() != nil {
				return
			}
			m.said(ctx, "journald", "systemd[1]: node-agent.service: Main process exited, code=exited, status=2/INVALIDARGUMENT")
			m.said(ctx, "journald", "systemd[1]: node-agent.service: Failed with result 'exit-code'.")
			m.lab.log.Warn("node agent ended", "node_id", m.id, "error", err)
			pause(ctx, m.lab.config.scaled(2*time.Second))
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
func (m *machine) live(ctx context.Context) (err error) {
	defer func() {
		if died := recover(); died != nil {
			err = fmt.Errorf("panic: %v", died)
			m.service("journald").Log(ctx, telemetry.Error, fmt.Sprintf("node-agent[%d]: panic: %v", 1000+rand.IntN(9000), died)) //nolint:gosec // a process id
		}
	}()
	c := m.lab.config
	m.mu.Lock()
	token, boot := m.token, m.boot
	m.mu.Unlock()
	a, err := agent.New(agent.Config{
		URL: m.lab.front(), Roots: m.lab.pki.ca.pool(), Name: m.id, Folder: m.disk.agent(), Token: token, BootID: boot,
		Poll: c.scaled(5 * time.Second), Retry: c.scaled(agentRetry), Renew: c.scaled(time.Second), Heartbeat: c.Telemetry.Heartbeat,
		Timeout: agentTime,
	}, agent.Machine{
		Now: m.state.now, Dial: m.state.dial, Write: m.disk.write, Certificate: m.presents,
		Says: func(identity ...slog.Attr) agent.Voice { return m.voice("node-agent", identity...) },
	}, hands{m})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// presents is the certificate that the machine's TLS shows: its own, unless a bad one lies in its place.
func (m *machine) presents(own *tls.Certificate) *tls.Certificate {
	if own == nil {
		return nil
	}
	if bad := m.lab.pki.nodes[m.id]; bad != nil {
		own = bad
	}
	return m.state.certificate(own)
}

// hands is what the agent does to its machine.
type hands struct{ machine *machine }

// Step plays one act of a task.
func (h hands) Step(ctx context.Context, t rest.Task, n int, says agent.Voice) (last bool, err error) {
	m := h.machine
	acts := works()[t.Type]
	if n >= len(acts) {
		return true, nil
	}
	pace := 1.1 + 0.7*rand.Float64() //nolint:gosec // no two machines are equally fast
	if t.Type == workflow.TaskProvision {
		pace *= float64(m.lab.slowness(t.AllocationID))
	}
	if pause(ctx, time.Duration(pace*float64(m.lab.config.scaled(acts[n].after)))); ctx.Err() != nil {
		return false, ctx.Err()
	}
	m.state.mayPanic()
	switch who := acts[n].who; who {
	case "kernel", "journald":
		m.said(context.Background(), who, acts[n].text)
	default:
		says.Log(ctx, telemetry.Info, acts[n].text)
	}
	return n == len(acts)-1, nil
}

// Observe is what the agent sees at the end of a task.
func (h hands) Observe(t rest.Task) string { return observed(t.Type) }

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
