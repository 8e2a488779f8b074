package lab

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/rest"
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
	lab   *lab
	state *nodeState
	disk  disk

	dark    atomic.Bool // it boots, and nothing on it speaks
	running sync.Mutex  // held while its agent runs
	mu      sync.Mutex
	token   string // its agent may enrol with
	boot    string
	booted  time.Time
	voices  map[string]*voice // of the present boot, by service
}

func newMachine(l *lab, s machineSpec, token string) *machine {
	m := &machine{machineSpec: s, lab: l, state: l.nodes[s.id], token: token}
	m.disk = disk{filepath.Join(l.config.Data, "nodes", s.id), m.state}
	m.startBoot()
	return m
}

// startBoot gives the machine another boot.
func (m *machine) startBoot() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boot, m.booted, m.voices = telemetry.NewID("boot"), time.Now(), map[string]*voice{}
}

func (m *machine) uptime() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Since(m.booted)
}

// said has a service of the machine's say a line in the present boot: kernel, journald.
func (m *machine) said(ctx context.Context, service, text string) {
	m.service(service).Log(ctx, telemetry.Info, text)
}

func (m *machine) service(name string) *voice {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.voices[name]
	if v == nil {
		v = m.voice(name, slog.String(semconv.HostName, m.id), slog.String(semconv.NodeID, m.id), slog.String(semconv.BootID, m.boot))
		m.voices[name] = v
	}
	return v
}

// run is the machine's idle life.
func (m *machine) run(ctx context.Context, heartbeat, idle time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if m.dark.Load() {
				pause(ctx, heartbeat)
				continue
			}
			m.service("node").Event(ctx, semconv.EventHeartbeat, slog.String(semconv.Component, "node"))
			pause(ctx, heartbeat)
		}
	}()
	defer func() { <-done }()
	m.boots(ctx)
	lines := []struct{ from, text string }{
		{"journald", "systemd-timesyncd[612]: Contacted time server 127.0.0.1:123 (lab)."},
		{"journald", "CRON[2210]: (root) CMD (   cd / && run-parts --report /etc/cron.hourly)"},
		{"kernel", "mce: [Hardware Error]: 0 corrected errors since boot"},
		{"journald", "systemd[1]: Finished sysstat-collect.service - system activity accounting tool."},
	}
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(idle):
			if l := lines[i%len(lines)]; !m.dark.Load() {
				m.said(ctx, l.from, l.text)
			}
		}
	}
}

func (m *machine) boots(ctx context.Context) {
	m.said(ctx, "kernel", "Linux version 6.8.0-45-generic (buildd@lcy02) #45-Ubuntu SMP PREEMPT_DYNAMIC")
}

// down ends the agent, does something to the machine meanwhile, and lets it start again.
func (m *machine) down(f func() error) error {
	m.state.change(func(n *nodeState) { n.stopped = true })
	defer m.state.change(func(n *nodeState) { n.stopped = false })
	m.running.Lock()
	defer m.running.Unlock()
	return f()
}

// bootTime is how long a machine takes to come up again, before scaling: longer than any lease.
const bootTime = 6 * time.Second

// crash is a kernel that panics and comes back: its last words are on the console, for the disk takes none.
func (m *machine) crash(ctx context.Context) error {
	return m.down(func() error {
		if err := m.disk.console(fmt.Sprintf("[%12.6f] Kernel panic - not syncing: Fatal exception in interrupt", m.uptime().Seconds())); err != nil {
			return err
		}
		if !m.lab.config.LogFiles { // nobody reads the console's file: what watches it says so
			m.service("kernel").Log(ctx, telemetry.Error, "Kernel panic - not syncing: Fatal exception in interrupt")
		}
		m.dark.Store(true)
		pause(ctx, m.lab.config.scaled(bootTime))
		m.dark.Store(false)
		m.startBoot()
		m.boots(ctx)
		return nil
	})
}

// reboot is a new boot of the same installation: what is on the disk stays.
func (m *machine) reboot(ctx context.Context) error {
	return m.down(func() error {
		m.startBoot()
		m.boots(ctx)
		return nil
	})
}

// reimage wipes the disk, logs and all, and has the machine enrol as another installation, with a new token.
func (m *machine) reimage(ctx context.Context) error {
	return m.down(func() error {
		var t rest.NodeToken
		if _, err := m.lab.control.do(ctx, http.MethodPost, "/v1/nodes", rest.NodeRequest{NodeID: m.id, NodePool: m.pool}, &t, nil); err != nil {
			return fmt.Errorf("reimage %s: %w", m.id, err)
		}
		if err := m.disk.wipe(); err != nil {
			return fmt.Errorf("reimage %s: %w", m.id, err)
		}
		m.mu.Lock()
		m.token = t.Token
		m.mu.Unlock()
		m.startBoot()
		m.boots(ctx)
		return nil
	})
}
