package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/faultline-io/faultline/internal/config"
	"github.com/faultline-io/faultline/internal/embedded"
	"github.com/faultline-io/faultline/internal/schema"
)

// errPending says that a dry run found something to do.
var errPending = errors.New("pending")

// storePatience is how long a command waits for a store that does not answer.
const storePatience = 10 * time.Second

// migrateConfig is the configuration of `faultline migrate` and `faultline store retention`.
type migrateConfig struct {
	DSN       string           `yaml:"dsn"`       // else FAULTLINE_CLICKHOUSE_DSN, else the store of `faultline up`
	Cluster   string           `yaml:"cluster"`   // the cluster's name in the servers' configuration; "" is one server
	Retention schema.Retention `yaml:"retention"` // in days, by kind of evidence
}

func defaultMigrateConfig() migrateConfig { return migrateConfig{Retention: schema.DefaultRetention()} }

// Validate names the key that is wrong.
func (c migrateConfig) Validate() error {
	var errs []error
	if err := c.Retention.Validate(); err != nil {
		errs = append(errs, fmt.Errorf("retention: %w", err))
	}
	if c.Cluster != "" {
		if err := schema.ValidCluster(c.Cluster); err != nil {
			errs = append(errs, fmt.Errorf("cluster: %w", err))
		}
	}
	return errors.Join(errs...)
}

// storeFlags are those of every command that speaks to the store itself.
type storeFlags struct{ config, data, cluster string }

func (f *storeFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.config, "config", "", "YAML configuration: dsn, cluster, retention")
	cmd.Flags().StringVar(&f.data, "data", "data", "data folder of faultline up, whose store is used where no address is named")
}

// load gives the configuration, with the store's address, and where that stands.
func (f *storeFlags) load() (c migrateConfig, from string, err error) {
	if c, err = config.Load(f.config, defaultMigrateConfig()); err != nil {
		return c, "", err
	}
	if f.cluster != "" {
		if c.Cluster = f.cluster; schema.ValidCluster(f.cluster) != nil {
			return c, "", fmt.Errorf("--cluster: %w", schema.ValidCluster(f.cluster))
		}
	}
	from = f.config + ": dsn"
	if c.DSN == "" {
		c.DSN, from = os.Getenv(schema.Variable), schema.Variable
	}
	if c.DSN == "" {
		c.DSN, from = f.running(), "`faultline up` in "+f.data
	}
	_, err = schema.Options(c.DSN)
	return c, from, err
}

// running is the address of the store that `faultline up` has made in the data folder; "" where there is none.
func (f *storeFlags) running() string {
	path := filepath.Join(f.data, "store", "password")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	password, err := embedded.EnsurePassword(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("http://%s:%s@%s/%s", embedded.User, password, defaultUpConfig().Store, embedded.Database)
}

// withStore runs do with a store that answers.
func (f *storeFlags) withStore(ctx context.Context, do func(context.Context, *schema.Store, migrateConfig) error) error {
	c, from, err := f.load()
	if err != nil {
		return err
	}
	opening, cancel := context.WithTimeout(ctx, storePatience)
	defer cancel()
	s, err := schema.OpenStore(opening, c.DSN)
	if err != nil {
		return fmt.Errorf("address from %s: %w", from, err)
	}
	return errors.Join(do(ctx, s, c), s.Close())
}

// retain sets the retention where the configuration states one of its own: the migrations have set the defaults.
func (c migrateConfig) retain(ctx context.Context, s *schema.Store, log *slog.Logger, dry bool) ([]string, error) {
	if c.Retention == schema.DefaultRetention() {
		return nil, nil
	}
	return s.Retain(ctx, log, c.Retention, c.Cluster, dry)
}

// showPending prints the SQL that is missing, and gives errPending where there is any.
func showPending(ctx context.Context, s *schema.Store, c migrateConfig, log *slog.Logger, out io.Writer) error {
	todo, err := s.Pending(ctx, c.Cluster)
	if err != nil {
		return err
	}
	for _, m := range todo {
		_, _ = fmt.Fprintf(out, "-- %s\n%s;\n\n", m.Name, strings.Join(m.Statements, ";\n"))
	}
	retention, err := c.retain(ctx, s, log, true)
	if err != nil && !errors.Is(err, schema.ErrNoTables) {
		return err
	}
	for _, text := range retention {
		_, _ = fmt.Fprintf(out, "-- retention\n%s;\n\n", text)
	}
	if len(todo)+len(retention) > 0 {
		return errPending
	}
	_, _ = fmt.Fprintln(out, "-- nothing is missing")
	return nil
}

func migrateCommand() *cobra.Command {
	var f storeFlags
	dry := false
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the store's tables up to this version, on one server or on a cluster",
		Long: `Applies what is missing, in order and under a lock: any number may run at once, and one that is killed is
continued by the next. Services do this themselves at their start; it is of use before an upgrade, where they may not
(create_schema: false), and for a cluster (docs/cluster.md). With --config it sets the retention that the file states, too.

Exit status: 0 nothing is missing any more, 4 with --dry-run: something is missing, 1 anything else.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.withStore(cmd.Context(), func(ctx context.Context, s *schema.Store, c migrateConfig) error {
				log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), nil))
				if dry {
					return showPending(ctx, s, c, log, cmd.OutOrStdout())
				}
				if err := s.Migrate(ctx, log, c.Cluster); err != nil {
					return err
				}
				_, err := c.retain(ctx, s, log, false)
				return err
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.cluster, "cluster", "", "name of the cluster; every statement goes to all of its servers")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the SQL that is missing and change nothing")
	return cmd
}
