package main

import (
	"context"
	"fmt"

	"github.com/faultline-io/faultline/internal/soak"
)

func cost(ctx context.Context, engine, target string, moves int) error {
	r, err := soak.Cost{Target: target, Moves: moves}.Run(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("cost   %-8s a move takes %s without telemetry and %s with it: %+.1f %% (%s)\n", engine, r.Off, r.On, 100*(r.Ratio-1), r.Spread)
	return nil
}
