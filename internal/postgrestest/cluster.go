// Package postgrestest runs a PostgreSQL server of its own for tests and benchmarks: in a temporary
// directory, on a Unix socket, for as long as the process that asked for it lives.
package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"sort"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Cluster is one running server.
type Cluster struct {
	dir    string
	keeper *exec.Cmd
	alive  io.Closer // the keeper reads it; when it ends, so does the server
	number atomic.Int64
}

// Settings are lines of postgresql.conf.
type Settings map[string]string

// Hasty settings do not survive a power cut, which a test does not see.
func Hasty() Settings {
	return Settings{"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
}

// keep runs the server until standard input ends, however the process at its other end does, then removes
// its directory.
const keep = `"$1" -D "$2/data" -k "$2" -c listen_addresses= >"$2/log" 2>&1 & server=$!
cat >/dev/null; kill -INT $server; wait $server; rm -rf "$2"`

// ErrAbsent is the error of a machine without a PostgreSQL server.
var ErrAbsent = errors.New("no PostgreSQL server is installed (Debian: postgresql)")

// Binaries is the directory of initdb and postgres: of $PATH, else Debian's newest.
func Binaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", ErrAbsent
	}
	sort.Slice(found, func(i, j int) bool { return version(found[i]) > version(found[j]) })
	return filepath.Dir(found[0]), nil
}

func version(path string) float64 {
	n, _ := strconv.ParseFloat(filepath.Base(filepath.Dir(filepath.Dir(path))), 64)
	return n
}

// Start makes a cluster and its server. As root it runs as user postgres, else nobody: a server refuses
// to be root's.
func Start(ctx context.Context, s Settings) (c *Cluster, err error) {
	bin, err := Binaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "pg-")
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(dir)
		}
	}()
	as, err := owner()
	if err != nil {
		return nil, err
	}
	if as != nil {
		if err := os.Chown(dir, int(as.Uid), int(as.Gid)); err != nil {
			return nil, err
		}
	}
	attributes := &syscall.SysProcAttr{Credential: as, Setpgid: true}
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", filepath.Join(dir, "data"), "-U", "faultline", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	initdb.SysProcAttr, initdb.Dir = attributes, dir
	if text, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, text)
	}
	if err := configure(filepath.Join(dir, "data", "postgresql.conf"), s); err != nil {
		return nil, err
	}
	keeper := exec.Command("sh", "-c", keep, "keep", filepath.Join(bin, "postgres"), dir) //nolint:noctx // it outlives the start
	keeper.SysProcAttr, keeper.Dir = attributes, dir
	alive, err := keeper.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := keeper.Start(); err != nil {
		return nil, err
	}
	c = &Cluster{dir: dir, keeper: keeper, alive: alive}
	if err := c.await(ctx); err != nil {
		text, _ := os.ReadFile(filepath.Join(dir, "log"))
		return nil, errors.Join(fmt.Errorf("%w: %s", err, text), c.Close())
	}
	return c, nil
}

func owner() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, _ := strconv.ParseUint(u.Uid, 10, 32)
			gid, _ := strconv.ParseUint(u.Gid, 10, 32)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("neither user postgres nor nobody exists")
}

func configure(path string, s Settings) (err error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	for key, value := range s {
		if _, err := fmt.Fprintf(f, "%s = '%s'\n", key, value); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		err := c.do(ctx, `SELECT 1`)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (c *Cluster) do(ctx context.Context, statement string) error {
	conn, err := pgx.Connect(ctx, c.dsn("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

func (c *Cluster) dsn(database string) string {
	return "postgres://faultline@/" + database + "?" + url.Values{"host": {c.dir}}.Encode()
}

// Create makes an empty database and gives its DSN.
func (c *Cluster) Create(ctx context.Context) (dsn string, err error) {
	name := fmt.Sprintf("d%d", c.number.Add(1))
	if err := c.do(ctx, "CREATE DATABASE "+name); err != nil {
		return "", fmt.Errorf("create database: %w", err)
	}
	return c.dsn(name), nil
}

// Close stops the server and removes its files.
func (c *Cluster) Close() error {
	_ = c.alive.Close()
	return c.keeper.Wait()
}
