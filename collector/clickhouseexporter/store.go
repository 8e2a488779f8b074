package clickhouseexporter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/cenkalti/backoff/v5"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.uber.org/zap"

	"github.com/faultline-io/faultline/internal/schema"
)

// errNotReady is what a batch meets before the store has answered and its tables are there; the queue
// keeps the batch.
var errNotReady = errors.New("store is not ready yet")

// store is the connection to ClickHouse and the state of its tables.
type store struct {
	dsn     string
	create  bool
	log     *zap.Logger
	metrics *metrics

	poison map[string]*poisonTracker // by table

	conn   driver.Conn
	types  atomic.Pointer[tableTypes] // nil until the tables are there
	reason atomic.Pointer[string]     // why not yet
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// tableTypes are the types of each table's columns; they spare the driver from asking with every batch.
type tableTypes map[string][]clickhouse.ColumnNameAndType

func (s *store) start(host component.Host) error {
	conn, err := schema.Dial(s.dsn)
	if err != nil {
		return fmt.Errorf("dsn: %w", err)
	}
	s.conn = conn
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel
	s.done.Go(func() { s.prepare(ctx, host) })
	return nil
}

func (s *store) stop() error {
	if s.cancel == nil {
		return nil // never started
	}
	s.cancel()
	s.done.Wait()
	return s.conn.Close()
}

// prepare tries until the store answers and its tables are what this binary writes. Tables that were
// made by another text are no matter of waiting: they end the Collector.
func (s *store) prepare(ctx context.Context, host component.Host) {
	policy := &backoff.ExponentialBackOff{
		InitialInterval: 200 * time.Millisecond, RandomizationFactor: 0.3, Multiplier: 2, MaxInterval: 10 * time.Second,
	}
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := s.attempt(ctx)
		if errors.Is(err, schema.ErrChanged) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(policy), backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, wait time.Duration) {
		text := err.Error()
		if was := s.reason.Swap(&text); was == nil || *was != text { // once, not every ten seconds
			s.log.Warn("store is not ready, data waits in the queue", zap.Error(err), zap.Duration("next_attempt", wait))
			componentstatus.ReportStatus(host, componentstatus.NewRecoverableErrorEvent(err))
		}
	}))
	switch {
	case err == nil:
		s.log.Info("store is ready")
		componentstatus.ReportStatus(host, componentstatus.NewEvent(componentstatus.StatusOK))
	case ctx.Err() == nil:
		componentstatus.ReportStatus(host, componentstatus.NewFatalErrorEvent(fmt.Errorf("prepare the store: %w", err)))
	}
}

func (s *store) attempt(ctx context.Context) error {
	if err := schema.Ensure(ctx, s.conn, s.dsn); err != nil {
		return err
	}
	if s.create {
		if err := schema.Migrate(ctx, s.conn, slog.New(slog.DiscardHandler)); err != nil {
			return err
		}
	} else if todo, err := schema.Plan(ctx, s.conn); err != nil {
		return err
	} else if len(todo) > 0 {
		return fmt.Errorf("%d migrations are missing, from %s on; create_schema is off", len(todo), todo[0].Name)
	}
	events, err := s.describe(ctx, "events", append(slices.Clip(eventColumns), ingestedColumn))
	if err != nil {
		return err
	}
	links, err := s.describe(ctx, "links", append(slices.Clip(linkColumns), ingestedColumn))
	if err != nil {
		return err
	}
	s.types.Store(&tableTypes{"events": events, "links": links})
	return nil
}

// describe reads the types of the columns that are written, in the order in which they are written.
func (s *store) describe(ctx context.Context, table string, columns []string) ([]clickhouse.ColumnNameAndType, error) {
	rows, err := s.conn.Query(ctx, `SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = {table:String}`,
		clickhouse.Named("table", table))
	if err != nil {
		return nil, fmt.Errorf("read columns of %s: %w", table, err)
	}
	defer func() { _ = rows.Close() }()
	types := map[string]string{}
	for rows.Next() {
		var name, typ string
		if err := rows.Scan(&name, &typ); err != nil {
			return nil, fmt.Errorf("read columns of %s: %w", table, err)
		}
		types[name] = typ
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read columns of %s: %w", table, err)
	}
	out := make([]clickhouse.ColumnNameAndType, 0, len(columns))
	for _, c := range columns {
		if types[c] == "" {
			return nil, fmt.Errorf("table %s has no column %s", table, c)
		}
		out = append(out, clickhouse.ColumnNameAndType{Name: c, Type: plainType(types[c])})
	}
	return out, nil
}

// plainType is the type in which values of a column are sent: the store makes dictionaries of text in a
// fraction of the time that the driver takes.
func plainType(column string) string {
	return strings.ReplaceAll(column, "LowCardinality(String)", "String")
}

// ready gives the tables' types, or says why there is nothing to write to yet.
func (s *store) ready() (tableTypes, error) {
	if t := s.types.Load(); t != nil {
		return *t, nil
	}
	if reason := s.reason.Load(); reason != nil {
		return nil, fmt.Errorf("%w: %s", errNotReady, *reason)
	}
	return nil, errNotReady
}
