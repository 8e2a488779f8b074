package soak

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/internal/service"
	"github.com/faultline-io/faultline/provisioner"
)

// childConfig names the configuration of a process that is a provisioner instead of itself.
const childConfig = "FAULTLINE_SOAK_PROVISIONER"

// Child makes this process a provisioner, if that is what it was started as, and does not come back then.
// Call it first in main and in TestMain.
func Child() {
	path := os.Getenv(childConfig)
	if path == "" {
		return
	}
	c, err := config.Load(path, provisioner.DefaultConfig())
	if err == nil {
		ctx, stop := service.SignalContext(context.Background())
		err = provisioner.Run(ctx, c, c.Log.NewLogger(os.Stderr, "provisioner"))
		stop()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process is one provisioner that is killed and started again.
type process struct {
	config provisioner.Config
	path   string

	command *exec.Cmd
}

// newProcess writes the configuration of a provisioner on three ports of its own.
func newProcess(dir, name string, c provisioner.Config) (*process, error) {
	for _, address := range []*string{&c.Control, &c.Node, &c.Ops} {
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		*address = l.Addr().String()
		defer func() { _ = l.Close() }()
	}
	text, err := yaml.Marshal(c)
	if err != nil {
		return nil, err
	}
	p := &process{config: c, path: filepath.Join(dir, name+".yaml")}
	return p, os.WriteFile(p.path, text, 0o600)
}

// start starts it and waits until it serves.
func (p *process) start(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(p.path+".log", os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	c := exec.Command(self) //nolint:noctx // it is killed by hand
	c.Env = append(os.Environ(), childConfig+"="+p.path)
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		return err
	}
	p.command = c
	return p.ready(ctx)
}

func (p *process) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.config.Ops+"/readyz", nil)
		if err != nil {
			return err
		}
		if answer, err := http.DefaultClient.Do(q); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		pause(ctx, 5*time.Millisecond)
	}
	text, _ := os.ReadFile(p.path + ".log")
	return errors.Join(fmt.Errorf("not ready: %s", text[max(0, len(text)-2000):]), p.kill())
}

// kill ends it as kill -9 does.
func (p *process) kill() error {
	_ = p.command.Process.Kill()
	_ = p.command.Wait() // its status is that it was killed
	return nil
}

// stop ends it well.
func (p *process) stop() error {
	_ = p.command.Process.Signal(os.Interrupt)
	return p.command.Wait()
}
