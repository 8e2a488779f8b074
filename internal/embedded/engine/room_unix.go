//go:build unix

package engine

import (
	"fmt"
	"syscall"
)

// room refuses a disk that the package (in npm's cache and as a file) and the library don't fit on.
func (b build) room(dir string) error {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return nil //nolint:nilerr // unknown: the copy will tell
	}
	return b.enough(dir, st.Bavail*uint64(st.Bsize))
}

func (b build) enough(dir string, free uint64) error {
	// npm unpacks what it packs again, in the temporary folder if not here.
	need := uint64(b.size + 3*b.packed)
	if free < need {
		return fmt.Errorf("%d MB are free on the disk of %s, %d MB are needed: make room, or name another folder with cache_dir", free/1e6, dir, need/1e6)
	}
	return nil
}
