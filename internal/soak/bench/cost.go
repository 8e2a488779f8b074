package main

import (
	"context"
	"fmt"
	"time"

	"github.com/faultline-io/faultline/internal/soak"
)

func cost(ctx context.Context, engine, silent, telling string, moves int) error {
	r, err := soak.Cost{Silent: silent, Telling: telling, Moves: moves}.Run(ctx)
	if err != nil {
		return err
	}
	us := func(d time.Duration) float64 { return float64(d) / 1e3 }
	fmt.Printf("cost   %-8s %d moves each way: %.1f records a move; median %.0f µs without telemetry, %.0f µs with it: %+.1f %%; quarter %.0f and %.0f; mean of the faster 95 %% %.0f and %.0f\n",
		engine, moves, r.Records, us(r.Off.Median), us(r.On.Median), 100*r.Added(), us(r.Off.Quarter), us(r.On.Quarter), us(r.Off.Mean), us(r.On.Mean))
	return nil
}
