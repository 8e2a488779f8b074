package embeddedtest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/faultline-io/faultline/internal/embedded"
)

// childEnv holds the configuration of the store that this process is to be; ephemeralEnv the folder to remove at its end.
const (
	childEnv     = "FAULTLINE_EMBEDDEDTEST_STORE"
	ephemeralEnv = "FAULTLINE_EMBEDDEDTEST_EPHEMERAL"
)

// readyFile is the file descriptor on which the child writes its DSN.
const readyFile = 3

// init turns the re-run test binary into a store before any test of it starts: the importing package needs no TestMain.
func init() {
	config, ok := os.LookupEnv(childEnv)
	if !ok {
		return
	}
	if err := child(config, os.Getenv(ephemeralEnv)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func child(config, ephemeral string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	cfg := embedded.DefaultConfig()
	if err := yaml.Unmarshal([]byte(config), &cfg); err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the parent, however that ends
		for tries := 0; ephemeral != "" && os.RemoveAll(ephemeral) != nil && tries < 20; tries++ {
			time.Sleep(10 * time.Millisecond) // the engine is still writing there
		}
		os.Exit(0)
	}()
	s, err := embedded.Start(ctx, cfg, slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if err != nil {
		return err
	}
	ready := os.NewFile(readyFile, "ready")
	if _, err := fmt.Fprintln(ready, s.DSN()); err != nil {
		return fmt.Errorf("report the DSN: %w", err)
	}
	if err := ready.Close(); err != nil {
		return fmt.Errorf("report the DSN: %w", err)
	}
	<-ctx.Done()
	closing, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return s.Close(closing)
}
