// Command bench prints what a provisioner takes: allocations at once, kills, and what its telemetry costs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"time"

	"github.com/faultline-io/faultline/internal/postgrestest"
	"github.com/faultline-io/faultline/soak"
)

func main() {
	soak.Child()
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	what := flag.String("what", "load,kills,cost,steps,lives", "experiments")
	engines := flag.String("engines", "sqlite,postgres", "databases")
	onSQLite := flag.Int("sqlite-allocations", 2000, "allocations at once on SQLite")
	onPostgres := flag.Int("postgres-allocations", 10000, "allocations at once on PostgreSQL")
	kills := flag.Int("kills", 500, "kills of a provisioner")
	moves := flag.Int("moves", 20000, "moves of each kind that are timed")
	profile := flag.String("profile", "", "file for a CPU profile; what moves has the label telemetry, on or off")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer func() { pprof.StopCPUProfile(); err = errors.Join(err, f.Close()) }()
	}
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			fmt.Fprintln(os.Stderr, "databases and logs are left in", dir)
			return
		}
		err = os.RemoveAll(dir)
	}()
	var bad error
	for engine := range strings.SplitSeq(*engines, ",") {
		target, replicas, allocations := filepath.Join(dir, "p"), 1, *onSQLite
		next := func() (string, error) { target += "x"; return target + ".db", nil }
		if engine == "postgres" {
			cluster, err := postgrestest.Start(ctx, postgrestest.Settings{"max_connections": "200", "shared_buffers": "256MB"})
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, cluster.Close()) }()
			next, replicas, allocations = func() (string, error) { return cluster.Create(ctx) }, 2, *onPostgres
		}
		for experiment := range strings.SplitSeq(*what, ",") {
			target, err := next()
			if err != nil {
				return err
			}
			switch experiment {
			case "load":
				err = load(ctx, engine, soak.Load{Target: target, Allocations: allocations, Replicas: replicas, Patience: time.Hour, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))})
			case "kills":
				err = kill(ctx, engine, soak.Kills{
					Target: target, Times: *kills, Replicas: replicas, Nodes: 16, Tenants: 16, Longest: 400 * time.Millisecond, Patience: 5 * time.Minute, Dir: dir,
				})
			case "cost", "steps", "lives":
				telling, e := next()
				if e != nil {
					return e
				}
				switch experiment {
				case "cost":
					err = cost(ctx, engine, target, telling, *moves)
				case "steps":
					err = steps(ctx, engine, target, telling, *moves/20)
				default:
					err = lives(ctx, engine, target, telling, *moves/20)
				}
			default:
				err = fmt.Errorf("no experiment %q", experiment)
			}
			bad = errors.Join(bad, err)
		}
	}
	return bad
}

func load(ctx context.Context, engine string, l soak.Load) error {
	r, err := l.Run(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("load   %-8s %d allocations at once, %d replicas: accepted in %s, all active after %s, all released after %s more; %d moves (%.0f/s), %d tasks; %d events arrived, %d of them twice\n",
		engine, l.Allocations, l.Replicas, r.Create.Round(time.Millisecond), r.Active.Round(time.Millisecond), r.Released.Round(time.Millisecond),
		r.Moves, float64(r.Moves)/(r.Active+r.Released).Seconds(), r.Work.Begun, r.Events, r.Duplicates)
	return verdict(r.Findings)
}

func kill(ctx context.Context, engine string, k soak.Kills) error {
	r, err := k.Run(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("kills  %-8s %d kills of %d replicas in %s; allocations %v; %d provisions launched at AAP for %d, %d at EDA for %d; %d tasks, %d certificates renewed; %d events arrived, %d of them twice\n",
		engine, r.Kills, k.Replicas, r.Took.Round(time.Second), r.Ended, r.AAP.Launched, r.AAP.Allocations, r.EDA.Launched, r.EDA.Allocations, r.Work.Begun, r.Work.Renewed, r.Events, r.Duplicates)
	fmt.Printf("       the operator: %v; %d nodes were fenced\n", r.Operator, r.Fenced)
	return verdict(r.Findings)
}

func verdict(f soak.Findings) error {
	if f.None() {
		fmt.Println("       no illegal move, no double launch, no lost message, no missing event, no node without a reason")
		return nil
	}
	return fmt.Errorf("%v\n%s", f.Count, strings.Join(f.Some, "\n"))
}
