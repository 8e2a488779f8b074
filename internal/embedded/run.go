package embedded

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"
)

// stopWithin is how long running statements may take to finish once the store is told to stop.
const stopWithin = 10 * time.Second

// Run runs a store until ctx ends, then stops it. It returns nil after an orderly stop.
func Run(ctx context.Context, cfg Config, log *slog.Logger) error {
	begun := time.Now()
	s, err := Start(ctx, cfg, log)
	if err != nil {
		return err
	}
	log.Info("store is ready", slog.String("address", s.Addr()), slog.String("data_dir", s.cfg.DataDir),
		slog.String("password_file", s.cfg.passwordFile()), slog.String("engine", s.Version()), slog.Duration("after", time.Since(begun)))
	var failed error
	select {
	case <-ctx.Done():
	case failed = <-s.served:
		s.served <- http.ErrServerClosed // Close waits for the server's end
	}
	log.Info("store stops", slog.Duration("within", stopWithin))
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopWithin)
	defer cancel()
	return errors.Join(failed, s.Close(stop))
}
