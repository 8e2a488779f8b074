package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/faultline-io/faultline/provisioner/rest"
)

// Files of an agent's folder.
const (
	identityFile = "identity.json"
	workFile     = "work.json"
	lockFile     = "lock"
)

// ErrRunning is the error of a folder whose agent runs already.
var ErrRunning = errors.New("another agent runs on this folder")

// identity is which node instance the agent is. Without an InstanceID it is not enrolled yet.
type identity struct {
	NodeID      string `json:"node_id,omitempty"`
	InstanceID  string `json:"node_instance_id,omitempty"`
	Key         string `json:"key"`                   // PEM
	Certificate string `json:"certificate,omitempty"` // PEM
}

// claimedWork is a claimed task and how far it has come.
type claimedWork struct {
	Task   rest.Task           `json:"task"`
	Done   int                 `json:"done"`             // steps that are finished
	Result *rest.ResultRequest `json:"result,omitempty"` // to be reported; nil while it is worked on
}

// folder keeps them.
type folder struct {
	path  string
	write func(path string, data []byte) error
	lock  *os.File
}

// openFolder takes the folder for this process; the lock goes with the process, however it ends.
func openFolder(path string, write func(string, []byte) error) (*folder, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("open state: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(path, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open state: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("open state %s: %w", path, ErrRunning)
	}
	if write == nil {
		write = Replace
	}
	return &folder{path, write, f}, nil
}

// forget makes the folder that of a node that was never enrolled.
func (f *folder) forget() error { return errors.Join(f.remove(workFile), f.remove(identityFile)) }

func (f *folder) close() error { return f.lock.Close() }

// read fills into from a file; a missing file is false.
func (f *folder) read(name string, into any) (bool, error) {
	text, err := os.ReadFile(filepath.Join(f.path, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return false, fmt.Errorf("read state %s: %w", name, err)
	}
	return true, nil
}

func (f *folder) put(name string, v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		err = f.write(filepath.Join(f.path, name), text)
	}
	if err != nil {
		return fmt.Errorf("write state %s: %w", name, err)
	}
	return nil
}

func (f *folder) remove(name string) error {
	if err := os.Remove(filepath.Join(f.path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove state %s: %w", name, err)
	}
	return nil
}

// Replace writes a file aside, syncs it and puts it into place, so that a kill or a loss of power leaves
// the old one or the new one.
func Replace(path string, data []byte) error {
	f, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
