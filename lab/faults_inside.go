package lab

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/faultline-io/faultline/provisioner/chaos"
)

// insideFaults are those of the provisioner's own process, which it makes itself while the lab holds a switch.
func insideFaults() []Fault {
	switched := func(name string) func(*lab, target) (func() error, error) {
		return func(l *lab, _ target) (func() error, error) { return l.hold(name) }
	}
	all := []Fault{
		{
			Name: "worker_stop", Layer: "deploy", Mechanism: "no_worker", Expected: expectAttributed, ShowsIn: []string{"workflow"},
			Description: "no worker runs: workflows are scheduled and nobody asks their queue", meets: byWork, inject: switched(chaos.Worker),
		},
		{
			Name: "worker_stuck", Layer: "workflow", Mechanism: "overdue", Expected: expectAttributed, ShowsIn: []string{"workflow"},
			Description: "the worker hangs in a step and says nothing", meets: byWork, inject: switched(chaos.Stuck),
		},
		{
			Name: "worker_short_timeout", Layer: "workflow", Mechanism: "timeout", Expected: expectUndetermined, ShowsIn: []string{"workflow"},
			Description: "tasks expire a millisecond after they are queued: nobody can be seen alive in so short a time, and who has set it telemetry does not say",
			meets:       byAgent, inject: switched(chaos.Timeout),
		},
		{
			Name: "outbox_poison", Layer: "outbox", Mechanism: "poison", Expected: expectAttributed, ShowsIn: []string{"outbox"},
			Description: "messages cannot be decoded by whoever should take them", meets: byWork, inject: switched(chaos.Poison),
		},
		{
			Name: "outbox_relay_stop", Layer: "outbox", Mechanism: "overdue", Expected: expectAttributed, ShowsIn: []string{"outbox"},
			Description: "the relay hangs: its process lives and says so, rows are pending, and it sends none", meets: byWork, inject: switched(chaos.Relay),
		},
		{
			Name: "outbox_relay_gone", Layer: "outbox", Mechanism: "stuck", Expected: expectUndetermined, ShowsIn: []string{"outbox", "db"},
			Description: "the relay's process has ended without a word, and its telemetry with it: rows are pending, and who is silent cannot be told from who is gone",
			meets:       byWork, inject: switched(chaos.Gone),
		},
		{
			Name: "db_pool", Layer: "db", Mechanism: "pool", Expected: expectAttributed, ShowsIn: []string{"db", "workflow", "api", "client"},
			Description: "something holds every connection to the database", meets: byWork, inject: switched(chaos.Pool),
		},
	}
	for i := range all {
		all[i].worker = true
	}
	return all
}

// hold has the provisioner keep a fault on. Every second it is asked again: a lab that is killed asks no more,
// and the fault ends.
func (l *lab) hold(name string) (heal func() error, err error) {
	client := &http.Client{Timeout: 25 * time.Second}
	ask := func(ctx context.Context, method, query string) error {
		r, err := http.NewRequestWithContext(ctx, method, "http://"+l.config.ProvisionerFaults+"/faults/"+name+query, nil)
		if err != nil {
			return err
		}
		answer, err := client.Do(r)
		if err != nil {
			return fmt.Errorf("ask the provisioner for a fault: %w", err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusNoContent {
			said, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
			return fmt.Errorf("ask the provisioner for %s: %s: %s", name, answer.Status, bytes.TrimSpace(said))
		}
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	if err := ask(ctx, http.MethodPost, "?for=6s"); err != nil {
		stop()
		return nil, err
	}
	var work sync.WaitGroup
	work.Go(func() {
		for pause(ctx, time.Second); ctx.Err() == nil; pause(ctx, time.Second) {
			if err := ask(ctx, http.MethodPost, "?for=6s"); err != nil && ctx.Err() == nil {
				l.log.Warn("hold fault", "fault", name, "error", err)
			}
		}
	})
	return func() error {
		stop()
		work.Wait()
		defer client.CloseIdleConnections()
		last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := ask(last, http.MethodDelete, ""); err != nil { // it ends within seconds all the same
			l.log.Warn("heal inside the provisioner", "fault", name, "error", err)
		}
		return nil
	}, nil
}
