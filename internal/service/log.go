package service

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// LogConfig is the `log` section of every service's configuration.
type LogConfig struct {
	Level  string `yaml:"level"`  // debug, info, warn or error
	Format string `yaml:"format"` // text or json
}

// DefaultLogConfig logs from info on, as text.
func DefaultLogConfig() LogConfig { return LogConfig{Level: "info", Format: "text"} }

// Validate names the key that is wrong.
func (c LogConfig) Validate() error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		return fmt.Errorf("log.level: %q is none of debug, info, warn, error", c.Level)
	}
	if c.Format != "text" && c.Format != "json" {
		return fmt.Errorf("log.format: %q is neither text nor json", c.Format)
	}
	return nil
}

// NewLogger writes to w as configured, every line with the name of its component.
func (c LogConfig) NewLogger(w io.Writer, component string) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(strings.ToUpper(c.Level)))
	options := &slog.HandlerOptions{Level: level}
	var h slog.Handler = slog.NewTextHandler(w, options)
	if c.Format == "json" {
		h = slog.NewJSONHandler(w, options)
	}
	return slog.New(h).With("component", component)
}

// SignalContext ends at the first SIGINT or SIGTERM; a second one ends the process at once, as an
// operator who presses Ctrl-C twice expects.
func SignalContext(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		cancel() // restores the default action for the next signal
	}()
	return ctx, cancel
}
