//go:build unix

package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// retry is how often Wait asks again.
const retry = 100 * time.Millisecond

// Lock is a held lock. The file stays when it is released: removing it would let two processes hold it.
type Lock struct{ f *os.File }

// Try takes the lock of path at once, or reports errHeld with the holder's process id where it is known.
func Try(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w%s", path, errHeld, holder(path))
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	// The holder's id is for people; the lock doesn't depend on it.
	if err := f.Truncate(0); err == nil {
		_, _ = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	return &Lock{f}, nil
}

// Wait takes the lock of path as soon as it is free. waiting is called once if it isn't.
func Wait(ctx context.Context, path string, waiting func(error)) (*Lock, error) {
	for first := true; ; first = false {
		l, err := Try(path)
		if err == nil || !errors.Is(err, errHeld) {
			return l, err
		}
		if first {
			waiting(err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %w: %w", err, context.Cause(ctx))
		case <-time.After(retry):
		}
	}
}

// Release gives the lock back.
func (l *Lock) Release() error { return l.f.Close() }

func holder(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (process %d)", pid)
}
