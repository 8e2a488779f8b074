package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// errMissing says that the library is not in the cache folder.
var errMissing = errors.New("the ClickHouse engine is not installed")

// CacheDir is dir, or faultline's folder in the user's cache where dir is "".
func CacheDir(dir string) (string, error) {
	if dir != "" {
		return dir, nil
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w; name one with cache_dir, %s", err, wayOut)
	}
	return filepath.Join(user, "faultline"), nil
}

// Find returns the installed library's path, or errMissing. The checksum is in the path; it was checked before the file got
// there, and reading half a gigabyte at every start would take longer than the start. The size is checked each time.
func Find(cacheDir string) (string, error) { return pinned().find(cacheDir) }

func (b build) find(cacheDir string) (string, error) {
	path := b.path(cacheDir)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%w in %s", errMissing, cacheDir)
	case err != nil:
		return "", fmt.Errorf("find the ClickHouse engine: %w", err)
	case info.Size() != b.size:
		return "", fmt.Errorf("%w: %s has %d bytes, not %d", errMissing, path, info.Size(), b.size)
	}
	return path, nil
}

func (b build) path(cacheDir string) string {
	return filepath.Join(cacheDir, "libchdb", b.checksum, "libchdb.so")
}
