//go:build !unix

package filelock

import (
	"context"
	"errors"
	"fmt"
)

// Lock can't be had on this platform.
type Lock struct{}

// Try reports that the platform has no such locks.
func Try(path string) (*Lock, error) {
	return nil, fmt.Errorf("lock %s: %w", path, errors.ErrUnsupported)
}

// Wait reports that the platform has no such locks.
func Wait(_ context.Context, path string, _ func(error)) (*Lock, error) { return Try(path) }

// Release does nothing.
func (*Lock) Release() error { return nil }
