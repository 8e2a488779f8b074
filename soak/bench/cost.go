package main

import (
	"context"
	"fmt"
	"time"

	"github.com/faultline-io/faultline/soak"
)

func cost(ctx context.Context, engine, silent, telling string, moves int) error {
	r, err := soak.Cost{Silent: silent, Telling: telling, Moves: moves}.Run(ctx)
	if err != nil {
		return err
	}
	us := func(d time.Duration) float64 { return float64(d) / 1e3 }
	fmt.Printf("cost   %-8s %d moves each way: %.1f records a move; median %.0f µs without telemetry, %.0f µs with it: %+.1f %%; quarters %.0f to %.0f and %.0f to %.0f\n",
		engine, moves, r.Records, us(r.Off.Median), us(r.On.Median), 100*r.Added(), us(r.Off.Quarter), us(r.Off.Most), us(r.On.Quarter), us(r.On.Most))
	return nil
}

func lives(ctx context.Context, engine, silent, telling string, n int) error {
	r, err := soak.Lives{Silent: silent, Telling: telling, Lives: n}.Run(ctx)
	if err != nil {
		return err
	}
	ms := func(d time.Duration) float64 { return float64(d) / 1e6 }
	fmt.Printf("lives  %-8s %d lives each way: %.0f events a life; median %.2f ms without telemetry, %.2f ms with it: %+.1f %%; quarters %.2f to %.2f and %.2f to %.2f\n",
		engine, n, r.Records, ms(r.Off.Median), ms(r.On.Median), 100*r.Added(), ms(r.Off.Quarter), ms(r.Off.Most), ms(r.On.Quarter), ms(r.On.Most))
	return nil
}

func steps(ctx context.Context, engine, silent, telling string, n int) error {
	all, err := soak.Steps{Silent: silent, Telling: telling, Lives: n}.Run(ctx)
	if err != nil {
		return err
	}
	us := func(d time.Duration) float64 { return float64(d) / 1e3 }
	for _, s := range all {
		fmt.Printf("steps  %-8s %-18s median %.0f µs without telemetry, %.0f µs with it: %+.1f %%; quarters %.0f to %.0f and %.0f to %.0f\n",
			engine, s.Name, us(s.Off.Median), us(s.On.Median), 100*s.Added(), us(s.Off.Quarter), us(s.Off.Most), us(s.On.Quarter), us(s.On.Most))
	}
	return nil
}
