package lab_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/lab"
)

// A reboot, a killed agent and a kernel that panics keep the node instance; a reimage leaves nothing of it.
func TestBootsAndNodeInstances(t *testing.T) {
	t.Parallel()
	s := newStage(t, 0.2)
	s.lab.Nodes, s.lab.Stories = 1, []string{"healthy"}
	started := make(chan *lab.Nodes, 1)
	lab.OnStart(&s.lab, func(m *lab.Nodes) { started <- m })
	stop := s.run(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- lab.Run(ctx, s.lab, s.log) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		stop()
	}()
	running := <-started
	const node = "node-01"
	// lives are the node instance and boot of each start of the agent, as the ingress and the provisioner hear of them.
	lives := func() (instances, boots map[string]bool) {
		instances, boots = map[string]bool{}, map[string]bool{}
		for _, r := range s.records(t) {
			if r.Service == "node-agent" && get(r, semconv.NodeID) == node && get(r, semconv.NodeInstanceID) != "" {
				instances[get(r, semconv.NodeInstanceID)], boots[get(r, semconv.BootID)] = true, true
			}
		}
		return instances, boots
	}
	want := func(instances, boots int) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d node instances in %d boots", instances, boots), func() error {
			if i, b := lives(); len(i) != instances || len(b) != boots {
				return fmt.Errorf("%d in %d", len(i), len(b))
			}
			return nil
		})
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want(1, 1)
	must(running.Kill(node))
	must(running.Reboot(ctx, node))
	want(1, 2)
	must(running.Crash(ctx, node))
	want(1, 3)
	eventually(t, "the boots are told as bindings", func() error {
		n := 0
		for _, r := range s.records(t) {
			if r.Name == semconv.EventBinding && get(r, semconv.SubjectKind) == "boot" && get(r, semconv.NodeID) == node {
				n++
			}
		}
		if n != 2 {
			return fmt.Errorf("%d", n)
		}
		return nil
	})
	var marks []string
	for _, dir := range []string{"state/agent", "log"} {
		mark := filepath.Join(s.lab.Data, "nodes", node, dir, "mark")
		must(os.WriteFile(mark, nil, 0o600))
		marks = append(marks, mark)
	}
	must(running.Reimage(ctx, node))
	for _, mark := range marks {
		if _, err := os.Stat(mark); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s survived: %v", mark, err)
		}
	}
	want(2, 4)
	eventually(t, "the first one is superseded", func() error {
		if !anyOf(s.records(t), func(r *record.Record) bool {
			return r.Name == semconv.EventNodeInstance && get(r, semconv.NodeID) == node && get(r, semconv.To) == semconv.Superseded
		}) {
			return errors.New("nobody says so")
		}
		return nil
	})
}
