package clickhouseexporter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"go.uber.org/zap"
)

// linkColumns are the columns of `links` that are written, in this order.
var linkColumns = []string{
	"subject_kind", "subject_id", "object_kind", "object_id", "type", "valid_from", "valid_to",
	"service", "ref", "observed_time", "ingested_time",
}

// insertEvents stores the batch, in halves of halves where the store objects to its content: one row
// that it cannot take costs that row alone, which is logged and counted.
func (s *store) insertEvents(ctx context.Context, b *batch, ingested time.Time) error {
	err := s.insertRows(ctx, b, 0, b.rows(), ingested)
	if !obscure(err) {
		return err
	}
	name := b.token(0, b.rows())
	if !s.suspects.again(name, s.stored.Load()) {
		return err
	}
	return s.search(ctx, b, s.suspects.since(name), ingested, err)
}

func (s *store) insertRows(ctx context.Context, b *batch, from, to int, ingested time.Time) error {
	err := s.insertOnce(ctx, b, from, to, ingested)
	switch {
	case err == nil:
		return nil
	case !splits(err):
		return err
	case to-from > 1:
		middle := from + (to-from)/2
		return errors.Join(s.insertRows(ctx, b, from, middle, ingested), s.insertRows(ctx, b, middle, to, ingested))
	case isContent(err):
		s.drop(ctx, b, from, err)
		return nil
	}
	return err
}

func (s *store) drop(ctx context.Context, b *batch, row int, err error) {
	s.metrics.dropped.Add(ctx, 1)
	s.log.Error("the store cannot take a record, it is dropped",
		zap.String("key", b.key[row]), zap.String("service", b.service[row]), zap.Error(err))
}

// insertOnce stores rows [from, to) or none of them.
func (s *store) insertOnce(ctx context.Context, b *batch, from, to int, ingested time.Time) error {
	types, err := s.ready()
	if err != nil {
		return err
	}
	settings := clickhouse.Settings{
		"insert_deduplication_token": b.token(from, to),
		// The tables behind the views drop what they have too, so that a batch which reached only
		// some of them is completed by its retry and not doubled.
		"deduplicate_blocks_in_dependent_materialized_views": 1,
		"async_insert": 0,
	}
	begun := time.Now()
	err = s.insert(ctx, "events", eventColumns, types.events, settings, b.columns(from, to, ingested))
	s.metrics.inserted(ctx, "events", time.Since(begun), err)
	if err == nil {
		s.metrics.rows.Add(ctx, int64(to-from))
		s.stored.Add(1)
	}
	return err
}

func (s *store) insertLinks(ctx context.Context, facts []statedFact, ingested time.Time) error {
	types, err := s.ready()
	if err != nil {
		return err
	}
	n := len(facts)
	var text [7][]string
	for i := range text {
		text[i] = make([]string, 0, n)
	}
	from, to := make([]int64, 0, n), make([]int64, 0, n)
	observed, now := make([]time.Time, 0, n), make([]time.Time, 0, n)
	for _, f := range facts {
		for i, v := range [...]string{
			f.fact.Subject.Kind.String(), f.fact.Subject.ID, f.fact.Object.Kind.String(), f.fact.Object.ID,
			f.fact.Type.String(), f.service, f.ref,
		} {
			text[i] = append(text[i], v)
		}
		from, to = append(from, f.fact.From), append(to, f.fact.To)
		observed, now = append(observed, time.Unix(0, f.observed)), append(now, ingested)
	}
	begun := time.Now()
	err = s.insert(ctx, "links", linkColumns, types.links, clickhouse.Settings{"async_insert": 0},
		[]any{text[0], text[1], text[2], text[3], text[4], from, to, text[5], text[6], observed, now})
	s.metrics.inserted(ctx, "links", time.Since(begun), err)
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
