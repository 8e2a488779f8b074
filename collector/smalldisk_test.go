package collector

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// smallDisk mounts a file system of so many MiB, which is gone after the test. Only root may mount.
func smallDisk(t *testing.T, mebibytes int) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("NOT TESTED here: a full disk needs a small file system, which only root can mount")
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "mount", "-t", "tmpfs", "-o", fmt.Sprintf("size=%dm", mebibytes), "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED here: a full disk needs a small file system: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	return dir
}

// fill takes all the room but so many bytes and gives the file that takes it.
func fill(t *testing.T, dir string, leave int64) string {
	t.Helper()
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "ballast")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	block := make([]byte, 64<<10)
	for n := int64(s.Bavail)*s.Bsize - leave; n > 0; n -= int64(len(block)) {
		if _, err := f.Write(block[:min(int64(len(block)), n)]); err != nil {
			if errors.Is(err, syscall.ENOSPC) {
				break
			}
			t.Fatal(err)
		}
	}
	return path
}
