package score

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/faultline-io/faultline/lab"
	"github.com/faultline-io/faultline/lab/product"
	"github.com/faultline-io/faultline/provisioner"
)

// Cell is a whole platform in this process: a provisioner and a lab on free ports, whose nodes carry its name.
type Cell struct {
	Remote *lab.Remote
	Files  []string // that its telemetry goes to
	stop   context.CancelFunc
	done   chan error
}

// CellConfig says how a cell is.
type CellConfig struct {
	Name      string
	Dir       string
	Endpoint  string // OTLP/HTTP receiver of its telemetry as well; empty: none
	Scale     float64
	Stories   []string
	Providers bool
	Log       *slog.Logger
}

// Start brings a cell up; it lives until it is closed.
func Start(ctx context.Context, c CellConfig) (*Cell, error) {
	platform := lab.DefaultConfig()
	platform.Name, platform.Data, platform.Scale, platform.Stories, platform.Providers = c.Name, c.Dir, c.Scale, c.Stories, c.Providers
	// Five nodes are in use on the average: one that a fault takes away leaves nobody waiting.
	platform.Nodes, platform.Open, platform.Every = 7, 8, 3*time.Second
	platform.Export = filepath.Join(c.Dir, "lab.jsonl")
	platform.Telemetry.Endpoint = c.Endpoint
	free, err := product.FreeAddresses(ctx, 11)
	if err != nil {
		return nil, err
	}
	platform.Ingress, platform.API, platform.Auth, platform.DeadAPI = free[0], free[1], free[2], free[3]
	platform.Hub, platform.AAP, platform.EDA, platform.ProvisionerFaults = free[4], free[5], free[6], free[7]
	controller := lab.ProvisionerConfig(platform)
	controller.Control, controller.Node, controller.Ops = free[8], free[9], free[10]
	controller.Grace = 2 * time.Second
	controller.Telemetry.Endpoint, controller.Telemetry.File = c.Endpoint, filepath.Join(c.Dir, "provisioner.jsonl")
	platform.Provisioner, platform.NodeAPI = "http://"+controller.Control, controller.Node
	if err := errors.Join(platform.Validate(), controller.Validate()); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	cell := &Cell{stop: stop, done: make(chan error, 2), Files: []string{platform.Export, controller.Telemetry.File}}
	go func() {
		err := provisioner.Run(ctx, controller, c.Log)
		stop()
		cell.done <- err
	}()
	go func() {
		err := lab.Run(ctx, platform, c.Log)
		stop()
		cell.done <- err
	}()
	for {
		if cell.Remote, err = lab.Dial(c.Dir); err == nil {
			return cell, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("start %s: %w", c.Name, errors.Join(<-cell.done, <-cell.done, ctx.Err()))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// Close ends the cell and waits for it.
func (c *Cell) Close() error {
	c.Remote.Close()
	c.stop()
	return errors.Join(<-c.done, <-c.done)
}
