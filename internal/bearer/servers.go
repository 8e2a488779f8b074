package bearer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/embedded/filelock"
)

// patience is how long another process may hold the list.
const patience = 2 * time.Second

// serversFile lists, for the user of this machine, the servers that run and the files with their tokens.
func serversFile() (string, error) {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "faultline", "servers.yaml"), nil
}

// readServers gives token files by the URL of their server. None is no error.
func readServers() (map[string]string, error) {
	path, err := serversFile()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	all := map[string]string{}
	if err == nil {
		err = yaml.Unmarshal(text, &all)
	}
	return all, err
}

// normal is a server's URL as it stands in the list: this machine has one name there.
func normal(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	host := strings.ToLower(u.Host)
	if name, port, err := net.SplitHostPort(host); err == nil && name == "localhost" {
		host = net.JoinHostPort("127.0.0.1", port)
	}
	return strings.ToLower(u.Scheme) + "://" + host
}

// Leave tells commands on this machine where a server's token lies, until forget is called.
func Leave(ctx context.Context, server, tokenFile string) (forget func() error, err error) {
	server = normal(server)
	if err := change(ctx, func(all map[string]string) { all[server] = tokenFile }); err != nil {
		return nil, fmt.Errorf("leave the token for commands on this machine: %w", err)
	}
	return func() error {
		return change(context.WithoutCancel(ctx), func(all map[string]string) {
			if all[server] == tokenFile { // nobody else's by now
				delete(all, server)
			}
		})
	}, nil
}

// change writes the list anew, without those whose token is gone. A reader finds the old list or the new one.
func change(ctx context.Context, edit func(map[string]string)) error {
	path, err := serversFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lock, err := filelock.Wait(ctx, path+".lock", func(error) {})
	if err != nil {
		return err
	}
	defer func() { _ = lock.Release() }()
	all, err := readServers()
	if err != nil { // nothing of it can be kept
		all = map[string]string{}
	}
	for server, file := range all {
		if _, err := os.Stat(file); err != nil {
			delete(all, server)
		}
	}
	edit(all)
	text, err := yaml.Marshal(all)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".servers-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
