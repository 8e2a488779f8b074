package clickhouseexporter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// insertable is what a batch has for one table, row by row.
type insertable interface {
	table() string
	names() []string // of the columns that are written, in the order of columns
	rows() int
	// token names the content of rows [from, to).
	token(from, to int) string
	// settings of the insert of rows [from, to).
	settings(from, to int) clickhouse.Settings
	columns(from, to int) []any
	// stored and dropped count; the latter tells of the row too.
	stored(ctx context.Context, rows int)
	dropped(ctx context.Context, row int, err error)
}

// write stores the rows, in halves of halves where the tables object to its content: one row that they
// cannot take costs that row alone, which is logged and counted.
func (s *store) write(ctx context.Context, block insertable) error {
	if block.rows() == 0 {
		return nil
	}
	err := s.insertRows(ctx, block, 0, block.rows())
	if !doubtful(err) {
		return err
	}
	name, known := block.token(0, block.rows()), s.poison[block.table()]
	if !known.again(name) {
		return err
	}
	return s.search(ctx, block, known.since(name), err)
}

func (s *store) insertRows(ctx context.Context, block insertable, from, to int) error {
	err := s.insertOnce(ctx, block, from, to)
	switch {
	case err == nil:
		return nil
	case !splits(err):
		return err
	case to-from > 1:
		middle := from + (to-from)/2
		return errors.Join(s.insertRows(ctx, block, from, middle), s.insertRows(ctx, block, middle, to))
	case isContent(err):
		block.dropped(ctx, from, err)
		return nil
	}
	return err
}

// insertOnce stores rows [from, to) or none of them.
func (s *store) insertOnce(ctx context.Context, block insertable, from, to int) error {
	types, err := s.ready()
	if err != nil {
		return err
	}
	begun, names := time.Now(), block.names()
	err = s.insert(ctx, block.table(), names, types[block.table()][:len(names)], block.settings(from, to), block.columns(from, to))
	s.metrics.inserted(ctx, block.table(), time.Since(begun), err)
	if err == nil {
		s.poison[block.table()].stored.Add(1)
		block.stored(ctx, to-from)
	}
	return err
}

func (s *store) insert(ctx context.Context, table string, names []string, types []clickhouse.ColumnNameAndType, settings clickhouse.Settings, columns []any) error {
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(settings), clickhouse.WithColumnNamesAndTypes(types))
	insert, err := s.conn.PrepareBatch(ctx, "INSERT INTO "+table+" ("+strings.Join(names, ", ")+")")
	if err != nil {
		return fmt.Errorf("prepare insert into %s: %w", table, err)
	}
	for i, values := range columns {
		if err := insert.Column(i).Append(values); err != nil {
			return errors.Join(&contentError{fmt.Errorf("column %s: %w", names[i], err)}, insert.Abort())
		}
	}
	if err := insert.Send(); err != nil {
		return fmt.Errorf("insert into %s: %w", table, err)
	}
	return nil
}
