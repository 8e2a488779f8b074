package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/access"
	"github.com/faultline-io/faultline/internal/config"
)

// upTokenName stands in the audit log for whoever has the token that was made at set-up.
const upTokenName = "up"

// tokenFile holds the token of whoever runs this, tokensFile what the correlator knows of it and of others.
func (c upConfig) tokenFile() string  { return filepath.Join(c.DataDir, "access", "token") }
func (c upConfig) tokensFile() string { return filepath.Join(c.DataDir, "access", "tokens.yaml") }

// server is the correlator's URL for commands on this machine.
func (c upConfig) server() string {
	host, port, err := net.SplitHostPort(c.Correlator)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return "http://" + net.JoinHostPort("127.0.0.1", port)
	}
	return "http://" + c.Correlator
}

// setUpAccess makes the token where there is none, and has the correlator's list let it in. Other lines of the list stay.
func (c upConfig) setUpAccess() error {
	if err := os.MkdirAll(filepath.Dir(c.tokenFile()), 0o700); err != nil {
		return fmt.Errorf("make access folder: %w", err)
	}
	list := struct {
		Tokens []access.Token `yaml:"tokens"`
	}{}
	text, err := os.ReadFile(c.tokensFile())
	if err == nil {
		list, err = config.Parse(c.tokensFile(), text, list)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read who may ask: %w", err)
	}
	secret, own, err := c.token()
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list.Tokens, func(t access.Token) bool { return t.SHA256 == own.SHA256 }) {
		return private(c.tokensFile())
	}
	list.Tokens = append(slices.DeleteFunc(list.Tokens, func(t access.Token) bool { return t.Name == upTokenName }), own)
	if text, err = yaml.Marshal(list); err != nil {
		return err
	}
	if err := writePrivate(c.tokensFile(), text); err != nil {
		return err
	}
	return writePrivate(c.tokenFile(), []byte(secret+"\n"))
}

// token reads the token of this data folder, or makes one.
func (c upConfig) token() (secret string, t access.Token, err error) {
	text, err := os.ReadFile(c.tokenFile())
	if errors.Is(err, fs.ErrNotExist) {
		secret, t = access.NewToken(upTokenName, access.Admin, time.Time{})
		return secret, t, nil
	}
	if err == nil {
		err = private(c.tokenFile())
	}
	if err != nil {
		return "", t, err
	}
	if secret = strings.TrimSpace(string(text)); secret == "" {
		return "", t, fmt.Errorf("%s is empty: delete it to have a token made", c.tokenFile())
	}
	return secret, access.Token{Name: upTokenName, Role: access.Admin, SHA256: access.Digest(secret)}, nil
}

// private refuses a file that others may read.
func private(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if m := info.Mode().Perm(); m&0o077 != 0 {
		return fmt.Errorf("%s has mode %04o: others may read it; chmod 600 it", path, m)
	}
	return nil
}

// writePrivate replaces a file by one that its owner alone may read, whole.
func writePrivate(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(f.Name(), path)
}
