//go:build !(linux && amd64)

package chdb

import (
	"errors"
	"fmt"
	"runtime"
)

// Library can't be had here: libchdb is built for linux/amd64 with glibc.
type Library struct{}

// Conn can't be had here.
type Conn struct{}

// Insert can't be had here.
type Insert struct{}

func unsupported() error {
	return fmt.Errorf("libchdb on %s/%s: %w", runtime.GOOS, runtime.GOARCH, errors.ErrUnsupported)
}

// Load reports that the platform has no libchdb.
func Load(string) (*Library, error) { return nil, unsupported() }

// Version is empty.
func (*Library) Version() string { return "" }

// Shutdown reports that the platform has no libchdb.
func (*Library) Shutdown() error { return unsupported() }

// Connect reports that the platform has no libchdb.
func (*Library) Connect(...string) (*Conn, error) { return nil, unsupported() }

// Close does nothing.
func (*Conn) Close() {}

// Query reports that the platform has no libchdb.
func (*Conn) Query([]byte, string, map[string]string) ([]byte, Stats, error) {
	return nil, Stats{}, unsupported()
}

// Exec reports that the platform has no libchdb.
func (*Conn) Exec(string) error { return unsupported() }

// Classify reports that the platform has no libchdb.
func (*Conn) Classify([]byte) (Analysis, error) { return Analysis{}, unsupported() }

// Stream reports that the platform has no libchdb.
func (*Conn) Stream([]byte, string, map[string]string, func([]byte, Stats) error) error {
	return unsupported()
}

// Insert reports that the platform has no libchdb.
func (*Conn) Insert([]byte, string, map[string]string) (*Insert, error) { return nil, unsupported() }

// Write reports that the platform has no libchdb.
func (*Insert) Write([]byte) (int, error) { return 0, unsupported() }

// Done reports that the platform has no libchdb.
func (*Insert) Done() (Stats, error) { return Stats{}, unsupported() }

// Cancel does nothing.
func (*Insert) Cancel() {}
