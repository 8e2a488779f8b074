package lab

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/faultline-io/faultline/provisioner/agent"
)

// disk is a node's: a folder tree of its own, of which a reimage leaves nothing.
//
//	nodes/node-01/state/  what the agent remembers
//	nodes/node-01/log/    agent.log, journal.json, console.log
type disk struct {
	root  string
	state *nodeState
}

func (d disk) agent() string { return filepath.Join(d.root, "state", "agent") }
func (d disk) log() string   { return filepath.Join(d.root, "log") }

// format makes the tree, which is empty on a new node.
func (d disk) format() error {
	for _, dir := range []string{d.agent(), d.log()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("format disk: %w", err)
		}
	}
	return nil
}

// wipe is what a reimage does before it writes an image.
func (d disk) wipe() error {
	if err := errors.Join(os.RemoveAll(filepath.Join(d.root, "state")), os.RemoveAll(d.log())); err != nil {
		return fmt.Errorf("wipe disk: %w", err)
	}
	return d.format()
}

// write replaces a file, unless the disk is full.
func (d disk) write(path string, data []byte) error {
	if err := d.state.write(string(data)); err != nil {
		return err
	}
	return agent.Replace(path, data)
}
