package clickhouseexporter

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
)

// linkColumns are the columns of `links` that are written, in this order.
var linkColumns = []string{
	"subject_kind", "subject_id", "object_kind", "object_id", "type", "valid_from", "valid_to",
	"service", "ref", "observed_time", "ingested_time",
}

// facts is a batch's share for `links`.
type facts struct {
	stated   []statedFact
	store    *store
	ingested time.Time
}

var _ share = facts{}

func (f facts) table() string   { return "links" }
func (f facts) names() []string { return linkColumns }
func (f facts) rows() int       { return len(f.stated) }

func (f facts) token(from, to int) string {
	h := sha256.New()
	for _, one := range f.stated[from:to] {
		_, _ = fmt.Fprintf(h, "%v %q %d\n", one.fact, one.service, one.observed)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// settings have no token: of a fact told twice one row stays in any case.
func (f facts) settings(int, int) clickhouse.Settings { return clickhouse.Settings{"async_insert": 0} }

func (f facts) columns(from, to int) []any {
	n := to - from
	var text [7][]string
	for i := range text {
		text[i] = make([]string, 0, n)
	}
	begin, end := make([]int64, 0, n), make([]int64, 0, n)
	observed, now := make([]time.Time, 0, n), make([]time.Time, 0, n)
	for _, one := range f.stated[from:to] {
		for i, v := range [...]string{
			one.fact.Subject.Kind.String(), one.fact.Subject.ID, one.fact.Object.Kind.String(), one.fact.Object.ID,
			one.fact.Type.String(), one.service, one.ref,
		} {
			text[i] = append(text[i], v)
		}
		begin, end = append(begin, one.fact.From), append(end, one.fact.To)
		observed, now = append(observed, time.Unix(0, one.observed)), append(now, f.ingested)
	}
	return []any{text[0], text[1], text[2], text[3], text[4], begin, end, text[5], text[6], observed, now}
}

func (f facts) stored(ctx context.Context, rows int) { f.store.metrics.links.Add(ctx, int64(rows)) }

// dropped tells of a fact that is lost while its record is kept; other facts may lead to that all the same.
func (f facts) dropped(ctx context.Context, row int, err error) {
	f.store.metrics.refused.Add(ctx, 1, metric.WithAttributes(attribute.String("reason", "store")))
	one := f.stated[row]
	f.store.log.Error("the store cannot take a fact, it is dropped",
		zap.Stringer("subject_kind", one.fact.Subject.Kind), zap.String("subject_id", one.fact.Subject.ID),
		zap.Stringer("object_kind", one.fact.Object.Kind), zap.String("object_id", one.fact.Object.ID),
		zap.Stringer("type", one.fact.Type), zap.String("service", one.service), zap.Error(err))
}
