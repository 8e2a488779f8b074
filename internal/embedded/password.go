package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// EnsurePassword returns the password in the file at path, which it makes, readable by its owner only, where there is none.
// A file that others may read is refused.
func EnsurePassword(path string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make password file: %w", err)
	}
	// Written aside and linked into place: whoever comes second reads the winner's, never half of one.
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		if err := writePassword(path); err != nil {
			return "", fmt.Errorf("make password file: %w", err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("read password file: %w", err)
	}
	if m := info.Mode().Perm(); m&0o077 != 0 {
		return "", fmt.Errorf("password file %s has mode %04o: others may read it; chmod 600 it, or delete it to have a new one made", path, m)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read password file: %w", err)
	}
	password := strings.TrimSpace(string(b))
	if password == "" {
		return "", fmt.Errorf("password file %s is empty: write a password into it, or delete it to have one made", path)
	}
	return password, nil
}

func writePassword(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".password-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(rand.Text() + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
