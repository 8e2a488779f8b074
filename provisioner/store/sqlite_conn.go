package store

import (
	"context"
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite"
)

// maxStatements is the number of statements that a connection keeps compiled: more than there are.
const maxStatements = 256

// connector opens SQLite connections that keep the statements which they have compiled: compiling one takes
// longer than most of ours run. PostgreSQL's driver does so by itself.
type connector struct{ name string }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	inner, err := c.Driver().Open(c.name)
	if err != nil {
		return nil, err
	}
	full, ok := inner.(fullConn)
	if !ok {
		return nil, errors.Join(errors.New("the driver's connection lacks methods"), inner.Close())
	}
	return &cachingConn{fullConn: full, statements: map[string]*cachedStatement{}}, nil
}

func (connector) Driver() driver.Driver { return &sqlite.Driver{} }

// fullConn is what the driver's connections can do.
type fullConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// cachingConn is used by one goroutine at a time, as all driver connections are.
type cachingConn struct {
	fullConn
	statements map[string]*cachedStatement
}

type fullStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// cachedStatement is compiled. While somebody reads its rows it cannot be run again.
type cachedStatement struct {
	fullStatement
	busy bool
}

// statement is nil where the query is to be run as it is.
func (c *cachingConn) statement(ctx context.Context, query string) (*cachedStatement, error) {
	s, ok := c.statements[query]
	switch {
	case ok && s.busy, !ok && len(c.statements) >= maxStatements:
		return nil, nil
	case ok:
		return s, nil
	}
	p, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	full, ok := p.(fullStatement)
	if !ok {
		return nil, p.Close()
	}
	s = &cachedStatement{fullStatement: full}
	c.statements[query] = s
	return s, nil
}

func (c *cachingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.fullConn.ExecContext(ctx, query, args)
	}
	return s.ExecContext(ctx, args)
}

func (c *cachingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	if s == nil {
		return c.fullConn.QueryContext(ctx, query, args)
	}
	rows, err := s.QueryContext(ctx, args)
	if err != nil {
		return nil, err
	}
	s.busy = true
	return &keptRows{rows, s}, nil
}

// keptRows gives its statement back when it is closed.
type keptRows struct {
	driver.Rows
	of *cachedStatement
}

func (r *keptRows) Close() error {
	r.of.busy = false
	return r.Rows.Close()
}

func (c *cachingConn) Close() error {
	var all []error
	for _, s := range c.statements {
		all = append(all, s.Close())
	}
	return errors.Join(append(all, c.fullConn.Close())...)
}
