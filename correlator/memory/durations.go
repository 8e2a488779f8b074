package memory

import (
	"context"
	"sync"

	"github.com/faultline-io/faultline/correlator"
)

// DurationStore is a live.DurationStore in memory. The zero value is empty.
type DurationStore struct {
	mu    sync.Mutex
	steps map[[3]string]correlator.CompletedStep
}

// AddDurations implements live.DurationStore.
func (d *DurationStore) AddDurations(_ context.Context, steps []correlator.CompletedStep) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.steps == nil {
		d.steps = map[[3]string]correlator.CompletedStep{}
	}
	for _, s := range steps {
		d.steps[[3]string{s.Step, s.Allocation, s.Part}] = s
	}
	return nil
}

// Durations implements live.DurationStore. Where asOf is 0, now is when the newest step ended.
func (d *DurationStore) Durations(_ context.Context, asOf int64) (correlator.Durations, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if asOf == 0 {
		for _, s := range d.steps {
			asOf = max(asOf, s.Ended)
		}
	}
	out := &correlator.Learnt{}
	for _, s := range d.steps {
		if s.Ended <= asOf && s.Ended > asOf-int64(correlator.Lately) {
			out.Add(s.Step, s.Took)
		}
	}
	return out, nil
}
