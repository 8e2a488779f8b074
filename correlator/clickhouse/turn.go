package clickhouse

import (
	"context"
	"sync"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// spareConnections are left to those who write: readers never hold all.
const spareConnections = 2

// turns are the connections that statements wait for: as long as whoever asks does. The driver's own pool gives up after the time that a
// connection may take to be opened, which says nothing of how busy the store is.
type turns chan struct{}

func newTurns(connections int) turns { return make(turns, max(1, connections-spareConnections)) }

// take waits for a turn, until ctx ends.
func (t turns) take(ctx context.Context) (release func(), err error) {
	select {
	case t <- struct{}{}:
		return sync.OnceFunc(func() { <-t }), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// turnRows are rows that hold a turn until they are read or closed: whoever has read all may ask again before closing.
type turnRows struct {
	driver.Rows
	release func()
}

// Next implements driver.Rows.
func (r turnRows) Next() bool {
	if r.Rows.Next() {
		return true
	}
	r.release()
	return false
}

// Close implements driver.Rows.
func (r turnRows) Close() error {
	defer r.release()
	return r.Rows.Close()
}
