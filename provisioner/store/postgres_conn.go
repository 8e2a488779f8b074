package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// postgresConnector opens connections that can send the last statement of a transaction together with its
// commit.
type postgresConnector struct{ driver.Connector }

func (c postgresConnector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	full, ok := inner.(*stdlib.Conn)
	if !ok {
		return nil, fmt.Errorf("the driver's connection is a %T", inner)
	}
	return &postgresConn{Conn: full}, nil
}

// postgresConn is used by one goroutine at a time, as all driver connections are.
type postgresConn struct {
	*stdlib.Conn
	last *pgx.QueuedQuery // goes with the commit
}

func (c *postgresConn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.last = nil
	tx, err := c.Conn.BeginTx(ctx, o)
	if err != nil {
		return nil, err
	}
	return postgresTx{tx, ctx, c}, nil
}

// withCommit keeps a statement for the commit of the connection's transaction: one way to the server and
// back for both. Its error is the commit's.
func withCommit(c *sql.Conn, query string, args []any) error {
	return c.Raw(func(inner any) error {
		p, ok := inner.(*postgresConn)
		if !ok {
			return fmt.Errorf("the connection is a %T", inner)
		}
		p.last = &pgx.QueuedQuery{SQL: query, Arguments: args}
		return nil
	})
}

type postgresTx struct {
	driver.Tx
	ctx  context.Context
	conn *postgresConn
}

func (t postgresTx) Commit() error {
	last := t.conn.last
	if last == nil {
		return t.Tx.Commit()
	}
	t.conn.last = nil
	var b pgx.Batch
	b.Queue(last.SQL, last.Arguments...)
	b.Queue("commit")
	sent := t.conn.Conn.Conn().SendBatch(t.ctx, &b)
	_, err := sent.Exec()
	if err == nil {
		tag, wrong := sent.Exec()
		if err = wrong; err == nil && tag.String() != "COMMIT" {
			err = pgx.ErrTxCommitRollback
		}
	}
	if wrong := sent.Close(); err == nil {
		err = wrong
	}
	if err != nil {
		_ = t.Tx.Rollback() // the server may have done so already
	}
	return err
}
