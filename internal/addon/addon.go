package addon

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Product is what an add-on is told.
type Product struct {
	Config      string      `json:"config"` // file of the configuration of `faultline up`; empty: none. An add-on has a section of its own in it
	Data        string      `json:"data"`   // folder of the run, absolute
	OTLP        string      `json:"otlp"`   // base URL of the Collector's OTLP/HTTP receiver
	Correlator  string      `json:"correlator"`
	Token       string      `json:"token"` // file that holds the token for the correlator; empty: it wants none
	Provisioner Provisioner `json:"provisioner"`
}

// Provisioner has the addresses on which a provisioner of this run listens.
type Provisioner struct {
	Control string `json:"control"`
	Node    string `json:"node"`
	Ops     string `json:"ops"`
}

// Plan is what an add-on answers.
type Plan struct {
	Processes []Process         `json:"processes"` // in the order in which they start, after the product
	Addresses map[string]string `json:"addresses"` // host:port that must be free, by the YAML key that sets it
	NodeLogs  string            `json:"node_logs"` // folder with log files of nodes, for an agent Collector of the product to read; empty: none
}

// Process is one that `faultline up` runs for an add-on.
type Process struct {
	Name    string   `json:"name"` // of its log file as well
	Command []string `json:"command"`
	Env     []string `json:"env,omitempty"`    // on top of the product's own, KEY=value
	Ready   string   `json:"ready,omitempty"`  // URL that answers 200 when it is ready; empty: it is ready at once
	Finite  bool     `json:"finite,omitempty"` // it may end by itself
}

// patience is how long an add-on may take for its plan.
const patience = 30 * time.Second

// Ask runs an add-on and reads its plan. Where the add-on fails, the error is what it wrote on standard error.
func (p Product) Ask(ctx context.Context, program string, arguments ...string) (Plan, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	told, err := json.Marshal(p)
	if err != nil {
		return Plan{}, err
	}
	var said, answer bytes.Buffer
	c := exec.CommandContext(ctx, program, arguments...) //nolint:gosec // a program of ours, beside this one
	c.Stdin, c.Stdout, c.Stderr = bytes.NewReader(told), &answer, &said
	if err := c.Run(); err != nil {
		if words := strings.TrimSpace(said.String()); words != "" {
			return Plan{}, errors.New(words)
		}
		return Plan{}, fmt.Errorf("ask %s what to run: %w", filepath.Base(program), err)
	}
	var plan Plan
	if err := json.Unmarshal(answer.Bytes(), &plan); err != nil {
		return Plan{}, fmt.Errorf("read the plan of %s: %w", filepath.Base(program), err)
	}
	return plan, nil
}

// Answer is the add-on's half: it reads the product from in and writes the plan to out.
func Answer(in io.Reader, out io.Writer, plan func(Product) (Plan, error)) error {
	var p Product
	if err := json.NewDecoder(in).Decode(&p); err != nil {
		return fmt.Errorf("read what faultline up tells on standard input: %w", err)
	}
	answer, err := plan(p)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(answer)
}

// Beside gives the path of a program that lies in the folder of the running one. ok is false where it does not lie there.
func Beside(name string) (path string, ok bool, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", false, fmt.Errorf("find this program: %w", err)
	}
	path = filepath.Join(filepath.Dir(self), name)
	_, err = os.Stat(path)
	return path, err == nil, nil
}
