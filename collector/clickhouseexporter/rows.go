package clickhouseexporter

import (
	"context"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"go.uber.org/zap"
)

// records is what a batch has for `events`.
type records struct {
	*batch
	store    *store
	ingested time.Time // zero: as the store's clock says
}

var _ insertable = records{}

func (r records) table() string   { return "events" }
func (r records) names() []string { return withIngested(eventColumns, r.ingested) }

func (r records) columns(from, to int) []any {
	out := r.batch.columns(from, to)
	if !r.ingested.IsZero() {
		out = append(out, slices.Repeat([]time.Time{r.ingested}, to-from))
	}
	return out
}

// ingestedColumn is written only by who fills a store with what is past.
const ingestedColumn = "ingested_time"

func withIngested(names []string, ingested time.Time) []string {
	if ingested.IsZero() {
		return names
	}
	return append(slices.Clip(names), ingestedColumn)
}

func (r records) settings(from, to int) clickhouse.Settings {
	return clickhouse.Settings{
		"insert_deduplication_token": r.token(from, to),
		// The tables behind the views drop what they have too, so that a batch which reached only
		// some of them is completed by its retry and not doubled.
		"deduplicate_blocks_in_dependent_materialized_views": 1,
		"async_insert": 0,
	}
}

func (r records) stored(ctx context.Context, rows int) { r.store.metrics.rows.Add(ctx, int64(rows)) }

func (r records) dropped(ctx context.Context, row int, err error) {
	r.store.metrics.dropped.Add(ctx, 1)
	r.store.log.Error("the store cannot take a record, it is dropped",
		zap.String("key", r.key[row]), zap.String("service", r.service[row]), zap.Error(err))
}
