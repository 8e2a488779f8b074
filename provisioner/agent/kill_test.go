package agent_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/internal/semconv"
	"github.com/faultline-io/faultline/provisioner/agent"
	"github.com/faultline-io/faultline/provisioner/control"
	"github.com/faultline-io/faultline/provisioner/store"
)

// childVariable makes the test binary an agent: one that can be killed.
const childVariable = "FAULTLINE_AGENT_TEST"

// child is what it is told.
type child struct {
	Config agent.Config
	Roots  string // file
	Steps  string // folder
}

func TestMain(m *testing.M) {
	text := os.Getenv(childVariable)
	if text == "" {
		goleak.VerifyTestMain(m)
	}
	if err := beAgent(text); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func beAgent(text string) error {
	var c child
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return err
	}
	roots, err := os.ReadFile(c.Roots)
	if err != nil {
		return err
	}
	c.Config.Roots = x509.NewCertPool()
	c.Config.Roots.AppendCertsFromPEM(roots)
	a, err := agent.New(c.Config, agent.Host{}, stepLog{dir: c.Steps, steps: 3, takes: 40 * time.Millisecond})
	if err != nil {
		return err
	}
	return a.Run(context.Background())
}

// livesVariable is for how many allocations it is killed, where that is not a few.
const livesVariable = "FAULTLINE_AGENT_LIVES"

// An agent that is killed at random points of some allocations' lives, from enrolment on, does every task
// once: one claim each, one node instance, and no step again but the one that it was killed in.
func TestKilledAnywhere(t *testing.T) {
	t.Parallel()
	lives := 3
	if n, err := strconv.Atoi(os.Getenv(livesVariable)); err == nil {
		lives = n
	}
	p := newTestPlatform(t, time.Hour)
	own := child{Config: p.config("n-1"), Roots: p.rootsFile(), Steps: filepath.Join(p.dir, "steps")}
	if err := os.Mkdir(own.Steps, 0o700); err != nil {
		t.Fatal(err)
	}
	own.Config.Roots = nil
	text, err := json.Marshal(own)
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		ctx := context.Background()
		for i := range lives {
			id := fmt.Sprintf("a-%d", i)
			p.create(id)
			p.until(id+" is active", func() bool { return p.state(id) == semconv.Active })
			if _, err := p.control.Release(ctx, id, control.Asker{Actor: "alice", ActorType: "user"}); err != nil {
				t.Error(err)
				return
			}
			p.until(id+" is released", func() bool { return p.state(id) == semconv.Released })
		}
	}()
	kills, lived := 0, 20*time.Millisecond
	for done := false; !done; {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childVariable+"="+string(text))
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		select {
		case <-over:
			done = true
		case <-time.After(lived + time.Duration(rand.Int64N(int64(300*time.Millisecond)))):
			kills++
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		lived = min(lived+10*time.Millisecond, 500*time.Millisecond) // so that a busy computer gets there, too
	}
	d := stepLog{dir: own.Steps}
	again := 0
	for _, n := range d.begun() {
		again += n - 1
	}
	if again > kills {
		t.Errorf("%d steps were begun again after %d kills", again, kills)
	}
	done, _ := filepath.Glob(filepath.Join(own.Steps, "t*-*"))
	tasks := map[string]bool{}
	err = p.store.View(context.Background(), "test", func(tx *store.Tx) error {
		for _, file := range done {
			id := filepath.Base(file)[:len(filepath.Base(file))-2]
			k, err := tx.Task(id)
			if err != nil {
				return err
			}
			tasks[id] = true
			if k.State != semconv.Succeeded || k.Claim.Fence != 1 || k.Attempt != 1 {
				t.Errorf("task %s %s: state %s, fence %d, attempt %d", k.Type, k.ID, k.State, k.Claim.Fence, k.Attempt)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(tasks) != 4*lives || len(done) != 12*lives {
		t.Errorf("%d tasks with %d steps were done, want %d and %d", len(tasks), len(done), 4*lives, 12*lives)
	}
	t.Logf("%d kills, %d steps begun again", kills, again)
}
