package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/internal/service"
	"github.com/faultline-io/faultline/lab/product"
	"github.com/faultline-io/faultline/provisioner"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"faultline-lab": func() { os.Exit(run()) },
		"provisioner":   func() { exit(runProvisioner(os.Args[1])) },
		"await":         func() { exit(await(os.Args[1])) },
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: filepath.Join("testdata", "script"), Setup: freeAddresses})
}

// freeAddresses gives a script free ports of its own, as $CONTROL, $NODE and $OPS.
func freeAddresses(e *testscript.Env) error {
	free, err := product.FreeAddresses(context.Background(), 3)
	if err != nil {
		return err
	}
	for i, name := range []string{"CONTROL", "NODE", "OPS"} {
		e.Setenv(name, free[i])
	}
	return nil
}

// runProvisioner is faultline-provisioner for scripts: provisioner FILE.
func runProvisioner(file string) error {
	c, err := config.Load(file, provisioner.DefaultConfig())
	if err != nil {
		return err
	}
	ctx, stop := service.SignalContext(context.Background())
	defer stop()
	return provisioner.Run(ctx, c, slog.New(slog.NewTextHandler(os.Stderr, nil)))
}

// await waits until a URL answers, for scripts: await URL.
func await(url string) error {
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get(url) //nolint:gosec // a script's own
		if err == nil {
			if _ = answer.Body.Close(); answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s never answered: %w", url, err)
		}
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
