package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// errPoolExhausted is the error of a transaction that found no free connection in time.
var errPoolExhausted = errors.New("timed out waiting for connection from pool")

// begin begins a transaction on a connection for which it waits no longer than Options.PoolWait.
func (s *Store) begin(ctx context.Context, db *sql.DB) (tx *sql.Tx, c *sql.Conn, err error) {
	wait := ctx
	if s.options.PoolWait > 0 {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, s.options.PoolWait)
		defer cancel()
	}
	if c, err = db.Conn(wait); err != nil {
		if wait.Err() != nil && ctx.Err() == nil {
			in := db.Stats()
			err = fmt.Errorf("%w: none within %s, %d of %d in use", errPoolExhausted, s.options.PoolWait, in.InUse, in.MaxOpenConnections)
		}
		return nil, nil, err
	}
	if tx, err = c.BeginTx(ctx, nil); err != nil {
		_ = c.Close()
		return nil, nil, err
	}
	return tx, c, nil
}

// ExhaustPool takes every connection of both pools, so that nobody else gets one until they are released.
func (s *Store) ExhaustPool(ctx context.Context) (release func(), err error) {
	var held []*sql.Conn
	release = func() {
		for _, c := range held {
			_ = c.Close()
		}
	}
	for _, db := range []*sql.DB{s.writer, s.reader} {
		for range db.Stats().MaxOpenConnections {
			c, err := db.Conn(ctx)
			if err != nil {
				release()
				return nil, fmt.Errorf("take connection: %w", err)
			}
			held = append(held, c)
		}
	}
	return release, nil
}
