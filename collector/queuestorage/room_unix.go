//go:build unix

package queuestorage

import "golang.org/x/sys/unix"

// freeBytes is what an ordinary user may still write.
func freeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:gosec,unconvert // both are far below 1<<63; their types differ by platform
}
