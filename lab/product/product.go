package product

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/addon"
	"github.com/faultline-io/faultline/internal/supervise"
)

// Config says how a product is.
type Config struct {
	Dir     string    // folder of its data and of what it says
	Profile string    // file; empty: the default profile
	Alerts  bool      // run Prometheus and Alertmanager, too, where they are installed
	Notes   io.Writer // takes a line when it is up, when a part of it dies, and where its end goes wrong
}

// Product is one that runs.
type Product struct {
	Server           Server // its correlator
	TokenFile        string // holds the token for it
	OTLP             string // base URL of its OTLP/HTTP receiver
	CollectorMetrics string // URL of the Collector's own metrics
	Prometheus       string // base URLs, where it was started with them
	Alertmanager     string

	stop  context.CancelFunc
	done  chan error
	notes io.Writer
}

// Start brings up store, Collector and correlator, and whoever alerts. They run until Stop, or until ctx ends.
func Start(ctx context.Context, c Config) (*Product, error) {
	program, ok, err := addon.Beside("faultline")
	if err == nil && !ok {
		err = errors.New("faultline is not beside this program: build all programs with make build")
	}
	if err != nil {
		return nil, err
	}
	if c.Dir, err = filepath.Abs(c.Dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	free, err := FreeAddresses(ctx, 8)
	if err != nil {
		return nil, err
	}
	alerts := map[string]any{"prometheus": "", "alertmanager": ""}
	if c.Alerts {
		alerts = map[string]any{"prometheus": free[6], "alertmanager": free[7]}
	}
	file := filepath.Join(c.Dir, "up.yaml")
	if err := write(file, map[string]any{
		"data_dir": c.Dir, "profile": c.Profile, "store": free[0], "otlp": map[string]string{"grpc": free[1], "http": free[2]},
		"collector_health": free[3], "collector_metrics": free[4], "correlator": free[5], "alerts": alerts,
	}); err != nil {
		return nil, err
	}
	p := &Product{
		Server: Server("http://" + free[5]), TokenFile: filepath.Join(c.Dir, "access", "token"), OTLP: "http://" + free[2], CollectorMetrics: "http://" + free[4] + "/metrics",
		done: make(chan error, 1), notes: c.Notes,
	}
	if c.Alerts {
		p.Prometheus, p.Alertmanager = "http://"+free[6], "http://"+free[7]
	}
	// The correlator is the last part that comes up. The first run on a computer fetches the store's engine before.
	up := supervise.Part{
		Name: "faultline up", Command: []string{program, "up", "--no-lab", "--config", file}, Log: filepath.Join(c.Dir, "up.log"),
		Ready: string(p.Server) + "/readyz", Patience: 10 * time.Minute, Grace: time.Minute,
	}
	ctx, p.stop = context.WithCancel(ctx)
	ready := make(chan struct{})
	go func() { p.done <- supervise.Run(ctx, []supervise.Part{up}, c.Notes, func() { close(ready) }) }()
	select {
	case <-ready:
		return p, nil
	case err := <-p.done:
		p.stop()
		if err == nil {
			err = ctx.Err()
		}
		return nil, err
	}
}

// Stop ends the product and waits for it.
func (p *Product) Stop() {
	p.stop()
	if err := <-p.done; err != nil && !errors.Is(err, context.Canceled) {
		_, _ = fmt.Fprintln(p.notes, "faultline up:", err)
	}
}

func write(path string, content any) error {
	text, err := yaml.Marshal(content)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}

// FreeAddresses are n loopback addresses that were free a moment ago, no two the same.
func FreeAddresses(ctx context.Context, n int) (all []string, err error) {
	for range n {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }() // at the end of all
		all = append(all, l.Addr().String())
	}
	return all, nil
}
