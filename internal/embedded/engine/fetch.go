package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// fetch has npm put the package into dir and returns its path. npm knows the registry, the proxy and the credentials of
// this host; nothing of that is named here.
func (b build) fetch(ctx context.Context, dir string, progress io.Writer) (string, error) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return "", fmt.Errorf("npm is not installed or not in PATH (%w); it fetches %s", err, b.pkg)
	}
	fmt.Fprintf(progress, "fetching %s with npm, %d MB, once for this host\n", b.pkg, b.packed/1_000_000)
	var said bytes.Buffer
	// npm gathers a package in its own cache before it packs it; a cache of ours shows how far it has come, and goes with dir.
	cache := filepath.Join(dir, "npm")
	cmd := exec.CommandContext(ctx, npm, "pack", "--silent", "--cache", cache, "--pack-destination", dir, b.pkg)
	cmd.Dir = dir // not where a package.json of someone's could be meant
	cmd.Stdout, cmd.Stderr = io.Discard, &said
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start npm: %w", err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for waiting := true; waiting; {
		select {
		case <-tick.C:
			fmt.Fprintf(progress, "  %d of %d MB\n", min(folderSize(dir), b.packed)/1_000_000, b.packed/1_000_000)
		case err := <-done:
			if err != nil {
				return "", b.npmFailure(ctx, err, said.String())
			}
			waiting = false
		}
	}
	packs, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil {
		return "", err
	}
	if len(packs) != 1 {
		return "", fmt.Errorf("npm left %d packages in %s, not one", len(packs), dir)
	}
	return packs[0], nil
}

// npmFailure keeps the last of what npm said.
func (b build) npmFailure(ctx context.Context, err error, said string) error {
	if cause := context.Cause(ctx); cause != nil {
		err = errors.Join(err, cause)
	}
	said = strings.TrimSpace(said)
	if len(said) > 2000 {
		said = "… " + said[len(said)-2000:]
	}
	if said == "" {
		said = "it said nothing"
	}
	return fmt.Errorf("npm pack %s: %w: %s", b.pkg, err, said)
}

// folderSize adds up the files below dir; what vanishes meanwhile counts nothing.
func folderSize(dir string) int64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil //nolint:nilerr // what vanishes meanwhile counts nothing
		}
		if info, err := e.Info(); err == nil {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
