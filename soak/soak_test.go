package soak_test

import (
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/faultline-io/faultline/provisioner/store"
	"github.com/faultline-io/faultline/provisioner/store/storetest"
	"github.com/faultline-io/faultline/soak"
)

// TestMain is a provisioner itself, where it was started as one.
func TestMain(m *testing.M) {
	soak.Child()
	goleak.VerifyTestMain(m)
}

// The short form of `make bench-provisioner`: all at once through the whole lifecycle, on PostgreSQL with
// two replicas.
func TestManyAtOnce(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		replicas := 1
		if store.IsShared(target) {
			replicas = 2
		}
		got, err := soak.Load{Target: target, Allocations: 50, Replicas: replicas, Patience: 2 * time.Minute, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Log(got.Create, got.Active, got.Released, got.Moves, "moves,", got.Events, "events,", got.Duplicates, "twice")
		for _, text := range got.Findings.Some {
			t.Error(text)
		}
		if got.Moves != 50*6 || got.Work.Begun != 50*4 || got.Work.Twice > 0 {
			t.Errorf("%d moves, %d tasks, %d twice", got.Moves, got.Work.Begun, got.Work.Twice)
		}
	})
}

// The short form of the 500 kills of `make bench-provisioner`.
func TestKilledAtRandom(t *testing.T) {
	storetest.Each(t, func(t *testing.T, target string) {
		k := soak.Kills{Target: target, Times: 10, Replicas: 1, Nodes: 8, Tenants: 8, Longest: 600 * time.Millisecond, Patience: 2 * time.Minute, Dir: t.TempDir()}
		if store.IsShared(target) {
			k.Replicas = 2
		}
		got, err := k.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d kills in %s, allocations %v, AAP %+v, EDA %+v, %d tasks, %d certificates renewed, %d events, %d twice",
			got.Kills, got.Took, got.Ended, got.AAP, got.EDA, got.Work.Begun, got.Work.Renewed, got.Events, got.Duplicates)
		t.Logf("the operator did %v, %d nodes were fenced", got.Operator, got.Fenced)
		lifted := got.Operator["unfence"] + got.Operator["force-release"] // a forced release may lift none
		if got.Fenced == 0 || got.Fenced != got.Operator["fence"] || lifted < got.Fenced {
			t.Errorf("%d fenced nodes by %d fences, %d lifted", got.Fenced, got.Operator["fence"], lifted)
		}
		if got.AAP.Launched == 0 || got.EDA.Launched == 0 || got.Work.Renewed == 0 {
			t.Error("not everything was in the mix")
		}
		for _, text := range got.Findings.Some {
			t.Error(text)
		}
	})
}
