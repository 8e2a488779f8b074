package matrix

import (
	"context"
	"fmt"

	"github.com/faultline-io/faultline/lab"
)

// Rig is a platform that runs, with the product beside it, and what interrupts either.
type Rig struct {
	Folder string // of all: the processes' command lines name it
	Remote *lab.Remote
	Gate   *Gate
}

// part interrupts one of the lab's.
func (r *Rig) part(part, how string) (end func() error, err error) {
	err = r.Remote.Interrupt(context.Background(), lab.Interruption{Part: part, How: how})
	return func() error { return r.Remote.Resume(context.Background()) }, err
}

// fault makes one of the lab's faults.
func (r *Rig) fault(name string) (end func() error, err error) {
	_, err = r.Remote.Inject(context.Background(), lab.Order{Name: name})
	return func() error { return r.Remote.Heal(context.Background(), name) }, err
}

// silence keeps back what a layer says.
func (r *Rig) silence(layer string) (end func() error, err error) {
	r.Gate.Silence(layer)
	return func() error { r.Gate.Silence(""); return nil }, nil
}

// process interrupts a process.
func (r *Rig) process(name, how string) (end func() error, err error) {
	up := func() int { return find("up", r.Folder+"/up/up.yaml") }
	pid, ok := map[string]func() int{
		"provisioner": func() int { return find("faultline-provisioner", r.Folder) },
		"store":       func() int { return child(up(), "store.yaml") },
		"collector":   func() int { return child(up(), "faultline-collector") },
		"correlator":  func() int { return child(up(), "faultline-correlator") },
	}[name]
	if !ok {
		return nil, fmt.Errorf("no process is called %q", name)
	}
	end, err = interrupt(how, pid)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", how, name, err)
	}
	return end, nil
}
