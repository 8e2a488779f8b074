package lab

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/telemetry"
)

type certKind uint8

const (
	certGood certKind = iota
	certExpired
	certUntrusted
)

// Pools of machines. Names say nothing about what is wrong with them.
const (
	poolGeneral = "general"
	poolBatch   = "batch"
	poolEdge    = "edge"
	poolArchive = "archive"
)

// machineSpec is what is true of a machine.
type machineSpec struct {
	id, pool   string
	cert       certKind
	agentStops bool // its agent dies without a word some seconds after it has enrolled
}

// inventory is n healthy machines, and one for each story that needs a bad one.
func inventory(n int) []machineSpec {
	var out []machineSpec
	add := func(pool string, cert certKind, stops bool) {
		out = append(out, machineSpec{fmt.Sprintf("node-%02d", len(out)+1), pool, cert, stops})
	}
	for range n {
		add(poolGeneral, certGood, false)
	}
	add(poolBatch, certExpired, false)
	add(poolEdge, certUntrusted, false)
	add(poolArchive, certGood, true)
	return out
}

// machine is the hardware and its system: it speaks whether or not an agent runs on it. It knows its
// name and its boot, and nothing of allocations.
type machine struct {
	machineSpec
	boot                   string
	kernel, journald, node *telemetry.Source
}

func newMachine(s machineSpec, e *telemetry.Emitter) *machine {
	m := &machine{machineSpec: s, boot: telemetry.NewID("boot")}
	resource := []slog.Attr{slog.String(semconv.HostName, s.id), slog.String(semconv.NodeID, s.id), slog.String(semconv.BootID, m.boot)}
	m.kernel, m.journald, m.node = e.Source("kernel", resource...), e.Source("journald", resource...), e.Source("node", resource...)
	return m
}

// run is the machine's idle life.
func (m *machine) run(ctx context.Context, heartbeat, idle time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.node.Beat(ctx, "node", heartbeat)
	}()
	defer func() { <-done }()
	m.kernel.Log(ctx, telemetry.Info, "Linux version 6.8.0-45-generic (buildd@lcy02) #45-Ubuntu SMP PREEMPT_DYNAMIC")
	lines := []struct {
		from *telemetry.Source
		text string
	}{
		{m.journald, "systemd-timesyncd[612]: Contacted time server 127.0.0.1:123 (lab)."},
		{m.journald, "CRON[2210]: (root) CMD (   cd / && run-parts --report /etc/cron.hourly)"},
		{m.kernel, "mce: [Hardware Error]: 0 corrected errors since boot"},
		{m.journald, "systemd[1]: Finished sysstat-collect.service - system activity accounting tool."},
	}
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(idle):
			l := lines[i%len(lines)]
			l.from.Log(ctx, telemetry.Info, l.text)
		}
	}
}
