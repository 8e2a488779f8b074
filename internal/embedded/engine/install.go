package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/faultline-io/faultline/internal/embedded/filelock"
)

// Install returns the library's path, after fetching it with npm where it is missing. It says what it does on progress.
//
// The library appears under its name whole and checked, or not at all: a process that is killed halfway leaves a folder
// that the next one removes. Two processes at once do it once.
func Install(ctx context.Context, cacheDir string, progress io.Writer) (string, error) {
	cacheDir, err := CacheDir(cacheDir)
	if err != nil {
		return "", err
	}
	b := pinned()
	if path, err := b.find(cacheDir); err == nil {
		return path, nil
	}
	if err := platform(); err != nil {
		return "", err
	}
	return b.install(ctx, cacheDir, progress)
}

func (b build) install(ctx context.Context, cacheDir string, progress io.Writer) (string, error) {
	path := b.path(cacheDir)
	if err := b.installAt(ctx, path, progress); err != nil {
		return "", fmt.Errorf("install the ClickHouse engine into %s: %w; mend that and try again, %s", filepath.Dir(path), err, wayOut)
	}
	return path, nil
}

func (b build) installAt(ctx context.Context, path string, progress io.Writer) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	lock, err := filelock.Wait(ctx, filepath.Join(dir, "lock"), func(held error) {
		fmt.Fprintf(progress, "waiting for another process that installs the ClickHouse engine: %v\n", held)
	})
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }()
	if info, err := os.Stat(path); err == nil && info.Size() == b.size {
		return nil // the other one did it
	}
	// We hold the lock: whatever lies here is of a process that died.
	left, err := filepath.Glob(filepath.Join(dir, "fetch-*"))
	if err != nil {
		return err
	}
	for _, l := range left {
		if err := os.RemoveAll(l); err != nil {
			return fmt.Errorf("remove what an earlier attempt left: %w", err)
		}
	}
	if err := b.room(dir); err != nil {
		return err
	}
	work, err := os.MkdirTemp(dir, "fetch-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	pack, err := b.fetch(ctx, work, progress)
	if err != nil {
		return err
	}
	fresh := filepath.Join(work, "libchdb.so")
	if err := b.unpack(ctx, pack, fresh, progress); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	fmt.Fprintf(progress, "the ClickHouse engine is installed: %s\n", path)
	return nil
}
