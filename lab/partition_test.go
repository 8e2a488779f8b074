package lab_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/faultline-io/faultline/internal/record"
	"github.com/faultline-io/faultline/lab"
	"github.com/faultline-io/faultline/lab/namespace"
)

// A partition is what it says, with a network of the node's own or by a proxy, ends when it is healed, and leaves
// no interface behind.
func TestPartition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ network, way, words string }{
		{"namespace", "network namespace (interface " + namespace.Prefix, "connection timed out"},
		{"proxy", "proxy", "i/o timeout"},
	} {
		t.Run(c.network, func(t *testing.T) {
			t.Parallel()
			if c.network == "namespace" {
				own, err := namespace.Open()
				if err != nil {
					t.Skipf("SKIPPED, nothing is tested: %v", err)
				}
				_ = own.Close()
			}
			way := partition(t, c.network, c.words)
			if !strings.HasPrefix(way, c.way) {
				t.Errorf("made by %q, want %q", way, c.way)
			}
			all, err := net.Interfaces()
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range all {
				if strings.Contains(way, i.Name+" ") {
					t.Errorf("the lab is gone, and %s is there", i.Name)
				}
			}
		})
	}
}

// partition makes one, waits until the agent says so in these words, heals it, and waits until work goes on.
func partition(t *testing.T, network, words string) (way string) {
	t.Helper()
	s := newStage(t, 0.2)
	s.lab.Nodes, s.lab.Stories, s.lab.Network = 1, []string{"healthy"}, network
	stop := s.run(t)
	defer stop()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- lab.Run(ctx, s.lab, s.log) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	emitter := func(since time.Time, words string) func() error {
		return func() error {
			if !anyOf(s.records(t), func(r *record.Record) bool {
				return r.Service == "node-agent" && r.Time > since.UnixNano() && strings.Contains(r.Body, words)
			}) {
				return errors.New("nobody says so")
			}
			return nil
		}
	}
	eventually(t, "agents enrol", func() error {
		if _, err := os.Stat(s.export); err != nil {
			return err
		}
		return emitter(time.Unix(0, 0), "enrolled as")()
	})
	remote, err := lab.Dial(s.lab.Data)
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	began := time.Now()
	on, err := remote.Inject(t.Context(), lab.Order{Name: "network_partition"})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the agent says "+words, emitter(began, words))
	if err := remote.Heal(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	eventually(t, "work goes on", emitter(time.Now(), "tenant system is up"))
	return on.Way
}
