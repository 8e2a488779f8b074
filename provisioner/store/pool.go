package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
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

// crowd is how many ask for each connection when all are to be taken: database/sql gives a free one to any of those
// that wait, not to the first, so one that asks alone among dozens can wait for very long.
const crowd = 50

// ExhaustPool takes every connection of both pools, so that nobody else gets one until they are released.
func (s *Store) ExhaustPool(ctx context.Context) (release func(), err error) {
	var held [2][]*sql.Conn
	var taking errgroup.Group
	for i, db := range []*sql.DB{s.writer, s.reader} {
		taking.Go(func() (err error) { held[i], err = takeAll(ctx, db); return err })
	}
	err = taking.Wait()
	release = func() {
		for _, c := range slices.Concat(held[0], held[1]) {
			_ = c.Close()
		}
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// takeAll takes every connection of one pool; beside an error is what it took until then.
func takeAll(ctx context.Context, db *sql.DB) (held []*sql.Conn, err error) {
	all := db.Stats().MaxOpenConnections
	asking, enough := context.WithCancel(ctx)
	defer enough()
	var mu sync.Mutex
	var askers sync.WaitGroup
	for range crowd * all {
		askers.Go(func() {
			c, failed := db.Conn(asking)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case failed == nil:
				held = append(held, c)
			case len(held) < all:
				err = failed
			}
			if len(held) == all {
				err = nil
				enough()
			}
		})
	}
	askers.Wait()
	if err != nil {
		err = fmt.Errorf("take every connection to the database, %d of %d taken: %w", len(held), all, err)
	}
	return held, err
}
