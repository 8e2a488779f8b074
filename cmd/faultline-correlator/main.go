// Command faultline-correlator answers questions about allocations over REST, and judges them as their
// records arrive.
//
//	store ──▶ correlator/clickhouse ──▶ correlator + rules ──▶ api ──▶ :8680
//	  ▲              └── what arrived ──▶ correlator/live ──┐
//	  └──────────────── verdicts, on change ◀──────────────┘
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/faultline-io/faultline/api"
	"github.com/faultline-io/faultline/api/guard"
	"github.com/faultline-io/faultline/correlator/clickhouse"
	"github.com/faultline-io/faultline/correlator/fleet"
	"github.com/faultline-io/faultline/correlator/live"
	"github.com/faultline-io/faultline/correlator/loki"
	"github.com/faultline-io/faultline/correlator/notify"
	"github.com/faultline-io/faultline/correlator/overview"
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
	Page      string                  `yaml:"page"`    // URL under which people find the page, for links in alerts; http://LISTEN where empty
	Store     string                  `yaml:"store"`   // DSN of ClickHouse; FAULTLINE_CLICKHOUSE_DSN where empty
	Profile   string                  `yaml:"profile"` // built-in profile or file
	Log       service.LogConfig       `yaml:"log"`
	Access    guard.Config            `yaml:"access"`    // who may ask; empty: everybody, on this machine only
	Limits    guard.Limits            `yaml:"limits"`    // how often, and how much at once
	Judging   live.Config             `yaml:"judging"`   // judging as records arrive
	Recovery  api.Recovery            `yaml:"recovery"`  // where recoveries are forwarded to
	Notify    notify.Config           `yaml:"notify"`    // who is told of incidents
	Loki      loki.Config             `yaml:"loki"`      // where raw lines are read from
	Overview  overview.Config         `yaml:"overview"`  // what is kept in memory for lists and streams
	Search    clickhouse.Limits       `yaml:"search"`    // what one search may cost the store; 0 is no limit
	Retention *schema.Retention       `yaml:"retention"` // in days, by kind of evidence; left as it is where it is not stated
	Telemetry service.TelemetryConfig `yaml:"telemetry"` // spans of its own requests; off by default
}

func defaultConfig() Config {
	return Config{
		Listen: "127.0.0.1:8680", Log: service.DefaultLogConfig(), Access: guard.DefaultConfig(), Limits: guard.DefaultLimits(),
		Judging: live.DefaultConfig(), Recovery: api.DefaultRecovery(), Notify: notify.DefaultConfig(), Loki: loki.DefaultConfig(), Overview: overview.DefaultConfig(), Search: clickhouse.DefaultLimits(),
	}
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
	var page error
	if u, err := url.Parse(c.Page); c.Page != "" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		page = fmt.Errorf("page: %q is no URL of http or https", c.Page)
	}
	return errors.Join(page, c.Log.Validate(), c.Access.Validate(), c.Access.Guards("listen", c.Listen), c.Limits.Validate(), c.Judging.Validate(), c.Notify.Validate(), c.Loki.Validate(), c.Overview.Validate(), c.Recovery.Validate(), search, retention, c.Telemetry.Validate())
}

// page is where people find the page.
func (c Config) page() string {
	if c.Page != "" {
		return strings.TrimSuffix(c.Page, "/")
	}
	scheme := "http://"
	if c.Access.TLS.CertFile != "" {
		scheme = "https://"
	}
	return scheme + c.Listen
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
	door, err := guard.New(cfg.Access, cfg.Limits, cfg.Listen, log, nil)
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
	certificates := service.NewCertificates()
	certificates.Add("api", cfg.Access.TLS.NotAfter)
	ops.Registry.MustRegister(certificates)
	cfg.Judging.Replica = cmp.Or(cfg.Judging.Replica, live.Name())
	store := clickhouse.New(conn, p).WithLimits(cfg.Search).WithWords(rules.Words()).WithReplica(cfg.Judging.Replica)
	cfg.Overview.Secret = cfg.Store // all replicas have it, and nobody else: it holds the store's password
	board := overview.New(store, cfg.Overview)
	answers := &query.Service{Store: store, Profile: p, Rules: rules.All(), Overview: board, Supplements: store, Facts: store, Labels: store, Standings: store, Streams: board}
	if cfg.Loki.URL != "" {
		if answers.Lines, err = loki.New(cfg.Loki); err != nil {
			return err
		}
	}
	figures := fleet.New(board, answers, p, rules.All(), cfg.page(), log)
	board.WithWatcher(figures)
	ops.Registry.MustRegister(figures)
	ops.Ready("overview", board.Check)
	server := api.New(answers, p, rules.All(), log, ops.Registry).WithRecovery(cfg.Recovery)
	group, within := errgroup.WithContext(ctx)
	group.Go(func() error { return board.Follow(within, log) })
	group.Go(func() error { return figures.Run(within) })
	if cfg.Notify.Enabled() {
		notifier := notify.New(cfg.Notify, answers, cfg.page(), log, ops.Registry)
		group.Go(func() error { return notifier.Run(within) })
	}
	if cfg.Judging.Enabled {
		judges := live.New(cfg.Judging, live.Sources{
			Reader: store, History: store, Feed: store, Membership: store, Backlog: store, Durations: store, StartTimes: store, Supplements: store, Written: board.Wake,
		}, p, rules.All(), log, ops.Registry)
		ops.Ready("judging", judges.Check)
		group.Go(func() error { return judges.Run(within) })
	}
	group.Go(func() error {
		log.Info("correlator is ready", "listen", cfg.Listen, "profile", p.Name, "judging", cfg.Judging.Enabled, "access", cfg.Access.Enabled())
		return serve(within, cfg, tracing.Wrap(server.Handler(ops.Handler(), door.Install)))
	})
	return errors.Join(group.Wait(), tracing.Close(ctx))
}

// serve answers until ctx ends, over TLS where there is a certificate.
func serve(ctx context.Context, cfg Config, h http.Handler) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cfg.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", cfg.Listen, err)
	}
	secure, err := cfg.Access.TLS.Secure(l)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return service.ServeOn(ctx, secure, h, 10*time.Second)
}
