package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/internal/near"
)

// contextVariable names the context to use, where no flag does.
const contextVariable = "FAULTLINE_CONTEXT"

// serverContext is a Faultline somewhere, by name.
type serverContext struct {
	Name        string `yaml:"name"`
	Server      string `yaml:"server"`
	TokenFile   string `yaml:"token_file,omitempty"`
	Provisioner string `yaml:"provisioner,omitempty"`
}

// contextFile is the file of all contexts.
type contextFile struct {
	Current  string          `yaml:"current,omitempty"`
	Contexts []serverContext `yaml:"contexts"`
}

// Validate names the key that is wrong.
func (f contextFile) Validate() error {
	seen := map[string]bool{}
	for i, c := range f.Contexts {
		key := fmt.Sprintf("contexts[%d].", i)
		switch {
		case c.Name == "":
			return errors.New(key + "name: is empty")
		case seen[c.Name]:
			return fmt.Errorf("%sname: %q stands there twice", key, c.Name)
		}
		seen[c.Name] = true
		if err := checkAddress(c.Server); err != nil {
			return fmt.Errorf("%sserver: %w", key, err)
		}
		if c.Provisioner != "" {
			if err := checkAddress(c.Provisioner); err != nil {
				return fmt.Errorf("%sprovisioner: %w", key, err)
			}
		}
	}
	if f.Current != "" && !seen[f.Current] {
		return fmt.Errorf("current: there is no context %q", f.Current)
	}
	return nil
}

// checkAddress wants an address that can be asked, and says what one looks like.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	if err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
		return nil
	}
	return fmt.Errorf("%q is no http URL, such as %s", address, defaultServer)
}

// contextPath is where contexts are kept.
func contextPath() (string, error) {
	folder := os.Getenv("XDG_CONFIG_HOME")
	if folder == "" || !filepath.IsAbs(folder) { // the specification has relative ones ignored
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the contexts: %w; XDG_CONFIG_HOME names their folder", err)
		}
		folder = filepath.Join(home, ".config")
	}
	return filepath.Join(folder, "faultline", "config.yaml"), nil
}

// loadContexts reads the contexts; there are none where there is no file.
func loadContexts() (contextFile, string, error) {
	path, err := contextPath()
	if err != nil {
		return contextFile{}, "", err
	}
	f, err := config.Load(path, contextFile{})
	if errors.Is(err, os.ErrNotExist) {
		return contextFile{}, path, nil
	}
	for i, c := range f.Contexts {
		if c.TokenFile != "" && !filepath.IsAbs(c.TokenFile) {
			f.Contexts[i].TokenFile = filepath.Join(filepath.Dir(path), c.TokenFile)
		}
	}
	return f, path, err
}

// find gives the context of a name.
func (f contextFile) find(name string) (serverContext, error) {
	i := f.index(name)
	if i < 0 {
		return serverContext{}, fmt.Errorf("there is no context %q%s; faultline context list shows them all", name, didYouMean(near.Words(name, f.names(), 3)))
	}
	return f.Contexts[i], nil
}

func (f contextFile) index(name string) int {
	return slices.IndexFunc(f.Contexts, func(c serverContext) bool { return c.Name == name })
}

func (f contextFile) names() []string {
	var out []string
	for _, c := range f.Contexts {
		out = append(out, c.Name)
	}
	return out
}

// changeContexts rewrites the file. What is written is what the file says, its ${env:NAME} unexpanded.
func changeContexts(change func(*contextFile) error) error {
	if _, _, err := loadContexts(); err != nil {
		return err // what cannot be read is not overwritten
	}
	path, err := contextPath()
	if err != nil {
		return err
	}
	var f contextFile
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the contexts: %w", err)
	}
	if err := yaml.Unmarshal(text, &f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := change(&f); err != nil {
		return err
	}
	var b bytes.Buffer
	if err := yaml.NewEncoder(&b).Encode(f); err != nil {
		return fmt.Errorf("write the contexts: %w", err)
	}
	if _, err := config.Parse(path, b.Bytes(), contextFile{}); err != nil {
		return err
	}
	if err := writeWhole(path, b.Bytes()); err != nil {
		return fmt.Errorf("write the contexts: %w", err)
	}
	return nil
}

// writeWhole puts a file in place of another one: whoever reads sees either, never a part. It is for its owner alone, as
// a server's address may hold a password.
func writeWhole(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".config-*") // made with 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
