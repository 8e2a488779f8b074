package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/internal/service"
	"github.com/faultline-io/faultline/provisioner"
	"github.com/faultline-io/faultline/provisioner/lifecycle"
	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/workflow"
)

// runProvisioner is faultline-provisioner for scripts: provisioner FILE.
func runProvisioner() {
	c, err := config.Load(os.Args[1], provisioner.DefaultConfig())
	if err == nil {
		ctx, stop := service.SignalContext(context.Background())
		defer stop()
		err = provisioner.Run(ctx, c, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	}
	fail(err)
}

// await waits until a URL answers, for scripts: await URL.
func await() {
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get(os.Args[1])
		if err == nil {
			if _ = answer.Body.Close(); answer.StatusCode == http.StatusOK {
				return
			}
		}
		if time.Now().After(end) {
			fail(fmt.Errorf("%s never answered: %w", os.Args[1], err))
		}
	}
}

// strand makes a database in which something is stuck, for scripts: strand FILE. a-1's release has failed
// and its node is fenced; a-2 has failed and still holds its node; a-3 waits for a message that is dead.
func strand() {
	ctx := context.Background()
	s, err := store.Open(ctx, os.Args[1], store.Options{})
	fail(err)
	for n, steps := range [][]string{
		{lifecycle.Occupied, semconv.Active, lifecycle.Cleanup, semconv.Releasing, semconv.ReleaseFailed, lifecycle.Fenced},
		{lifecycle.Occupied, lifecycle.Cleanup, semconv.Failed},
		nil,
	} {
		fail(s.Update(ctx, "strand", func(t *store.Tx) error { return strandOne(t, fmt.Sprint(n+1), steps) }))
	}
	fail(s.Close())
}

func strandOne(t *store.Tx, n string, steps []string) error {
	a, err := t.CreateAllocation(store.Allocation{ID: "a-" + n, Pool: "p", Image: "i", RequestedBy: "alice"})
	if err != nil || steps == nil {
		if err == nil {
			err = deadLetter(t, a.ID)
		}
		return err
	}
	if err := t.RegisterNode("n-"+n, "p"); err != nil {
		return err
	}
	node, err := t.Node("n-" + n)
	if err != nil {
		return err
	}
	facts := lifecycle.Facts{Actor: "alice", Why: "done", TasksDone: true, Observed: true}
	if err := t.Reserve(&node, &a); err != nil {
		return err
	}
	for _, to := range append([]string{semconv.Reserved, semconv.Provisioning}, steps...) {
		switch to {
		case lifecycle.Occupied, lifecycle.Cleanup, lifecycle.Fenced:
			err = t.MoveNode(&node, to, "wipe failed 5 times", lifecycle.NodeFacts{Actor: "kim"})
		default:
			err = t.MoveAllocation(&a, to, "retries exhausted", facts)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func deadLetter(t *store.Tx, allocation string) error {
	id, err := t.PutOutbox(workflow.SubjectProvision, allocation, "{}")
	if err != nil {
		return err
	}
	m, err := t.Message(id)
	if err != nil {
		return err
	}
	m.Attempts, m.LastError = 15, "no such pool"
	return t.MoveMessage(&m, semconv.Dead)
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// addresses gives a script free ports of its own, as $CONTROL, $NODE, $OPS and $NOBODY.
func addresses(e *testscript.Env) error {
	var held []net.Listener
	for _, name := range []string{"CONTROL", "NODE", "OPS", "NOBODY"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		held = append(held, l)
		e.Setenv(name, l.Addr().String())
	}
	for _, l := range held {
		_ = l.Close()
	}
	e.Setenv("USER", "kim")
	return nil
}
