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

// Pools of nodes. Names say nothing about what is wrong with them.
const (
	poolGeneral = "general"
	poolBatch   = "batch"
	poolEdge    = "edge"
	poolArchive = "archive"
)

// nodeSpec is what is true of a node.
type nodeSpec struct {
	id, pool   string
	cert       certKind
	agentStops bool // its agent dies without a word some seconds after it has enrolled
}

// inventory is n healthy nodes, and one for each story that needs a bad one.
func inventory(n int) []nodeSpec {
	var out []nodeSpec
	add := func(pool string, cert certKind, stops bool) {
		out = append(out, nodeSpec{fmt.Sprintf("node-%02d", len(out)+1), pool, cert, stops})
	}
	for range n {
		add(poolGeneral, certGood, false)
	}
	add(poolBatch, certExpired, false)
	add(poolEdge, certUntrusted, false)
	add(poolArchive, certGood, true)
	return out
}

// node is the hardware and its system: it speaks whether or not an agent runs on it. It knows its
// name and its boot, and nothing of allocations.
type node struct {
	nodeSpec
	lab   *lab
	state *nodeState
	disk  disk

	dark    atomic.Bool // it boots, and nothing on it speaks
	running sync.Mutex  // held while its agent runs
	mu      sync.Mutex
	token   string // its agent may enrol with
	boot    string
	booted  time.Time
	loggers map[string]*serviceLogger // of the present boot, by service
}

func newNode(l *lab, s nodeSpec, token string) *node {
	n := &node{nodeSpec: s, lab: l, state: l.states[s.id], token: token}
	n.disk = disk{filepath.Join(l.config.Data, "nodes", s.id), n.state}
	n.startBoot()
	return n
}

// startBoot gives the node another boot.
func (n *node) startBoot() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.boot, n.booted, n.loggers = telemetry.NewID("boot"), time.Now(), map[string]*serviceLogger{}
}

func (n *node) uptime() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Since(n.booted)
}

// said has a service of the node's say a line in the present boot: kernel, journald.
func (n *node) said(ctx context.Context, service, text string) {
	n.service(service).Log(ctx, telemetry.Info, text)
}

func (n *node) service(name string) *serviceLogger {
	n.mu.Lock()
	defer n.mu.Unlock()
	v := n.loggers[name]
	if v == nil {
		v = n.logger(name, slog.String(semconv.HostName, n.id), slog.String(semconv.NodeID, n.id), slog.String(semconv.BootID, n.boot))
		n.loggers[name] = v
	}
	return v
}

// run is the node's idle life.
func (n *node) run(ctx context.Context, heartbeat, idle time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			if n.dark.Load() {
				pause(ctx, heartbeat)
				continue
			}
			n.service("node").Event(ctx, semconv.EventHeartbeat, slog.String(semconv.Component, "node"))
			pause(ctx, heartbeat)
		}
	}()
	defer func() { <-done }()
	n.boots(ctx)
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
			if l := lines[i%len(lines)]; !n.dark.Load() {
				n.said(ctx, l.from, l.text)
			}
		}
	}
}

func (n *node) boots(ctx context.Context) {
	n.said(ctx, "kernel", "Linux version 6.8.0-45-generic (buildd@lcy02) #45-Ubuntu SMP PREEMPT_DYNAMIC")
}

// down ends the agent, does something to the node meanwhile, and lets it start again.
func (n *node) down(f func() error) error {
	n.state.change(func(n *nodeState) { n.stopped = true })
	defer n.state.change(func(n *nodeState) { n.stopped = false })
	n.running.Lock()
	defer n.running.Unlock()
	return f()
}

// bootTime is how long a node takes to come up again, before scaling: longer than any lease.
const bootTime = 6 * time.Second

// crash is a kernel that panics and comes back: its last words are on the console, for the disk takes none.
func (n *node) crash(ctx context.Context) error {
	return n.down(func() error {
		if err := n.disk.console(fmt.Sprintf("[%12.6f] Kernel panic - not syncing: Fatal exception in interrupt", n.uptime().Seconds())); err != nil {
			return err
		}
		if !n.lab.config.LogFiles { // nobody reads the console's file: what watches it says so
			n.service("kernel").Log(ctx, telemetry.Error, "Kernel panic - not syncing: Fatal exception in interrupt")
		}
		n.dark.Store(true)
		pause(ctx, n.lab.config.scaled(bootTime))
		n.dark.Store(false)
		n.startBoot()
		n.boots(ctx)
		return nil
	})
}

// reboot is a new boot of the same node instance: what is on the disk stays.
func (n *node) reboot(ctx context.Context) error {
	return n.down(func() error {
		n.startBoot()
		n.boots(ctx)
		return nil
	})
}

// reimage wipes the disk, logs and all, and has the node enrol as another node instance, with a new token.
func (n *node) reimage(ctx context.Context) error {
	return n.down(func() error {
		var t rest.NodeToken
		if _, err := n.lab.control.do(ctx, http.MethodPost, "/v1/nodes", rest.NodeRequest{NodeID: n.id, NodePool: n.pool}, &t, nil); err != nil {
			return fmt.Errorf("reimage %s: %w", n.id, err)
		}
		if err := n.disk.wipe(); err != nil {
			return fmt.Errorf("reimage %s: %w", n.id, err)
		}
		n.mu.Lock()
		n.token = t.Token
		n.mu.Unlock()
		n.startBoot()
		n.boots(ctx)
		return nil
	})
}
