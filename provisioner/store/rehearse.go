package store

import (
	"context"
	"errors"
)

// errRehearsed ends a transaction that was only tried.
var errRehearsed = errors.New("rehearsed")

// Rehearse runs f as Update does, with the same checks against the same rows, and takes everything back:
// nothing is changed, nobody is woken, nothing is told. nil says that f would have gone through.
func (s *Store) Rehearse(ctx context.Context, group string, f func(*Tx) error) error {
	err := s.Update(ctx, group, func(t *Tx) error {
		t.rehearsed = true
		if err := f(t); err != nil {
			return err
		}
		return errRehearsed
	})
	if errors.Is(err, errRehearsed) {
		return nil
	}
	return err
}
