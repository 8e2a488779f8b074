// Command faultline-correlator answers questions about allocations over REST, and judges them as their
// records arrive.
//
//	store ──▶ correlator/clickhouse ──▶ correlator + rules ──▶ api ──▶ :8680
//	  ▲              └── what arrived ──▶ correlator/live ──┐
//	  └──────────────── verdicts, on change ◀──────────────┘
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/live"
	"github.com/faultline-io/faultline/correlator/query"
	"github.com/faultline-io/faultline/correlator/rules"
	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/internal/profile"
	"github.com/faultline-io/faultline/internal/schema"
	"github.com/faultline-io/faultline/internal/service"
)

// Config of the correlator.
type Config struct {
	Listen    string                  `yaml:"listen"`  // address of the API and of /healthz, /readyz, /metrics
	Store     string                  `yaml:"store"`   // DSN of ClickHouse; FAULTLINE_CLICKHOUSE_DSN where empty
	Profile   string                  `yaml:"profile"` // built-in profile or file
	Log       service.LogConfig       `yaml:"log"`
	Judging   live.Config             `yaml:"judging"`   // judging as records arrive
	Search    clickhouse.Limits       `yaml:"search"`    // what one search may cost the store; 0 is no limit
	Retention *schema.Retention       `yaml:"retention"` // in days, by kind of evidence; left as it is where it is not stated
	Telemetry service.TelemetryConfig `yaml:"telemetry"` // spans of its own requests; off by default
}

func defaultConfig() Config {
	return Config{Listen: "127.0.0.1:8680", Log: service.DefaultLogConfig(), Judging: live.DefaultConfig(), Search: clickhouse.DefaultLimits()}
}

// Validate names the key that is wrong.
func (c Config) Validate() error {
	if c.Listen == "" {
		return errors.New("listen: is empty")
	}
	var search error
	if err := c.Search.Validate(); err != nil {
		search = fmt.Errorf("search.%w", err)
	}
	var retention error
	if c.Retention != nil {
		if err := c.Retention.Validate(); err != nil {
			retention = fmt.Errorf("retention: %w", err)
		}
	}
	return errors.Join(c.Log.Validate(), c.Judging.Validate(), search, retention, c.Telemetry.Validate())
}

func main() {
	path := flag.String("config", "", "YAML configuration; without one the defaults and FAULTLINE_CLICKHOUSE_DSN serve")
	flag.Parse()
	ctx, stop := service.SignalContext(context.Background())
	err := run(ctx, *path)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "faultline-correlator: "+err.Error())
		os.Exit(1)
	}
}

func run(ctx context.Context, path string) error {
	cfg, err := config.Load(path, defaultConfig())
	if err != nil {
		return err
	}
	log := cfg.Log.NewLogger(os.Stderr, "correlator")
	p, err := profile.Load(cfg.Profile)
	if err != nil {
		return err
	}
	if cfg.Store == "" {
		cfg.Store = os.Getenv(schema.Variable)
	}
	conn, err := schema.Open(ctx, cfg.Store)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := schema.Migrate(ctx, conn, log); err != nil {
		return err
	}
	if cfg.Retention != nil {
		if _, err := schema.Retain(ctx, conn, log, *cfg.Retention, false); err != nil {
			return err
		}
	}
	tracing, err := service.StartTracing(ctx, cfg.Telemetry, "correlator")
	if err != nil {
		return err
	}
	ops := service.NewOps()
	ops.Ready("store", conn.Ping)
	store := clickhouse.New(conn, p).WithLimits(cfg.Search).WithWords(rules.Words())
	server := api.New(&query.Service{Store: store, Profile: p, Rules: rules.All()}, p, rules.All(), log, ops.Registry)
	group, within := errgroup.WithContext(ctx)
	if cfg.Judging.Enabled {
		judges := live.New(cfg.Judging, live.Sources{Reader: store, History: store, Feed: store, Membership: store, Backlog: store, Durations: store, StartTimes: store}, p, rules.All(), log, ops.Registry)
		group.Go(func() error { return judges.Run(within) })
	}
	group.Go(func() error {
		log.Info("correlator is ready", "listen", cfg.Listen, "profile", p.Name, "judging", cfg.Judging.Enabled)
		return service.Serve(within, cfg.Listen, tracing.Wrap(server.Handler(ops.Handler())), 10*time.Second)
	})
	return errors.Join(group.Wait(), tracing.Close(ctx))
}
