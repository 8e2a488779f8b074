package store

import (
	"context"
	"errors"
)

// errDryRun ends a transaction that was only tried.
var errDryRun = errors.New("dry run")

// DryRun runs f as Update does, with the same checks against the same rows, and takes everything back: nothing is
// changed, nobody is notified, no event is written. nil: f would have succeeded.
func (s *Store) DryRun(ctx context.Context, group string, f func(*Tx) error) error {
	err := s.Update(ctx, group, func(t *Tx) error {
		t.dryRun = true
		if err := f(t); err != nil {
			return err
		}
		return errDryRun
	})
	if errors.Is(err, errDryRun) {
		return nil
	}
	return err
}
