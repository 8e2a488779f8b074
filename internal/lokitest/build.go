package lokitest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Build makes the binary where it is not there yet: of Loki's module with its own go.mod, the replacement of pkg/push apart. It
// takes minutes, the first time also a gigabyte of modules.
func Build(ctx context.Context, out io.Writer) (path string, err error) {
	if path, err = Binary(); err == nil {
		return path, nil
	}
	if path, err = cached(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", fmt.Errorf("make the cache: %w", err)
	}
	work, err := os.MkdirTemp(filepath.Dir(path), "build-")
	if err != nil {
		return "", fmt.Errorf("make a folder to build in: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }()
	source, err := download(ctx, work, out)
	if err != nil {
		return "", err
	}
	mod := filepath.Join(work, "loki.mod")
	if err := join(mod, filepath.Join(source, "go.mod"), ""); err != nil {
		return "", err
	}
	if err := join(filepath.Join(work, "loki.sum"), filepath.Join(source, "go.sum"), pushSums); err != nil {
		return "", err
	}
	const push = "github.com/grafana/loki/pkg/push"
	if err := run(ctx, work, out, "mod", "edit", "-replace", push+"="+push+"@"+pushVersion, mod); err != nil {
		return "", err
	}
	made := filepath.Join(work, "loki")
	if err := run(ctx, source, out, "build", "-modfile", mod, "-trimpath", "-ldflags=-s -w", "-o", made, "./cmd/loki"); err != nil {
		return "", err
	}
	if err := os.Rename(made, path); err != nil {
		return "", fmt.Errorf("keep the binary: %w", err)
	}
	return path, nil
}

// download fetches the module and gives its folder.
func download(ctx context.Context, work string, out io.Writer) (string, error) {
	var said bytes.Buffer
	if err := goCommand(ctx, work, &said, out, "mod", "download", "-json", "github.com/grafana/loki/v3@"+Version).Run(); err != nil {
		return "", fmt.Errorf("download Loki %s: %w: %s", Version, err, said.Bytes())
	}
	var module struct{ Dir, Sum string }
	if err := json.Unmarshal(said.Bytes(), &module); err != nil {
		return "", fmt.Errorf("download Loki %s: %w", Version, err)
	}
	if module.Sum != checksum {
		return "", fmt.Errorf("download Loki %s: its checksum is %s, not %s", Version, module.Sum, checksum)
	}
	return module.Dir, nil
}

func run(ctx context.Context, dir string, out io.Writer, arguments ...string) error {
	if err := goCommand(ctx, dir, out, out, arguments...).Run(); err != nil {
		return fmt.Errorf("go %s: %w", arguments[0], err)
	}
	return nil
}

func goCommand(ctx context.Context, dir string, out, err io.Writer, arguments ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, "go", arguments...)
	c.Dir, c.Stdout, c.Stderr = dir, out, err
	c.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "CGO_ENABLED=0")
	return c
}

// join writes a file and what is added to it.
func join(to, from, more string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("read what Loki needs: %w", err)
	}
	if err := os.WriteFile(to, append(text, more...), 0o600); err != nil {
		return fmt.Errorf("write what Loki needs: %w", err)
	}
	return nil
}
