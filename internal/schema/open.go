package schema

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/cenkalti/backoff/v5"
)

// Variable is the environment variable from which every process takes the address of the store.
const Variable = "FAULTLINE_CLICKHOUSE_DSN"

// defaultDatabase is used where the DSN names none: ClickHouse's own "default" is no home for tables
// (the embedded engine's is an overlay that cannot hold any).
const defaultDatabase = "faultline"

// patience is how long Open waits for a store that does not answer.
const patience = time.Minute

const unknownDatabase = 81 // ClickHouse's error code

// Options reads a DSN such as http://user:secret@host:8123/faultline or clickhouse://host:9000/faultline
// and adds what every connection of ours has: bounded pool, timeouts, LZ4 on the wire. What the DSN
// states itself is left alone. The error names Variable and never shows a password.
func Options(dsn string) (*clickhouse.Options, error) {
	if dsn == "" {
		return nil, fmt.Errorf("%s is not set; it looks like http://127.0.0.1:8123/%s", Variable, defaultDatabase)
	}
	if scheme, _, ok := strings.Cut(dsn, "://"); !ok || (scheme != "http" && scheme != "https" && scheme != "clickhouse" && scheme != "tcp") {
		return nil, fmt.Errorf("%s: begins with none of http://, https://, clickhouse://, tcp://", Variable)
	}
	o, err := clickhouse.ParseDSN(dsn)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Variable, err)
	}
	if o.Auth.Database == "" {
		o.Auth.Database = defaultDatabase
	}
	if o.DialTimeout == 0 {
		o.DialTimeout = 5 * time.Second
	}
	if o.ReadTimeout == 0 {
		o.ReadTimeout = time.Minute
	}
	if o.MaxOpenConns == 0 {
		o.MaxOpenConns = 16
	}
	if o.MaxIdleConns == 0 {
		o.MaxIdleConns = 4
	}
	if o.ConnMaxLifetime == 0 {
		o.ConnMaxLifetime = 10 * time.Minute // lets a load balancer move us
	}
	if o.Compression == nil {
		o.Compression = &clickhouse.Compression{Method: clickhouse.CompressionLZ4}
	}
	return o, nil
}

// Dial prepares a pool without speaking to the store: it fails only where the DSN is wrong.
func Dial(dsn string) (driver.Conn, error) {
	o, err := Options(dsn)
	if err != nil {
		return nil, err
	}
	conn, err := clickhouse.Open(o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Variable, err)
	}
	return conn, nil
}

// Open gives a pool to a store that answers, whose database exists. It waits up to a minute, or until
// ctx ends, for one that is still starting; the error says what the last attempt met.
func Open(ctx context.Context, dsn string) (driver.Conn, error) {
	conn, err := Dial(dsn)
	if err != nil {
		return nil, err
	}
	var last error // what the store said, where the wait ends with no more than "deadline exceeded"
	_, err = backoff.Retry(ctx, func() (struct{}, error) {
		err := Ensure(ctx, conn, dsn)
		if ctx.Err() == nil {
			last = err
		}
		return struct{}{}, err
	},
		backoff.WithMaxElapsedTime(patience), backoff.WithBackOff(&backoff.ExponentialBackOff{
			InitialInterval: 100 * time.Millisecond, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: 5 * time.Second,
		}))
	if err != nil {
		if last != nil && !errors.Is(err, last) {
			err = fmt.Errorf("%w; before that: %w", err, last)
		}
		o, _ := Options(dsn) // Dial has read it
		return nil, errors.Join(fmt.Errorf("store at %s does not answer: %w", strings.Join(o.Addr, ", "), err), conn.Close())
	}
	return conn, nil
}

// Ensure asks the store once, and creates the DSN's database where that is all that is missing.
func Ensure(ctx context.Context, conn driver.Conn, dsn string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	err := conn.Ping(ctx)
	if !IsCode(err, unknownDatabase) {
		return err
	}
	o, err := Options(dsn)
	if err != nil {
		return err
	}
	name := o.Auth.Database
	o.Auth.Database = "default"
	o.MaxOpenConns, o.MaxIdleConns = 1, 1
	outside, err := clickhouse.Open(o)
	if err != nil {
		return fmt.Errorf("open default database: %w", err)
	}
	defer func() { _ = outside.Close() }()
	if err := outside.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+quote(name)); err != nil {
		return fmt.Errorf("create database %s: %w", name, err)
	}
	return conn.Ping(ctx)
}

// quote writes an identifier; DDL takes no parameters for those.
func quote(name string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(name) + "`"
}
