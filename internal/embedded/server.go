package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/faultline-io/faultline/internal/embedded/chdb"
	"github.com/faultline-io/faultline/internal/embedded/chhttp"
	"github.com/faultline-io/faultline/internal/embedded/engine"
	"github.com/faultline-io/faultline/internal/embedded/filelock"
)

const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 5 * time.Minute
	maxHeader     = 1 << 20 // statements come in the URL too
)

// started says that this process has had its engine: the library allows one, and none after its shutdown.
var started atomic.Bool

// Server is a running store.
type Server struct {
	cfg      Config
	log      *slog.Logger
	password string
	lock     *filelock.Lock
	library  *chdb.Library
	face     *chhttp.Server
	listener net.Listener
	http     *http.Server
	metrics  *metrics
	served   chan error

	stopping  atomic.Bool
	closeOnce sync.Once
	closeErr  error
}

// Start starts a store and returns when it answers. Close it. A second Start in one process is refused.
func Start(ctx context.Context, cfg Config, log *slog.Logger) (_ *Server, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.DataDir, err = filepath.Abs(cfg.DataDir); err != nil {
		return nil, fmt.Errorf("data_dir: %w", err)
	}
	if err := os.MkdirAll(cfg.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("data_dir: %w", err)
	}
	s := &Server{cfg: cfg, log: log, served: make(chan error, 1), metrics: newMetrics()}
	defer func() {
		if err != nil {
			s.abandon()
		}
	}()
	if s.lock, err = filelock.Try(filepath.Join(cfg.DataDir, "lock")); err != nil {
		return nil, fmt.Errorf("data_dir %s is in use: %w; stop the store that has it, or name another folder", cfg.DataDir, err)
	}
	if s.password, err = EnsurePassword(cfg.passwordFile()); err != nil {
		return nil, err
	}
	cache, err := engine.CacheDir(cfg.CacheDir)
	if err != nil {
		return nil, err
	}
	path, err := engine.Find(cache)
	if err != nil {
		if path, err = engine.Install(ctx, cache, os.Stderr); err != nil {
			return nil, err
		}
	}
	// The address comes before the engine: a port that is taken shows at once.
	if s.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Listen); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if a, ok := s.listener.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		return nil, fmt.Errorf("listen: %s is not a loopback address", s.listener.Addr())
	}
	if err := s.startEngine(path); err != nil {
		return nil, err
	}
	handler := s.routes()
	if cfg.Wrap != nil {
		handler = cfg.Wrap(handler)
	}
	s.http = &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	go func() { s.served <- s.http.Serve(s.listener) }()
	return s, nil
}

// startEngine loads the library, opens its data and checks its limits.
func (s *Server) startEngine(path string) error {
	if !started.CompareAndSwap(false, true) {
		return errors.New("start the engine: this process has had one already, and the library allows no second")
	}
	config, err := s.cfg.writeServerConfig()
	if err != nil {
		return err
	}
	if s.library, err = chdb.Load(path); err != nil {
		return err
	}
	server := []string{"--path=" + filepath.Join(s.cfg.DataDir, "clickhouse"), "--config-file=" + config}
	open := func(args ...string) (*chdb.Conn, error) { return s.library.Connect(append(server[:2:2], args...)...) }
	first, err := open()
	if err != nil {
		return fmt.Errorf("open %s: %w", s.cfg.DataDir, err)
	}
	defer first.Close()
	if err := s.cfg.checkLimits(first); err != nil {
		return err
	}
	if err := first.Exec("CREATE DATABASE IF NOT EXISTS " + Database + " ENGINE = Atomic"); err != nil {
		return fmt.Errorf("create database %s: %w", Database, err)
	}
	s.face, err = chhttp.New(chhttp.Options{
		Open: open, User: User, Password: s.password, Database: Database,
		Sessions: s.cfg.Connections, Wait: s.cfg.Wait, Stall: s.cfg.Stall,
		MaxStatement: int64(s.cfg.MaxStatement), MaxBody: int64(s.cfg.MaxInsert),
		Observe: s.metrics.observe, Log: s.log,
	})
	if err != nil {
		return err
	}
	s.metrics.watch(s.face)
	return nil
}

// abandon undoes a start that did not get through.
func (s *Server) abandon() {
	if s.listener != nil {
		_ = s.listener.Close()
	}
	if s.face != nil {
		s.face.Close(context.Background())
	}
	if s.library != nil {
		_ = s.library.Shutdown()
	}
	if s.lock != nil {
		_ = s.lock.Release()
	}
}

// Addr is where it listens.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// DSN is what clickhouse-go opens, password included.
func (s *Server) DSN() string {
	u := url.URL{Scheme: "http", User: url.UserPassword(User, s.password), Host: s.Addr(), Path: "/" + Database}
	return u.String()
}

// Version is the engine's.
func (s *Server) Version() string { return s.face.Version() }

// Close takes no more requests, lets running ones finish until ctx ends, kills the rest, and stops the engine.
func (s *Server) Close(ctx context.Context) error {
	s.closeOnce.Do(func() { s.closeErr = s.close(ctx) })
	return s.closeErr
}

func (s *Server) close(ctx context.Context) error {
	s.stopping.Store(true)
	var errs []error
	done := make(chan error, 1)
	go func() { done <- s.http.Shutdown(ctx) }()
	idle := s.face.Close(ctx) // kills what is left when ctx ends, which lets Shutdown come to its end
	if err := <-done; err != nil {
		errs = append(errs, s.http.Close())
	}
	if err := <-s.served; err != nil && !errors.Is(err, http.ErrServerClosed) {
		errs = append(errs, err)
	}
	if !idle {
		errs = append(errs, errors.New("stop the store: a statement would not end"))
	} else if err := s.library.Shutdown(); err != nil {
		// With every connection closed the data is whole. After a MergeTree table was made, idle threads of the engine's
		// pool stay (26.7): the end of the process takes them.
		s.log.Debug("engine left threads behind", slog.Any("error", err))
	}
	return errors.Join(append(errs, s.lock.Release())...)
}
