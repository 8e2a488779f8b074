package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/faultline-io/faultline/provisioner/agent"
	"github.com/faultline-io/faultline/provisioner/rest"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// stepLog is a worker that writes down what it does: a line when a step begins, and a file, which can be made
// once only, when it is done.
type stepLog struct {
	dir   string
	steps int
	takes time.Duration
}

func (d stepLog) Step(ctx context.Context, t rest.Task, n int, _ agent.Emitter) (last bool, err error) {
	if err := d.note(fmt.Sprintf("%s %d", t.TaskID, n)); err != nil {
		return false, err
	}
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(d.takes):
	}
	f, err := os.OpenFile(filepath.Join(d.dir, fmt.Sprintf("%s-%d", t.TaskID, n)), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist): // it was done, and the agent died before it knew
	case err != nil:
		return false, err
	default:
		_ = f.Close()
	}
	return n == d.steps-1, nil
}

func (d stepLog) note(line string) error {
	f, err := os.OpenFile(filepath.Join(d.dir, "steps"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	_, err = f.WriteString(line + "\n")
	return err
}

// begun counts how often each step was begun.
func (d stepLog) begun() map[string]int {
	out := map[string]int{}
	text, _ := os.ReadFile(filepath.Join(d.dir, "steps"))
	for line := range strings.Lines(string(text)) {
		out[strings.TrimSpace(line)]++
	}
	return out
}

func (stepLog) Observe(t rest.Task) string {
	switch t.Type {
	case workflow.TaskProvision:
		return workflow.ObservedRunning
	case workflow.TaskWipe:
		return workflow.ObservedAbsent
	}
	return ""
}
