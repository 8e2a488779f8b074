package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/lab"
	"github.com/faultline-io/faultline/provisioner"
)

// exampleStories are the lab's stories that stand in examples/, one file each.
var exampleStories = []string{"healthy", "cert_expired", "no_backend", "refused", "agent_silent", "cancel"}

func examplesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "examples FOLDER",
		Short: "Play one allocation of each story and write its telemetry, one file a story",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, name := range exampleStories {
				path := filepath.Join(args[0], strings.ReplaceAll(name, "_", "-")+".jsonl")
				if err := playExample(cmd.Context(), name, path); err != nil {
					return fmt.Errorf("play %s: %w", name, err)
				}
				_, _ = fmt.Fprintln(cmd.OutOrStdout(), path)
			}
			return nil
		},
	}
}

// playExample runs provisioner and lab in this process, without a Collector: what they say goes to files.
func playExample(ctx context.Context, name, path string) error {
	dir, err := os.MkdirTemp("", "faultline-example-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	c := lab.DefaultConfig()
	c.Data, c.Export, c.Stories, c.Count, c.Nodes = dir, filepath.Join(dir, "lab"), []string{name}, 1, 1
	c.Telemetry.Endpoint, c.ProvisionerFaults = "", ""
	p := lab.ProvisionerConfig(c)
	p.Telemetry.Endpoint, p.Telemetry.File = "", filepath.Join(dir, "provisioner")
	log := slog.New(slog.DiscardHandler)

	ctx, stop := context.WithTimeout(ctx, 2*time.Minute)
	defer stop()
	work, ctx := errgroup.WithContext(ctx)
	ctx, finish := context.WithCancel(ctx)
	work.Go(func() error { return provisioner.Run(ctx, p, log) })
	work.Go(func() error {
		defer finish()
		return lab.Run(ctx, c, log)
	})
	if err := work.Wait(); err != nil {
		return err
	}
	return concatenate(path, c.Export, p.Telemetry.File)
}

func concatenate(to string, from ...string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() {
		if e := out.Close(); err == nil {
			err = e
		}
	}()
	for _, path := range from {
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, in)
		_ = in.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
